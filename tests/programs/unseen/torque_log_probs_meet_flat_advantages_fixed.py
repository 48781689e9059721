"""Pendulum has one torque: its log-probability is a column, the advantages are flat, and every step is weighed by
everybody's advantage.
Repaired here.

Round 22
Class: axes
"""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2206)
venv = gym.make_vec("Pendulum-v1", num_envs=4, vectorization_mode="sync")
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_sigma = nn.Parameter(torch.full((1,), -0.5))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optim = torch.optim.Adam([*actor.parameters(), log_sigma, *critic.parameters()], lr=1e-3)


def policy(obs):
    return Normal(actor(obs), log_sigma.exp())


def rollout(obs, steps=5):
    observations, actions, rewards = [], [], []
    for _ in range(steps):
        with torch.no_grad():
            action = policy(obs).sample()
        following, reward, _, _, _ = venv.step(action.clamp(-2, 2).numpy())
        observations.append(obs)
        actions.append(action)
        rewards.append(torch.as_tensor(reward, dtype=torch.float32) / 10)
        obs = torch.as_tensor(following, dtype=torch.float32)
    return observations, actions, rewards, obs


def n_step_returns(rewards, last, gamma=0.95):
    returns, running = [], last
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    return torch.cat(returns)


obs = torch.as_tensor(venv.reset(seed=2206)[0], dtype=torch.float32)
for update in range(36):  # stays within the 200 steps of an episode: nothing ends
    observations, actions, rewards, obs = rollout(obs)
    with torch.no_grad():
        returns = n_step_returns(rewards, critic(obs).flatten())
    states, acts = torch.cat(observations), torch.cat(actions)
    v = critic(states).flatten()
    dist = policy(states)
    a_loss = -(dist.log_prob(acts).sum(-1) * (returns - v).detach()).mean()
    vf_loss = (returns - v).pow(2).mean()
    ent_loss = dist.entropy().mean()
    loss = a_loss + 0.5 * vf_loss - 0.001 * ent_loss
    optim.zero_grad()
    loss.backward()
    optim.step()
    if update % 8 == 0:
        print(update, round(loss.item(), 3))
