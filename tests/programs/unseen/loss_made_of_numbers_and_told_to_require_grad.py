"""A PPO trainer sums its minibatch losses as Python numbers, makes a new tensor of the total, and, as backward then raised
"does not require grad", tells that tensor to require one. Backward runs, the policy never changes.
Kostis-S-Z/exploring_meta#16.

Round 25
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical


class Params:
    seed = 2507
    gamma, tau = 0.99, 0.95
    clip, vf_coef, ent_coef = 0.2, 0.5, 0.01
    steps, chunks, epochs, iterations = 128, 4, 3, 6
    lr = 1e-3


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.common = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, n_act), nn.Linear(64, 1)

    def forward(self, x):
        x = self.common(x)
        return Categorical(logits=self.actor(x)), self.critic(x).squeeze(-1)


def collect(env, policy, obs, params):
    rows = []
    for _ in range(params.steps):
        with torch.no_grad():
            mass, value = policy(torch.as_tensor(obs))
            action = mass.sample()
        next_obs, reward, terminated, truncated, _ = env.step(action.item())
        done = terminated or truncated
        with torch.no_grad():
            next_value = 0.0 if terminated else policy(torch.as_tensor(next_obs))[1].item()
        rows.append(
            (obs, action.item(), mass.log_prob(action).item(), reward, value.item(), next_value, done)
        )
        obs = env.reset()[0] if done else next_obs
    columns = [np.array(x) for x in zip(*rows)]
    return columns, obs


def advantages(rewards, values, next_values, dones, params):
    out, last = np.zeros(len(rewards), dtype=np.float32), 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + params.gamma * next_values[t] - values[t]
        last = delta + params.gamma * params.tau * (1.0 - dones[t]) * last
        out[t] = last
    return out


def ppo_loss(policy, obs, actions, old_log_probs, adv, returns, params):
    mass, values = policy(obs)
    ratio = torch.exp(mass.log_prob(actions) - old_log_probs)
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - params.clip, 1 + params.clip) * adv)
    value_loss = (values - returns).pow(2).mean()
    return -surrogate.mean() + params.vf_coef * value_loss - params.ent_coef * mass.entropy().mean()


def main(params):
    torch.manual_seed(params.seed)
    env = gym.make("CartPole-v1")
    obs, _ = env.reset(seed=params.seed)
    policy = Policy(4, 2)
    opt = optim.Adam(policy.parameters(), lr=params.lr)
    for _ in range(params.iterations):
        (o, a, logp, r, v, nv, d), obs = collect(env, policy, obs, params)
        adv = advantages(r, v, nv, d.astype(np.float32), params)
        data = [
            torch.as_tensor(o),
            torch.as_tensor(a),
            torch.as_tensor(logp, dtype=torch.float32),
            torch.as_tensor((adv - adv.mean()) / (adv.std() + 1e-8)),
            torch.as_tensor(adv + v.astype(np.float32)),
        ]
        for _ in range(params.epochs):
            total = 0.0
            for chunk in torch.randperm(params.steps).chunk(params.chunks):
                loss = ppo_loss(policy, *(x[chunk] for x in data), params)
                total += loss.item() / params.chunks  # BUG GS202 GS201
            loss = torch.tensor(total, requires_grad=True)  # BUG GS202 GS201
            opt.zero_grad()
            loss.backward()  # BUG GS201 GS202
            opt.step()


main(Params())
