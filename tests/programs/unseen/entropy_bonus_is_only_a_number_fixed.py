"""The repaired twin of a program in which the following goes wrong.
PPO: the mean entropy is turned into a Python number for the log, and that number is also what the loss
subtracts. The bonus moves the printed loss and no weight. After huggingface/trl#6140 and huggingface/trl#5596
(entropy regularisation without a gradient).

Round 27
Class: zero in part
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(2703)
rng = np.random.default_rng(2703)


class args:
    n_envs = 4
    n_steps = 16
    epochs = 3
    minibatches = 2
    gamma = 0.95
    lam = 0.9
    clip = 0.2
    ent_coef = 0.02
    vf_coef = 0.5
    iterations = 14


class Cliff:
    """Walk along an edge: three lanes, the outer one pays more and may end the walk."""

    def __init__(self):
        self.lane = 0

    def reset(self):
        self.lane, self.x = 0, 0
        return self.obs()

    def obs(self):
        o = np.zeros(5, dtype=np.float32)
        o[self.lane], o[3], o[4] = 1.0, self.x / 12, 1.0
        return o

    def step(self, a):
        self.lane = int(np.clip(self.lane + a - 1, 0, 2))
        self.x += 1
        fell = self.lane == 2 and rng.random() < 0.1
        return self.obs(), [0.1, 0.2, 0.4][self.lane] - 2.0 * fell, fell or self.x >= 12


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))
        self.critic = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, obs, action=None):
        dist = Categorical(logits=self.actor(obs))
        if action is None:
            action = dist.sample()
        return action, dist.log_prob(action), dist.entropy(), self.critic(obs).squeeze(-1)


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, eps=1e-5)
envs = [Cliff() for _ in range(args.n_envs)]
obs = torch.tensor(np.stack([e.reset() for e in envs]))

for it in range(args.iterations):
    store = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    for _ in range(args.n_steps):
        with torch.no_grad():
            a, logp, _, v = model.act(obs)
        results = [e.step(int(x)) for e, x in zip(envs, a)]
        nxt = [e.reset() if r[2] else r[0] for e, r in zip(envs, results)]
        rew = torch.tensor([r[1] for r in results], dtype=torch.float32)
        done = torch.tensor([float(r[2]) for r in results])
        for k, x in zip(store, (obs, a, logp, v, rew, done)):
            store[k].append(x)
        obs = torch.tensor(np.stack(nxt))
    b = {k: torch.stack(x) for k, x in store.items()}
    with torch.no_grad():
        next_value = model.critic(obs).squeeze(-1)
    adv, last = torch.zeros_like(b["rew"]), torch.zeros(args.n_envs)
    for t in reversed(range(args.n_steps)):
        mask = 1 - b["done"][t]
        delta = b["rew"][t] + args.gamma * mask * next_value - b["val"][t]
        last = delta + args.gamma * args.lam * mask * last
        adv[t], next_value = last, b["val"][t]
    ret = (adv + b["val"]).flatten()
    adv = adv.flatten()
    flat = {k: x.flatten(0, 1) for k, x in b.items()}
    for _ in range(args.epochs):
        for idx in torch.randperm(len(ret)).chunk(args.minibatches):
            _, logp, entropy, value = model.act(flat["obs"][idx], flat["act"][idx])
            ratio = (logp - flat["logp"][idx]).exp()
            a = (adv[idx] - adv[idx].mean()) / (adv[idx].std() + 1e-8)
            pg = -torch.min(ratio * a, ratio.clamp(1 - args.clip, 1 + args.clip) * a).mean()
            vf = 0.5 * (value - ret[idx]).pow(2).mean()
            ent = entropy.mean()
            loss = pg + args.vf_coef * vf - args.ent_coef * ent
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    if it % 5 == 0:
        print(f"{it}: reward {b['rew'].mean():.3f} entropy {ent:.3f}")
