"""A categorical (C51) agent on CartPole. Transitions are filed with the flag of the time limit in place of
that of the end, so the projection gives a fallen pole the value of standing on.

Round 32
Class: meaning
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class CategoricalDQN(nn.Module):
    def __init__(self, n_obs, n_act, n_atoms=31, v_min=0.0, v_max=30.0):
        super().__init__()
        self.n_act, self.n_atoms = n_act, n_atoms
        self.v_min, self.v_max = v_min, v_max
        self.register_buffer("atoms", torch.linspace(v_min, v_max, n_atoms))
        self.network = nn.Sequential(
            nn.Linear(n_obs, 64),
            nn.Tanh(),
            nn.Linear(64, 64),
            nn.Tanh(),
            nn.Linear(64, n_act * n_atoms),
        )

    def log_probs(self, obs):
        return self.network(obs).view(-1, self.n_act, self.n_atoms).log_softmax(dim=-1)

    def q(self, obs):
        return (self.log_probs(obs).exp() * self.atoms).sum(dim=-1)


@torch.no_grad()
def project(target_net, rewards, dones, next_obs, gamma):
    """Bellman update of the support, shared out among the neighbouring atoms."""
    batch = len(rewards)
    probs = target_net.log_probs(next_obs).exp()
    best = (probs * target_net.atoms).sum(dim=-1).argmax(dim=-1)
    probs = probs[torch.arange(batch), best]
    delta = (target_net.v_max - target_net.v_min) / (target_net.n_atoms - 1)
    tz = rewards.unsqueeze(1) + gamma * (1 - dones.unsqueeze(1)) * target_net.atoms  # BUG GS805
    b = (tz.clamp(target_net.v_min, target_net.v_max) - target_net.v_min) / delta
    low, high = b.floor().long(), b.ceil().long()
    high = torch.where(low == high, (high + 1).clamp(max=target_net.n_atoms - 1), high)
    low = torch.where(low == high, low - 1, low)
    out = torch.zeros_like(probs)
    out.scatter_add_(1, low, probs * (high.float() - b))
    out.scatter_add_(1, high, probs * (b - low.float()))
    return out


def train_step(net, target_net, optimizer, memory, batch_size=32, gamma=0.97):
    obs, actions, rewards, next_obs, dones = zip(*random.sample(memory, batch_size))
    obs, next_obs = torch.from_numpy(np.stack(obs)), torch.from_numpy(np.stack(next_obs))
    rewards, dones = torch.tensor(rewards), torch.tensor(dones, dtype=torch.float32)
    target = project(target_net, rewards, dones, next_obs, gamma)
    chosen = net.log_probs(obs)[torch.arange(batch_size), torch.tensor(actions)]
    loss = -(target * chosen).sum(dim=-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(total_steps=700, learning_starts=100, train_every=4, sync_every=30, seed=5):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    net, target_net = CategoricalDQN(4, 2), CategoricalDQN(4, 2)
    target_net.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    memory = deque(maxlen=5000)
    updates, score, scores = 0, 0.0, []

    obs, _ = env.reset(seed=seed)
    for step in range(total_steps):
        if random.random() < max(0.1, 1 - step / 400):
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = net.q(torch.from_numpy(obs)).argmax().item()
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, truncated))  # BUG GS805
        score += reward
        obs = next_obs
        if terminated or truncated:
            scores.append(score)
            obs, score = env.reset()[0], 0.0

        if step >= learning_starts and step % train_every == 0:
            train_step(net, target_net, optimizer, memory)
            updates += 1
            if updates % sync_every == 0:
                target_net.load_state_dict(net.state_dict())
    env.close()
    value = net.q(torch.from_numpy(np.stack([row[0] for row in memory]))).mean().item()
    print(f"{updates} updates, last scores {scores[-5:]}, mean value {value:.2f}")


if __name__ == "__main__":
    main()
