"""Recurrent A2C on chunks of a corridor: the state of the GRU goes from one chunk into the next with its graph, and the
second backward runs into the graph of the first.

Round 28
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(284)

N_ENVS, CHUNK, UPDATES, GAMMA = 6, 8, 40, 0.95


class CueCorridors:
    """The cue is shown at the door and asked for four steps later."""

    def __init__(self, n):
        self.n = n
        self.cue = torch.zeros(n, dtype=torch.long)
        self.place = torch.zeros(n, dtype=torch.long)

    def reset(self):
        self.place = torch.randint(0, 4, (self.n,))
        self.cue = torch.randint(0, 2, (self.n,))
        return self.observe()

    def observe(self):
        seen = torch.nn.functional.one_hot(self.cue, 2).float() * (self.place == 0).float()[:, None]
        return torch.cat([seen, (self.place == 4).float()[:, None], torch.ones(self.n, 1)], dim=1)

    def step(self, action):
        asked = self.place == 4
        reward = torch.where(asked, torch.where(action == self.cue, 1.0, -1.0), torch.zeros(self.n))
        self.place = torch.where(asked, torch.zeros_like(self.place), self.place + 1)
        self.cue = torch.where(asked, torch.randint(0, 2, (self.n,)), self.cue)
        return self.observe(), reward, asked.float()


class RecurrentAgent(nn.Module):
    def __init__(self, n_obs=4, n_hidden=24, n_actions=2):
        super().__init__()
        self.n_hidden = n_hidden
        self.cell = nn.GRUCell(n_obs, n_hidden)
        self.pi = nn.Linear(n_hidden, n_actions)
        self.v = nn.Linear(n_hidden, 1)

    def initial_state(self, n):
        return torch.zeros(n, self.n_hidden)

    def forward(self, obs, state):
        state = self.cell(obs, state)
        return Categorical(logits=self.pi(state)), self.v(state).squeeze(-1), state


class Learner:
    def __init__(self):
        self.envs = CueCorridors(N_ENVS)
        self.agent = RecurrentAgent()
        self.optimizer = torch.optim.RMSprop(self.agent.parameters(), lr=2e-3, alpha=0.99)
        self.obs = self.envs.reset()
        self.state = self.agent.initial_state(N_ENVS)

    def collect(self):
        state = self.state  # BUG GS402 GS305
        log_probs, values, entropies, rewards, ends = [], [], [], [], []
        for _ in range(CHUNK):
            dist, value, state = self.agent(self.obs, state)
            action = dist.sample()
            self.obs, reward, end = self.envs.step(action)
            state = state * (1.0 - end)[:, None]
            log_probs.append(dist.log_prob(action))
            values.append(value)
            entropies.append(dist.entropy())
            rewards.append(reward)
            ends.append(end)
        self.state = state  # BUG GS402 GS305
        with torch.no_grad():
            _, bootstrap, _ = self.agent(self.obs, state)
        stacked = [torch.stack(x) for x in (log_probs, values, entropies, rewards, ends)]
        return *stacked, bootstrap

    def update(self):
        log_probs, values, entropies, rewards, ends, running = self.collect()
        returns = torch.zeros_like(rewards)
        for t in reversed(range(CHUNK)):
            running = rewards[t] + GAMMA * (1.0 - ends[t]) * running
            returns[t] = running
        advantages = returns - values.detach()
        actor = -(log_probs * advantages).mean()
        critic = (values - returns).pow(2).mean()
        loss = actor + 0.5 * critic - 0.01 * entropies.mean()
        self.optimizer.zero_grad()
        loss.backward()  # BUG GS402
        nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
        self.optimizer.step()
        return rewards.sum().item() / max(1.0, ends.sum().item())


learner = Learner()
for update in range(UPDATES):
    score = learner.update()
    if update % 10 == 0:
        print(f"update {update}: right minus wrong {score:+.2f}")
