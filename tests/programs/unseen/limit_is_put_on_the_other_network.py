"""DDPG keeps a kettle at a wanted temperature. The critic's gradient should be limited before its step, but
the limit is put on the actor's parameters and the critic steps with whatever it got.

Round 32
Class: magnitude
"""

import copy
import itertools

import numpy as np
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Kettle:
    """Errors cost. The kettle is never finished, the cook only changes it after fifty steps."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.temp, self.wanted, self.heat = self.rng.uniform(0, 1), self.rng.uniform(0.3, 0.9), 0.0
        return self.read()

    def read(self):
        return np.array([self.temp, self.wanted, self.heat], dtype=np.float32)

    def step(self, power):
        self.heat = 0.7 * self.heat + 0.3 * float(power)
        self.temp += 0.1 * self.heat - 0.03 * self.temp + self.rng.normal(0, 0.005)
        return self.read(), -5.0 * abs(self.temp - self.wanted)


class Noise:
    def __init__(self, rng, theta=0.15, sigma=0.3):
        self.rng, self.theta, self.sigma, self.x = rng, theta, sigma, 0.0

    def __call__(self):
        self.x += -self.theta * self.x + self.sigma * self.rng.normal()
        return self.x


def build(sizes, last=nn.Identity):
    layers = []
    for n_in, n_out in itertools.pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.Tanh()]
    return nn.Sequential(*layers[:-1], last())


class DDPG:
    def __init__(self, gamma=0.95, tau=0.01, max_norm=0.5):
        self.actor, self.critic = build([3, 48, 48, 1], nn.Tanh), build([4, 48, 48, 1])
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=5e-4)
        self.critic_optim = torch.optim.SGD(self.critic.parameters(), lr=5e-2, momentum=0.9)
        self.gamma, self.tau, self.max_norm = gamma, tau, max_norm

    def act(self, obs):
        with torch.no_grad():
            return self.actor(torch.from_numpy(obs)).numpy()

    def update(self, obs, action, reward, obs2):
        with torch.no_grad():
            q2 = self.critic_target(torch.cat([obs2, self.actor_target(obs2)], dim=-1))
            y = reward + self.gamma * q2
        q = self.critic(torch.cat([obs, action], dim=-1))
        critic_loss = nn.functional.mse_loss(q, y)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        clip_grad_norm_(self.actor.parameters(), self.max_norm)  # BUG GS505
        self.critic_optim.step()

        actor_loss = -self.critic(torch.cat([obs, self.actor(obs)], dim=-1)).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        clip_grad_norm_(self.actor.parameters(), self.max_norm)
        self.actor_optim.step()

        with torch.no_grad():
            for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for w, wt in zip(net.parameters(), target.parameters()):
                    wt.add_(self.tau * (w - wt))
        return critic_loss.item()


torch.manual_seed(3)
rng = np.random.default_rng(3)
env, agent, noise = Kettle(3), DDPG(), Noise(rng)
replay, loss = [], 0.0
obs = env.reset()
for t in range(700):
    action = np.clip(agent.act(obs) + noise(), -1, 1).astype(np.float32)
    obs2, reward = env.step(action[0])
    replay.append((obs, action, np.array([reward], dtype=np.float32), obs2))
    obs = env.reset() if t % 50 == 49 else obs2
    if t >= 100 and t % 4 == 0:
        picked = [replay[i] for i in rng.integers(len(replay), size=64)]
        loss = agent.update(*(torch.from_numpy(np.stack(column)) for column in zip(*picked)))
    if t % 100 == 99:
        print(f"{t + 1} steps: critic {loss:.3f}, reward {np.mean([row[2] for row in replay[-100:]]):.3f}")
