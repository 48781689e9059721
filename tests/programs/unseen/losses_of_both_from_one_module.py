"""TD3 on the pendulum with a loss module that hands back the actor's and the critics' losses in a dictionary, for a
training loop that takes them to two optimizers.

Round 31
Class: the line
"""

import copy
from collections import deque
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn


class Batch(NamedTuple):
    obs: Tensor
    action: Tensor
    reward: Tensor
    next_obs: Tensor
    terminated: Tensor


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 1), nn.Tanh())

    def forward(self, obs):
        return 2.0 * self.net(obs)


class TwinQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
            for _ in range(2)
        )

    def forward(self, obs, action):
        inputs = torch.cat([obs, action], dim=-1)
        return torch.stack([head(inputs).squeeze(-1) for head in self.heads])


class TD3Loss(nn.Module):
    def __init__(self, actor, qvalue, gamma=0.97, policy_noise=0.2, noise_clip=0.5):
        super().__init__()
        self.actor, self.qvalue = actor, qvalue
        self.target_actor = copy.deepcopy(actor).requires_grad_(False)
        self.target_qvalue = copy.deepcopy(qvalue).requires_grad_(False)
        self.gamma, self.policy_noise, self.noise_clip = gamma, policy_noise, noise_clip

    @torch.no_grad()
    def target(self, batch):
        noise = (self.policy_noise * torch.randn_like(batch.action)).clamp(-self.noise_clip, self.noise_clip)
        next_action = (self.target_actor(batch.next_obs) + noise).clamp(-2.0, 2.0)
        next_value = self.target_qvalue(batch.next_obs, next_action).min(dim=0).values
        return batch.reward + self.gamma * (1 - batch.terminated) * next_value

    def forward(self, batch):
        obs = torch.cat([batch.obs, batch.obs])  # BUG GS402
        action = torch.cat([self.actor(batch.obs), batch.action])  # BUG GS402
        actor_value, value = self.qvalue(obs, action).chunk(2, dim=1)  # BUG GS402
        loss_actor = -actor_value[0].mean()
        loss_qvalue = (value - self.target(batch)).pow(2).mean(dim=1).sum()
        return {"loss_actor": loss_actor, "loss_qvalue": loss_qvalue}

    @torch.no_grad()
    def update_targets(self, tau):
        for net, target in ((self.actor, self.target_actor), (self.qvalue, self.target_qvalue)):
            for p, t in zip(net.parameters(), target.parameters()):
                t.lerp_(p, tau)


class ReplayBuffer:
    def __init__(self, size, rng):
        self.storage, self.rng = deque(maxlen=size), rng

    def extend(self, *transition):
        self.storage.append(transition)

    def sample(self, size):
        rows = [self.storage[i] for i in self.rng.integers(len(self.storage), size=size)]
        return Batch(*(torch.from_numpy(np.array(part, dtype=np.float32)) for part in zip(*rows)))


def main(frames=260, init_random=100, actor_every=2):
    torch.manual_seed(3112)
    rng = np.random.default_rng(3112)
    env = gym.make("Pendulum-v1", max_episode_steps=80)
    actor, qvalue = Actor(), TwinQ()
    loss_module = TD3Loss(actor, qvalue)
    optimizer_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
    optimizer_critic = torch.optim.Adam(qvalue.parameters(), lr=1e-3)
    buffer = ReplayBuffer(1000, rng)

    obs, _ = env.reset(seed=3112)
    for frame in range(frames):
        if frame < init_random:
            action = rng.uniform(-2, 2, size=1).astype(np.float32)
        else:
            with torch.no_grad():
                action = actor(torch.from_numpy(obs)).numpy()
            action = np.clip(action + rng.normal(0, 0.2, size=1), -2, 2).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        buffer.extend(obs, action, reward / 8, next_obs, terminated)
        obs = env.reset()[0] if terminated or truncated else next_obs
        if frame < init_random:
            continue

        loss = loss_module(buffer.sample(64))
        if frame % actor_every == 0:
            optimizer_actor.zero_grad()
            loss["loss_actor"].backward()  # BUG GS402
            optimizer_actor.step()
        optimizer_critic.zero_grad()
        loss["loss_qvalue"].backward()  # BUG GS402
        optimizer_critic.step()
        loss_module.update_targets(tau=0.01)
        if frame % 50 == 0:
            print(f"frame {frame}: {', '.join(f'{key} {value.item():.3f}' for key, value in loss.items())}")
    env.close()


if __name__ == "__main__":
    main()
