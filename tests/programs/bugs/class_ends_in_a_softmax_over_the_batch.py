"""A policy class ends in `nn.Softmax(dim=0)`: right for one state while acting, wrong for the batch it learns from."""

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(6)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 48), nn.LeakyReLU(), nn.Linear(48, 2))
        self.out = nn.Softmax(dim=0)  # BUG GS604

    def forward(self, x):
        return self.out(self.layers(x))  # BUG GS604


class Reinforce:
    def __init__(self):
        self.env, self.policy = gym.make("CartPole-v1"), Policy()
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=9e-3)

    def play(self, seed):
        obs, _ = self.env.reset(seed=seed)
        states, actions, rewards, over = [], [], [], False
        while not over:
            states.append(torch.from_numpy(obs))
            with torch.no_grad():
                probs = self.policy(states[-1])
            actions.append(torch.multinomial(probs / probs.sum(), 1))
            obs, reward, term, trunc, _ = self.env.step(actions[-1].item())
            rewards.append(reward)
            over = term or trunc
        return torch.stack(states), torch.stack(actions), rewards

    def learn(self, states, actions, rewards):
        total, returns = 0.0, []
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        returns = returns / returns.max()
        chosen = self.policy(states).gather(1, actions).squeeze(1)
        loss = -(chosen.clamp(min=1e-8).log() * returns).sum()  # gradsan: allow unstable-log-prob
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


agent = Reinforce()
for episode in range(10):
    agent.learn(*agent.play(episode))
