"""The repaired twin of a program in which the following goes wrong.
TD3+BC divides the value term of the actor's loss by the mean size of the values. That mean is not detached: with
values of one sign the term is a constant, its gradient cancels and only the cloning is left. After sfujim/TD3_BC#5.

Round 27
Class: weights
"""

import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=2709)
parser.add_argument("--max_timesteps", type=int, default=80)
parser.add_argument("--batch_size", type=int, default=64)
parser.add_argument("--discount", type=float, default=0.9)
parser.add_argument("--tau", type=float, default=0.01)
parser.add_argument("--alpha", type=float, default=2.5)
parser.add_argument("--policy_freq", type=int, default=2)
args = parser.parse_args([])

torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)


def make_dataset(n=1500):
    """A cart on a line, driven by a mediocre controller; every step pays, the middle pays most."""
    rows, x = [], rng.uniform(-1, 1, 2)
    for _ in range(n):
        a = np.clip(-0.4 * x[:1] - 0.3 * x[1:] + rng.normal(0, 0.5, 1), -1, 1)
        nxt = np.array([x[0] + 0.2 * x[1], 0.9 * x[1] + 0.3 * a[0]])
        reward = float(np.exp(-3 * nxt[0] ** 2))
        out = abs(nxt[0]) > 1.5
        rows.append((x, a, [reward], nxt, [1.0 - float(out)]))
        x = rng.uniform(-1, 1, 2) if out or rng.random() < 0.02 else nxt
    return [torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)]


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(2, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        return torch.tanh(self.l3(a))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        self.q2 = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)

    def Q1(self, state, action):
        return self.q1(torch.cat([state, action], 1))


actor, critic = Actor(), Critic()
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
data = make_dataset()
mean, std = data[0].mean(0, keepdim=True), data[0].std(0, keepdim=True) + 1e-3
data[0], data[3] = (data[0] - mean) / std, (data[3] - mean) / std

for it in range(1, args.max_timesteps + 1):
    ind = torch.from_numpy(rng.integers(0, len(data[0]), args.batch_size))
    state, action, reward, next_state, not_done = (column[ind] for column in data)
    with torch.no_grad():
        noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
        next_action = (actor_target(next_state) + noise).clamp(-1, 1)
        target_Q = torch.min(*critic_target(next_state, next_action))
        target_Q = reward + not_done * args.discount * target_Q
    current_Q1, current_Q2 = critic(state, action)
    critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    if it % args.policy_freq == 0:
        pi = actor(state)
        Q = critic.Q1(state, pi)
        lmbda = args.alpha / Q.abs().mean().detach()
        actor_loss = -lmbda * Q.mean() + F.mse_loss(pi, action)
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        for net, slow in ((critic, critic_target), (actor, actor_target)):
            for param, target_param in zip(net.parameters(), slow.parameters()):
                target_param.data.copy_(args.tau * param.data + (1 - args.tau) * target_param.data)

print(f"critic loss {critic_loss.item():.4f} actor loss {actor_loss.item():.4f} mean Q {Q.mean().item():.3f}")
