"""Recurrent proximal policy optimisation. The experience has a place for the state of the memory of every
environment, from which the next step and the next segment go on. The state is stored as the network returned it: each
write hangs the graph of another step onto the store, back to the first step of the first rollout.

Round 21
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Categorical

NUM_ENVS, SEGMENT, HIDDEN, EPISODE = 16, 8, 32, 8


class TMaze:
    """A sign at the start says where the reward will be. Eight steps later the walker has to have turned there."""

    def reset(self):
        self.sign = torch.randint(0, 2, (NUM_ENVS,))
        self.clock = 0
        return self.observe()

    def observe(self):
        shown = (2.0 * self.sign - 1.0) * (self.clock == 0)
        clock = torch.full((NUM_ENVS,), self.clock / EPISODE)
        return torch.stack([shown, clock, torch.full((NUM_ENVS,), float(self.clock == EPISODE - 1))], -1)

    def step(self, action):
        last = self.clock == EPISODE - 1
        reward = (action == self.sign).float() if last else torch.zeros(NUM_ENVS)
        self.clock += 1
        return (self.reset() if last else self.observe()), reward, torch.full((NUM_ENVS,), float(last))


class RecurrentPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(3, HIDDEN), nn.Tanh())
        self.cell = nn.LSTMCell(HIDDEN, HIDDEN)
        self.actor, self.critic = nn.Linear(HIDDEN, 2), nn.Linear(HIDDEN, 1)

    def forward(self, obs, state):
        h, c = self.cell(self.encoder(obs), state)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1), (h, c)


class Experience:
    def __init__(self):
        self.obs = torch.zeros(SEGMENT, NUM_ENVS, 3)
        self.actions = torch.zeros(SEGMENT, NUM_ENVS, dtype=torch.long)
        self.logprobs, self.values, self.rewards, self.dones = (
            torch.zeros(SEGMENT, NUM_ENVS) for _ in range(4)
        )
        self.lstm_h, self.lstm_c = torch.zeros(NUM_ENVS, HIDDEN), torch.zeros(NUM_ENVS, HIDDEN)

    def store(self, t, obs, action, logprob, value, reward, done, state):
        self.obs[t], self.actions[t], self.rewards[t], self.dones[t] = obs, action, reward, done
        self.logprobs[t], self.values[t] = logprob.detach(), value.detach()
        keep = (1.0 - done).unsqueeze(-1)
        self.lstm_h[:] = state[0] * keep  # BUG GS305
        self.lstm_c[:] = state[1] * keep  # BUG GS305

    def get_lstm_state(self):
        return self.lstm_h.clone(), self.lstm_c.clone()

    def advantages(self, last_value, gamma=0.97, lam=0.95):
        result, running, after = torch.zeros_like(self.rewards), 0.0, last_value
        for t in reversed(range(SEGMENT)):
            alive = 1.0 - self.dones[t]
            running = self.rewards[t] + gamma * alive * after - self.values[t] + gamma * lam * alive * running
            result[t], after = running, self.values[t]
        return result


class Trainer:
    def __init__(self, policy):
        self.policy, self.env, self.experience = policy, TMaze(), Experience()
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
        self.next_obs = self.env.reset()

    def rollout(self):
        start = tuple(part.detach() for part in self.experience.get_lstm_state())
        for t in range(SEGMENT):
            obs = self.next_obs
            dist, value, state = self.policy(obs, self.experience.get_lstm_state())  # BUG GS305
            action = dist.sample()
            self.next_obs, reward, done = self.env.step(action)
            self.experience.store(t, obs, action, dist.log_prob(action), value, reward, done, state)
        with torch.no_grad():
            last_value = self.policy(self.next_obs, self.experience.get_lstm_state())[1]
        return start, last_value

    def train(self, start, last_value, epochs=2):
        xp = self.experience
        advantages = xp.advantages(last_value)
        returns = advantages + xp.values
        weight = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(epochs):
            state, policy_loss, value_loss, entropy = start, 0.0, 0.0, 0.0
            for t in range(SEGMENT):
                dist, value, state = self.policy(xp.obs[t], state)
                keep = (1.0 - xp.dones[t]).unsqueeze(-1)
                state = (state[0] * keep, state[1] * keep)
                ratio = (dist.log_prob(xp.actions[t]) - xp.logprobs[t]).exp()
                policy_loss -= (
                    torch.min(ratio * weight[t], ratio.clamp(0.8, 1.2) * weight[t]).mean() / SEGMENT
                )
                value_loss += (value - returns[t]).pow(2).mean() / SEGMENT
                entropy += dist.entropy().mean() / SEGMENT
            self.optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss - 0.01 * entropy).backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()


torch.manual_seed(1139)
trainer = Trainer(RecurrentPolicy())
for epoch in range(80):
    trainer.train(*trainer.rollout())
    if epoch % 20 == 19:
        print(f"epoch {epoch + 1}: found {trainer.experience.rewards[-1].mean():.2f}")
