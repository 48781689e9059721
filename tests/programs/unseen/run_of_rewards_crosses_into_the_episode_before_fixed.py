"""Batched policy gradient: the discounted sum starts from zero at the end of every episode.

Round 28
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical
from torch.optim import Adam


def mlp(sizes, activation=nn.Tanh, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


def rewards_to_go(rewards, terminals, gamma):
    out = np.zeros(len(rewards), dtype=np.float32)
    acc = 0.0
    for i in range(len(rewards) - 1, -1, -1):
        acc = rewards[i] + gamma * acc * (1.0 - terminals[i])
        out[i] = acc
    return out


def train(env_name="CartPole-v1", hidden_sizes=(32,), lr=1e-2, epochs=20, batch_size=200, gamma=0.98):
    seed = 285
    torch.manual_seed(seed)
    env = gym.make(env_name)
    obs_dim = env.observation_space.shape[0]
    n_acts = env.action_space.n
    logits_net = mlp([obs_dim, *hidden_sizes, n_acts])
    optimizer = Adam(logits_net.parameters(), lr=lr)

    def get_policy(obs):
        return Categorical(logits=logits_net(obs))

    @torch.no_grad()
    def get_action(obs):
        return get_policy(obs).sample().item()

    def compute_loss(obs, act, weights):
        logp = get_policy(obs).log_prob(act)
        return -(logp * weights).mean()

    obs, _ = env.reset(seed=seed)

    def train_one_epoch(obs):
        batch_obs, batch_acts, batch_rews, batch_terms, batch_lens = [], [], [], [], []
        ep_len = 0
        while True:
            batch_obs.append(obs.copy())
            act = get_action(torch.as_tensor(obs, dtype=torch.float32))
            obs, rew, terminated, truncated, _ = env.step(act)
            ep_len += 1
            batch_acts.append(act)
            batch_rews.append(rew)
            done = terminated or truncated
            batch_terms.append(float(done))
            if done:
                batch_lens.append(ep_len)
                ep_len = 0
                obs, _ = env.reset()
                if len(batch_obs) > batch_size:
                    break
        weights = torch.as_tensor(rewards_to_go(batch_rews, batch_terms, gamma))
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        optimizer.zero_grad()
        batch_loss = compute_loss(
            obs=torch.as_tensor(np.array(batch_obs), dtype=torch.float32),
            act=torch.as_tensor(batch_acts),
            weights=weights,
        )
        batch_loss.backward()
        optimizer.step()
        return obs, batch_loss.item(), np.mean(batch_lens)

    for i in range(epochs):
        obs, batch_loss, mean_len = train_one_epoch(obs)
        if i % 5 == 0:
            print(f"epoch: {i:3d} \t loss: {batch_loss:.3f} \t ep_len: {mean_len:.3f}")


train()
