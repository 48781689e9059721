"""Twin delayed learning on the pendulum; both slow critics and the slow actor follow their networks.

Round 29
Class: the line
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

GAMMA, TAU, NOISE, CLIP, BATCH = 0.98, 0.02, 0.2, 0.5, 64


def soft_update(local_model, target_model):
    for target_param, local_param in zip(target_model.parameters(), local_model.parameters()):
        target_param.data.copy_(TAU * local_param.data + (1.0 - TAU) * target_param.data)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 64), nn.Linear(64, 1)

    def forward(self, state, action):
        return self.fc2(F.relu(self.fc1(torch.cat([state, action], dim=1))))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 64), nn.Linear(64, 1)

    def forward(self, state):
        return 2 * torch.tanh(self.fc2(F.relu(self.fc1(state))))


class Agent:
    def __init__(self):
        self.actor, self.critic_1, self.critic_2 = Policy(), QNet(), QNet()
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_1_target = copy.deepcopy(self.critic_1)
        self.critic_2_target = copy.deepcopy(self.critic_2)
        self.actor_optim = optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_1_optim = optim.Adam(self.critic_1.parameters(), lr=1e-3)
        self.critic_2_optim = optim.Adam(self.critic_2.parameters(), lr=1e-3)

    def target_values(self, reward, next_state, terminal):
        with torch.no_grad():
            noise = (NOISE * torch.randn(len(reward), 1)).clamp(-CLIP, CLIP)
            next_action = (self.actor_target(next_state) + noise).clamp(-2, 2)
            q1 = self.critic_1_target(next_state, next_action)
            q2 = self.critic_2_target(next_state, next_action)
            return reward + GAMMA * (1 - terminal) * torch.min(q1, q2)

    def learn(self, count, state, action, reward, next_state, terminal):
        y = self.target_values(reward, next_state, terminal)
        for critic, optimizer in (
            (self.critic_1, self.critic_1_optim),
            (self.critic_2, self.critic_2_optim),
        ):
            loss = F.mse_loss(critic(state, action), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if count % 2 == 0:
            actor_loss = -self.critic_1(state, self.actor(state)).mean()
            self.actor_optim.zero_grad()
            actor_loss.backward()
            self.actor_optim.step()
            soft_update(self.actor, self.actor_target)
            soft_update(self.critic_1, self.critic_1_target)
            soft_update(self.critic_2, self.critic_2_target)


torch.manual_seed(2909)
rng = np.random.default_rng(2909)
env, agent, buffer = gym.make("Pendulum-v1"), Agent(), []
state, _ = env.reset(seed=2909)
for count in range(320):
    with torch.no_grad():
        action = agent.actor(torch.from_numpy(state)[None])[0].numpy()
    action = np.clip(action + 0.3 * rng.normal(size=1), -2, 2).astype(np.float32)
    next_state, reward, terminated, truncated, _ = env.step(action)
    buffer.append((state, action, [reward / 10], next_state, [float(terminated)]))
    state = env.reset()[0] if terminated or truncated else next_state
    if count >= 120:
        batch = zip(*(buffer[i] for i in rng.integers(len(buffer), size=BATCH)))
        agent.learn(count, *(torch.tensor(np.array(column), dtype=torch.float32) for column in batch))
