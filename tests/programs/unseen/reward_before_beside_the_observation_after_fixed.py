"""A policy gradient after a well-known course. The loop stores a transition before it takes the step, so every observation
is stored beside the reward of the step before it: advantages and returns count what had already been paid.
Repaired here.

Round 20
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions.categorical import Categorical
from torch.optim import Adam


def discount_cumsum(x, discount):
    out, running = np.zeros_like(x), 0.0
    for i in reversed(range(len(x))):
        running = x[i] + discount * running
        out[i] = running
    return out


def mlp(sizes, activation=nn.Tanh):
    layers = []
    for j in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[j], sizes[j + 1]), activation() if j < len(sizes) - 2 else nn.Identity()]
    return nn.Sequential(*layers)


class LightSwitch:
    """A lamp shows which of three switches pays now; it changes after every press. Twelve presses make an episode."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.lamp, self.count = self.rng.integers(3), 0
        return self.observe()

    def observe(self):
        obs = np.zeros(4, dtype=np.float32)
        obs[self.lamp], obs[3] = 1.0, self.count / 12
        return obs

    def step(self, a):
        reward = 1.0 if a == self.lamp else -0.2
        self.lamp, self.count = self.rng.integers(3), self.count + 1
        return self.observe(), reward, self.count == 12


class VPGBuffer:
    def __init__(self, obs_dim, size, gamma=0.9, lam=0.9):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros(size, dtype=np.int64)
        self.adv_buf, self.rew_buf = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        self.ret_buf, self.val_buf = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        self.gamma, self.lam = gamma, lam
        self.ptr, self.path_start_idx = 0, 0

    def store(self, obs, act, rew, val):
        self.obs_buf[self.ptr], self.act_buf[self.ptr] = obs, act
        self.rew_buf[self.ptr], self.val_buf[self.ptr] = rew, val
        self.ptr += 1

    def finish_path(self, last_val=0.0):
        path_slice = slice(self.path_start_idx, self.ptr)
        rews = np.append(self.rew_buf[path_slice], np.float32(last_val))
        vals = np.append(self.val_buf[path_slice], np.float32(last_val))
        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        self.adv_buf[path_slice] = discount_cumsum(deltas, self.gamma * self.lam)
        self.ret_buf[path_slice] = discount_cumsum(rews, self.gamma)[:-1]
        self.path_start_idx = self.ptr

    def get(self):
        self.ptr, self.path_start_idx = 0, 0
        adv = (self.adv_buf - self.adv_buf.mean()) / (self.adv_buf.std() + 1e-8)
        arrays = {"obs": self.obs_buf, "act": self.act_buf, "ret": self.ret_buf, "adv": adv}
        return {k: torch.as_tensor(v.copy()) for k, v in arrays.items()}


def vpg(epochs=60, steps_per_epoch=96, pi_lr=1e-2, vf_lr=1e-2, train_v_iters=4, seed=2004):
    torch.manual_seed(seed)
    env = LightSwitch(np.random.default_rng(seed))
    pi, vf = mlp([4, 32, 3]), mlp([4, 32, 1])
    pi_optimizer, vf_optimizer = Adam(pi.parameters(), lr=pi_lr), Adam(vf.parameters(), lr=vf_lr)
    buf = VPGBuffer(4, steps_per_epoch)
    o, r, d, ep_ret, returns = env.reset(), 0.0, False, 0.0, []
    for epoch in range(epochs):
        for t in range(steps_per_epoch):
            with torch.no_grad():
                x = torch.as_tensor(o)
                a, v = Categorical(logits=pi(x)).sample().item(), vf(x).item()
            next_o, r, d = env.step(a)
            buf.store(o, a, r, v)
            o = next_o
            ep_ret += r
            if d:
                buf.finish_path(last_val=0.0)
                returns.append(ep_ret)
                o, r, d, ep_ret = env.reset(), 0.0, False, 0.0
        data = buf.get()
        logp = Categorical(logits=pi(data["obs"])).log_prob(data["act"])
        pi_optimizer.zero_grad()
        (-(logp * data["adv"]).mean()).backward()
        pi_optimizer.step()
        for _ in range(train_v_iters):
            vf_optimizer.zero_grad()
            ((vf(data["obs"]).squeeze(-1) - data["ret"]) ** 2).mean().backward()
            vf_optimizer.step()
    return returns


scores = vpg()
print("first", np.mean(scores[:50]).round(2), "last", np.mean(scores[-50:]).round(2))
