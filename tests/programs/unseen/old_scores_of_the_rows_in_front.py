"""Proximal policy optimisation on four CartPoles: the minibatches are drawn by shuffled numbers, but the old log-
probs are cut out as a slice, so each row is compared with the log-prob of another one. After kvablack/ddpo-
pytorch#29 and higgsfield-ai/higgsfield#7 (columns of a rollout in different orders).

Round 26
Class: meaning
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Args:
    envs: int = 4
    steps: int = 32
    minibatch: int = 32
    epochs: int = 2
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    ent_coef: float = 0.01
    iterations: int = 10
    seed: int = 2623


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

    def policy(self, obs):
        return Categorical(logits=self.actor(obs))


def make_env():
    return gym.make("CartPole-v1")


args = Args()
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)
envs = gym.vector.SyncVectorEnv([make_env] * args.envs, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)

obs = torch.zeros(args.steps, args.envs, 4)
actions, logprobs, rewards, dones, values = (torch.zeros(args.steps, args.envs) for _ in range(5))
next_obs = torch.as_tensor(envs.reset(seed=args.seed)[0])
for iteration in range(args.iterations):
    for step in range(args.steps):
        obs[step] = next_obs
        with torch.no_grad():
            dist = agent.policy(next_obs)
            action = dist.sample()
            values[step] = agent.value(next_obs)
        actions[step], logprobs[step] = action, dist.log_prob(action)
        observed, reward, terminated, truncated, _ = envs.step(action.numpy())
        rewards[step] = torch.as_tensor(reward)
        dones[step] = torch.as_tensor(terminated | truncated)
        next_obs = torch.as_tensor(observed)

    with torch.no_grad():
        advantages, carry, following = torch.zeros_like(rewards), 0.0, agent.value(next_obs)
        for t in reversed(range(args.steps)):
            alive = 1.0 - dones[t]
            delta = rewards[t] + args.gamma * following * alive - values[t]
            carry = delta + args.gamma * args.lam * alive * carry
            advantages[t], following = carry, values[t]
        returns = advantages + values

    b_obs, b_actions = obs.reshape(-1, 4), actions.reshape(-1)
    b_logprobs, b_advantages, b_returns = logprobs.reshape(-1), advantages.reshape(-1), returns.reshape(-1)
    rows = args.envs * args.steps
    for _ in range(args.epochs):
        order = torch.as_tensor(rng.permutation(rows))
        for start in range(0, rows, args.minibatch):
            end = start + args.minibatch
            idx = order[start:end]
            dist = agent.policy(b_obs[idx])
            logratio = dist.log_prob(b_actions[idx]) - b_logprobs[start:end]  # BUG GS803
            ratio = logratio.exp()  # BUG GS803
            adv = b_advantages[idx]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            v_loss = 0.5 * (agent.value(b_obs[idx]) - b_returns[idx]).pow(2).mean()
            loss = pg_loss + 0.5 * v_loss - args.ent_coef * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print(iteration, f"ends {int(dones.sum())}")
envs.close()
