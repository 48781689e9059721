"""A ring of tensors moves on before the reward is written: each row holds the reward of the step before."""

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(0)


class Ring:
    def __init__(self, size, obs, act):
        self.s, self.a = torch.zeros(size, obs), torch.zeros(size, act)
        self.r, self.s2, self.d = torch.zeros(size), torch.zeros(size, obs), torch.zeros(size)
        self.size, self.at, self.full = size, 0, False

    def put(self, s, a, r, s2, d):
        i = self.at
        self.s[i], self.a[i], self.s2[i], self.d[i] = torch.as_tensor(s), a, torch.as_tensor(s2), float(d)
        self.at = (self.at + 1) % self.size
        self.full = self.full or self.at == 0
        self.r[i] = float(r)

    def draw(self, n):
        i = torch.randint(self.size if self.full else self.at, (n,))
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]


env = gym.make("Pendulum-v1")
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
slow = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
slow.load_state_dict(critic.state_dict())
pi_opt, q_opt = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 1e-3)
ring = Ring(1000, 3, 1)
s, _ = env.reset(seed=1)
for t in range(450):
    with torch.no_grad():
        a = (actor(torch.as_tensor(s)) + 0.2 * torch.randn(1)).clamp(-1, 1)
    s2, r, term, trunc, _ = env.step(2 * a.numpy())
    ring.put(s, a, r, s2, term)
    s = env.reset()[0] if term or trunc else s2
    if t < 100:
        continue
    bs, ba, br, bs2, bd = ring.draw(32)
    with torch.no_grad():
        y = br + 0.98 * (1 - bd) * slow(torch.cat([bs2, actor(bs2)], -1)).squeeze(-1)
    q_loss = (critic(torch.cat([bs, ba], -1)).squeeze(-1) - y).pow(2).mean()
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    pi_loss = -critic(torch.cat([bs, actor(bs)], -1)).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    with torch.no_grad():
        for p, p2 in zip(critic.parameters(), slow.parameters()):
            p2.lerp_(p, 0.01)
