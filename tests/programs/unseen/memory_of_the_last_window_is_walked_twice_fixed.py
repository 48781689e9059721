"""A recurrent actor-critic walks a corridor whose turn was announced at its entrance, learning every
sixteen steps. The memory is carried into the next window as a value only.

Round 32
Class: stays alive
"""

import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Corridor:
    """The sign is seen on the first tile only; the turn at the end must obey it."""

    def __init__(self, length):
        self.length = length

    def reset(self):
        self.tile, self.sign = 0, random.choice([-1.0, 1.0])
        return self.observation()

    def observation(self):
        sign = self.sign if self.tile == 0 else 0.0
        return torch.tensor([[sign, self.tile / self.length, float(self.tile == self.length)]])

    def step(self, action):
        if self.tile < self.length:
            self.tile += 1
            return self.observation(), 0.0, False
        return self.observation(), 1.0 if (action == 1) == (self.sign > 0) else -1.0, True


class RecurrentPolicy(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRUCell(3, hidden)
        self.pi = nn.Linear(hidden, 2)
        self.v = nn.Linear(hidden, 1)

    def forward(self, x, h):
        h = self.rnn(x, h)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h), h

    def initial(self):
        return torch.zeros(1, self.rnn.hidden_size)


def run_window(env, net, obs, h, steps):
    trace = []
    for _ in range(steps):
        dist, value, h = net(obs, h)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        trace.append((dist.log_prob(action), value.view(1), dist.entropy(), reward, done))
        if done:
            obs, h = env.reset(), net.initial()
    return trace, obs, h


def window_loss(trace, bootstrap, gamma):
    log_probs, values, entropies, rewards, dones = zip(*trace)
    ret, returns = bootstrap, []
    for reward, done in zip(reversed(rewards), reversed(dones)):
        ret = reward + gamma * ret * (1.0 - float(done))
        returns.append(ret)
    returns = torch.tensor(returns[::-1])
    values = torch.cat(values)
    advantage = returns - values.detach()
    policy_loss = -(torch.cat(log_probs) * advantage).mean()
    return policy_loss + 0.5 * F.mse_loss(values, returns) - 0.01 * torch.cat(entropies).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=80)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=6)
    args = parser.parse_args([])

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env, net = Corridor(length=4), RecurrentPolicy()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    obs, h = env.reset(), net.initial()
    for window in range(args.windows):
        trace, obs, h = run_window(env, net, obs, h, args.steps)
        h = h.detach()
        with torch.no_grad():
            bootstrap = net(obs, h)[1].item()
        loss = window_loss(trace, bootstrap, args.gamma)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if window % 20 == 0:
            rewards = [row[3] for row in trace if row[4]]
            print(f"window {window}: turns {sum(r > 0 for r in rewards)} of {len(rewards)} right")


if __name__ == "__main__":
    main()
