"""Categorical DQN with a model and a policy function in the manner of a larger library: the softmax over
the support is called without an axis, and for three-dimensional logits that is the batch. After
ray-project/ray#16311.

Round 37
Class: axes
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "num_atoms": 21,
    "v_min": 0.0,
    "v_max": 20.0,
    "gamma": 0.95,
    "lr": 1e-3,
    "train_batch_size": 32,
    "learning_starts": 150,
    "target_network_update_freq": 100,
    "seed": 3711,
}


class DistributionalQModel(nn.Module):
    def __init__(self, obs_dim, num_actions, config):
        super().__init__()
        self.num_actions, self.num_atoms = num_actions, config["num_atoms"]
        self.register_buffer("z", torch.linspace(config["v_min"], config["v_max"], self.num_atoms))
        self.advantage_module = nn.Sequential(
            nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, num_actions * self.num_atoms)
        )

    def get_q_value_distributions(self, obs):
        """Q-values, the logits of the support per action, and their probabilities."""
        support_logits = self.advantage_module(obs).view(-1, self.num_actions, self.num_atoms)
        support_prob = F.softmax(support_logits)  # BUG GS604
        return (support_prob * self.z).sum(-1), support_logits, support_prob


class DQNTorchPolicy:
    def __init__(self, obs_dim, num_actions, config):
        self.config = config
        self.q_model = DistributionalQModel(obs_dim, num_actions, config)
        self.target_q_model = DistributionalQModel(obs_dim, num_actions, config)
        self.update_target()
        self.optimizer = torch.optim.Adam(self.q_model.parameters(), lr=config["lr"], eps=1e-4)

    def update_target(self):
        self.target_q_model.load_state_dict(self.q_model.state_dict())

    @torch.no_grad()
    def compute_action(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.q_model.num_actions)
        q_values, _, _ = self.q_model.get_q_value_distributions(torch.as_tensor(obs).unsqueeze(0))
        return q_values.argmax(1).item()

    @torch.no_grad()
    def project(self, rewards, terminateds, new_obs):
        c = self.config
        rows = torch.arange(len(rewards))
        best = self.q_model.get_q_value_distributions(new_obs)[0].argmax(1)
        next_prob = self.target_q_model.get_q_value_distributions(new_obs)[2][rows, best]
        z = self.q_model.z
        z_step = (c["v_max"] - c["v_min"]) / (c["num_atoms"] - 1)
        r_tau = rewards.unsqueeze(1) + c["gamma"] * (1.0 - terminateds).unsqueeze(1) * z
        b = (r_tau.clamp(c["v_min"], c["v_max"]) - c["v_min"]) / z_step
        low = b.floor().clamp(0, c["num_atoms"] - 1)
        high = (low + 1).clamp(max=c["num_atoms"] - 1)
        share = b - low
        labels = torch.zeros_like(next_prob)
        labels.scatter_add_(1, low.long(), next_prob * (1 - share))
        labels.scatter_add_(1, high.long(), next_prob * share)
        return labels

    def learn_on_batch(self, batch):
        obs, actions, rewards, terminateds, new_obs = batch
        _, logits, _ = self.q_model.get_q_value_distributions(obs)
        chosen = logits[torch.arange(len(actions)), actions]
        labels = self.project(rewards, terminateds, new_obs)
        loss = -(labels * F.log_softmax(chosen, dim=-1)).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q_model.parameters(), 40.0)
        self.optimizer.step()
        return loss.item()


def sample(buffer, n):
    obs, actions, rewards, terminateds, new_obs = zip(*random.sample(buffer, n))
    return (
        torch.from_numpy(np.stack(obs)),
        torch.tensor(actions),
        torch.tensor(rewards, dtype=torch.float32),
        torch.tensor(terminateds, dtype=torch.float32),
        torch.from_numpy(np.stack(new_obs)),
    )


random.seed(CONFIG["seed"])
np.random.seed(CONFIG["seed"])
torch.manual_seed(CONFIG["seed"])
env = gym.make("CartPole-v1")
policy = DQNTorchPolicy(4, 2, CONFIG)
buffer = deque(maxlen=5000)
obs, _ = env.reset(seed=CONFIG["seed"])
for t in range(900):
    action = policy.compute_action(obs, epsilon=max(0.05, 1 - t / 400))
    new_obs, reward, terminated, truncated, _ = env.step(action)
    buffer.append((obs, action, reward, terminated, new_obs))
    obs = env.reset()[0] if terminated or truncated else new_obs
    if t >= CONFIG["learning_starts"] and t % 4 == 0:
        loss = policy.learn_on_batch(sample(buffer, CONFIG["train_batch_size"]))
    if t % CONFIG["target_network_update_freq"] == 0:
        policy.update_target()
print("loss", round(loss, 4))
