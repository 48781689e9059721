"""A notebook on dueling Q-networks. The advantages are centred with their mean over everything that is in the tensor:
for one state these are its actions, in training they are the actions of the whole minibatch, and the values of a
state depend on which other states were drawn with it.
Repaired here.

Round 21
Class: axes
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class DuelingNet(nn.Module):
    def __init__(self, n_states, n_actions, hidden_dim=64):
        super().__init__()
        self.hidden_layer = nn.Sequential(nn.Linear(n_states, hidden_dim), nn.ReLU())
        self.advantage_layer = nn.Sequential(
            nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, n_actions)
        )
        self.value_layer = nn.Sequential(
            nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 1)
        )

    def forward(self, state):
        x = self.hidden_layer(state)
        advantage = self.advantage_layer(x)
        value = self.value_layer(x)
        return value + advantage - advantage.mean(dim=-1, keepdim=True)


class ReplayBuffer:
    def __init__(self, capacity):
        self.buffer = deque(maxlen=capacity)

    def push(self, *transition):
        self.buffer.append(transition)

    def sample(self, batch_size):
        batch = random.sample(self.buffer, batch_size)
        states, actions, rewards, next_states, dones = zip(*batch)
        return np.array(states), actions, rewards, np.array(next_states), dones

    def __len__(self):
        return len(self.buffer)


class DuelingDQN:
    def __init__(self, model_cls, memory, cfg):
        self.cfg, self.memory = cfg, memory
        self.sample_count = 0
        self.policy_net = model_cls(cfg["n_states"], cfg["n_actions"])
        self.target_net = model_cls(cfg["n_states"], cfg["n_actions"])
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.optimizer = optim.Adam(self.policy_net.parameters(), lr=cfg["lr"])

    def sample_action(self, state):
        self.sample_count += 1
        epsilon = max(0.05, 0.95 - self.sample_count / 1000)
        if random.random() < epsilon:
            return random.randrange(self.cfg["n_actions"])
        with torch.no_grad():
            return self.policy_net(torch.tensor(state, dtype=torch.float32)).argmax().item()

    def update(self):
        if len(self.memory) < self.cfg["batch_size"]:
            return
        states, actions, rewards, next_states, dones = self.memory.sample(self.cfg["batch_size"])
        states = torch.tensor(states, dtype=torch.float32)
        actions = torch.tensor(actions).unsqueeze(1)
        rewards = torch.tensor(rewards, dtype=torch.float32)
        next_states = torch.tensor(next_states, dtype=torch.float32)
        dones = torch.tensor(dones, dtype=torch.float32)
        q_values = self.policy_net(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            next_q_values = self.target_net(next_states).max(1)[0]
            expected = rewards + self.cfg["gamma"] * next_q_values * (1 - dones)
        loss = F.mse_loss(q_values, expected)
        self.optimizer.zero_grad()
        loss.backward()
        for param in self.policy_net.parameters():
            param.grad.data.clamp_(-1, 1)
        self.optimizer.step()


cfg = {
    "n_states": 4,
    "n_actions": 2,
    "lr": 1e-3,
    "gamma": 0.95,
    "batch_size": 64,
    "target_update": 4,
    "train_eps": 40,
}
random.seed(1)
torch.manual_seed(1)
env = gym.make("CartPole-v1", max_episode_steps=60)
agent = DuelingDQN(DuelingNet, ReplayBuffer(10000), cfg)
lengths = []
for i_ep in range(cfg["train_eps"]):
    state, _ = env.reset(seed=i_ep)
    for ep_step in range(1, 61):
        action = agent.sample_action(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        agent.memory.push(state, action, reward, next_state, terminated)
        state = next_state
        if ep_step % 2 == 0:
            agent.update()
        if terminated or truncated:
            break
    lengths.append(ep_step)
    if (i_ep + 1) % cfg["target_update"] == 0:
        agent.target_net.load_state_dict(agent.policy_net.state_dict())
    if (i_ep + 1) % 10 == 0:
        print(f"episode {i_ep + 1}/{cfg['train_eps']}, length {np.mean(lengths[-10:]):.1f}")
