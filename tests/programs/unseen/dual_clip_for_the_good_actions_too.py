"""Proximal policy optimisation with a dual clip on the pole: the second bound is laid on every action, so that those
with a positive advantage meet a constant and teach nothing.

Round 29
Class: zero in part
"""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

GAMMA, LAMBDA, CLIP, DUAL, STEPS = 0.98, 0.95, 0.2, 3.0, 128

torch.manual_seed(2905)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 2))
critic = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=2e-3)


@torch.no_grad()
def collect(obs):
    data = {key: [] for key in ("obs", "act", "logp", "rew", "val", "next_val", "term", "over")}
    for _ in range(STEPS):
        x = torch.as_tensor(obs)
        dist = Categorical(logits=policy(x))
        act = dist.sample()
        after, rew, term, trunc, _ = env.step(act.item())
        row = (x, act, dist.log_prob(act), torch.tensor(rew), critic(x)[0], critic(torch.as_tensor(after))[0])
        for key, item in zip(data, (*row, torch.tensor(float(term)), torch.tensor(float(term or trunc)))):
            data[key].append(item)
        obs = env.reset()[0] if term or trunc else after
    data = {
        key: torch.stack(items).float() if key != "act" else torch.stack(items) for key, items in data.items()
    }
    adv, running = torch.zeros(STEPS), 0.0
    for t in reversed(range(STEPS)):
        delta = data["rew"][t] + GAMMA * data["next_val"][t] * (1 - data["term"][t]) - data["val"][t]
        running = delta + GAMMA * LAMBDA * (1 - data["over"][t]) * running
        adv[t] = running
    data["ret"] = adv + data["val"]
    data["adv"] = (adv - adv.mean()) / (adv.std() + 1e-8)
    return data, obs


def surrogate(ratio, adv):
    plain = torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv)
    return torch.max(plain, DUAL * adv).mean()  # BUG GS208


obs, _ = env.reset(seed=2905)
for iteration in range(8):
    data, obs = collect(obs)
    for epoch in range(3):
        for rows in torch.randperm(STEPS).split(32):
            dist = Categorical(logits=policy(data["obs"][rows]))
            ratio = (dist.log_prob(data["act"][rows]) - data["logp"][rows]).exp()
            pi_loss = -surrogate(ratio, data["adv"][rows])
            v_loss = (critic(data["obs"][rows]).squeeze(-1) - data["ret"][rows]).pow(2).mean()
            loss = pi_loss + 0.5 * v_loss - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*policy.parameters(), *critic.parameters()], 0.5)
            optimizer.step()
