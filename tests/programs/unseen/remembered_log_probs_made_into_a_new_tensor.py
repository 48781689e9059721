"""Asynchronous advantage actor-critic with workers that take turns. A worker remembers value, log-probability and
reward of every step, and makes tensors of them when it learns; the log-probabilities come out of that as new numbers.
The shared network still gets the critic's gradient, and its policy head gets none at all.

Round 21
Class: zero in part
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

GAMMA, N_WORKERS = 0.95, 4


class Feeder:
    """A plant wants water, and not too much. It dies where it dries out or drowns, or blooms after twenty days."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.water, self.day = self.rng.uniform(0.3, 0.7), 0
        return self.state()

    def state(self):
        return np.array([self.water, self.water**2, self.day / 20], dtype=np.float32)

    def step(self, action):
        self.water += (0.0, 0.1, 0.25)[action] - self.rng.uniform(0.05, 0.15)
        self.day += 1
        dead = not 0.0 < self.water < 1.0
        reward = -2.0 if dead else 0.3 - abs(self.water - 0.5)
        return self.state(), reward, dead or self.day == 20


class ActorCritic(nn.Module):
    def __init__(self, state_size, action_size, hidden=48):
        super().__init__()
        self.fc = nn.Linear(state_size, hidden)
        self.actor = nn.Linear(hidden, action_size)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, state):
        x = torch.relu(self.fc(state))
        return F.softmax(self.actor(x), dim=-1), self.critic(x)

    def act(self, state):
        probs, value = self(torch.from_numpy(state))
        dist = torch.distributions.Categorical(probs)
        action = dist.sample()
        return action.item(), dist.log_prob(action), value.squeeze(-1)


class Worker:
    def __init__(self, name, global_network, optimizer):
        self.name, self.env = name, Feeder(name)
        self.global_network, self.optimizer = global_network, optimizer
        self.network = ActorCritic(3, 3)
        self.memory, self.scores = [], []

    def sync(self):
        self.network.load_state_dict(self.global_network.state_dict())

    def run_episode(self):
        self.sync()
        state, done, score = self.env.reset(), False, 0.0
        while not done:
            action, log_prob, value = self.network.act(state)
            state, reward, done = self.env.step(action)
            self.memory.append((value, log_prob, reward))
            score += reward
        self.scores.append(score)
        self.learn()

    def learn(self):
        returns, R = [], 0.0
        for *_, reward in reversed(self.memory):
            R = reward + GAMMA * R
            returns.insert(0, R)
        returns = torch.tensor(returns, dtype=torch.float)
        values = torch.stack([t[0] for t in self.memory])
        log_probs = torch.tensor([t[1] for t in self.memory], dtype=torch.float)  # BUG GS202
        advantages = returns - values.detach()
        actor_loss = -(log_probs * advantages).sum()
        critic_loss = F.smooth_l1_loss(values, returns, reduction="sum")
        loss = actor_loss + 0.5 * critic_loss

        self.network.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 20.0)
        self.optimizer.zero_grad()
        for local_param, global_param in zip(self.network.parameters(), self.global_network.parameters()):
            if local_param.grad is not None:
                global_param.grad = local_param.grad.clone()
        self.optimizer.step()
        self.memory = []


def main():
    torch.manual_seed(49)
    global_network = ActorCritic(3, 3)
    optimizer = optim.Adam(global_network.parameters(), lr=5e-3)
    workers = [Worker(i, global_network, optimizer) for i in range(N_WORKERS)]
    for episode in range(1, 51):
        for worker in workers:
            worker.run_episode()
        if episode % 10 == 0:
            print(f"episode {episode}: score {np.mean([w.scores[-10:] for w in workers]):.2f}")


if __name__ == "__main__":
    main()
