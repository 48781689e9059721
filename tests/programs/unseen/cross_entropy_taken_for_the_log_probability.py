"""An actor-critic in the manner of imitation code takes the log-probability of its actions from cross_entropy, which is the
negative of it, and puts the usual minus in front of the policy term: what turned out well becomes less likely. The sign
of hiyouga/EasyR1#50 in a classic agent.

Round 25
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = {"seed": 2529, "gamma": 0.9, "lr": 3e-3, "envs": 8, "steps": 6, "updates": 60, "vf": 0.5, "ent": 0.01}
torch.manual_seed(CFG["seed"])
rng = np.random.default_rng(CFG["seed"])


class Orchard:
    """A batch of pickers; each sees the ripeness of three trees and picks from one."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.ripe = rng.random((self.n, 3))
        self.energy = np.full(self.n, 4.0)
        return self.observe()

    def observe(self):
        return np.concatenate([self.ripe, self.energy[:, None] / 4], 1).astype(np.float32)

    def step(self, action):
        rows = np.arange(self.n)
        picked = self.ripe[rows, action]
        reward = picked - 0.4
        self.energy = self.energy + picked - 0.8
        self.ripe = np.clip(self.ripe + 0.15 * rng.random((self.n, 3)), 0, 1)
        self.ripe[rows, action] = 0.1 * rng.random(self.n)
        tired = self.energy <= 0
        final = self.observe()
        self.ripe[tired] = rng.random((int(tired.sum()), 3))
        self.energy[tired] = 4.0
        return self.observe(), final, reward.astype(np.float32), tired.astype(np.float32)


class PickerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.logits, self.value = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return self.logits(h), self.value(h).squeeze(-1)


def collect(env, net, obs):
    rows = []
    for _ in range(CFG["steps"]):
        with torch.no_grad():
            logits, _ = net(torch.from_numpy(obs))
            action = torch.multinomial(F.softmax(logits, 1), 1).squeeze(1).numpy()
        next_obs, final, reward, tired = env.step(action)
        rows.append((obs, action, reward, final, tired))
        obs = next_obs
    return [torch.from_numpy(np.stack(x)) for x in zip(*rows)], obs


def bootstrap(net, rewards, finals, tired):
    with torch.no_grad():
        _, values = net(finals)
    returns, running = torch.zeros_like(rewards), values[-1]
    for t in reversed(range(len(rewards))):
        running = rewards[t] + CFG["gamma"] * (1 - tired[t]) * running
        returns[t] = running
    return returns


def main():
    env, net = Orchard(CFG["envs"]), PickerNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=CFG["lr"])
    obs = env.reset()
    for _ in range(CFG["updates"]):
        (states, actions, rewards, finals, tired), obs = collect(env, net, obs)
        returns = bootstrap(net, rewards, finals, tired).flatten()
        logits, values = net(states.flatten(0, 1))
        advantages = (returns - values).detach()
        log_probs = F.cross_entropy(logits, actions.flatten(), reduction="none")  # BUG GS801
        policy_loss = -(log_probs * advantages).mean()  # BUG GS801
        value_loss = F.mse_loss(values, returns)
        entropy = -(F.softmax(logits, 1) * F.log_softmax(logits, 1)).sum(1).mean()
        loss = policy_loss + CFG["vf"] * value_loss - CFG["ent"] * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
