"""A deterministic policy gradient on the pendulum. The agent is handed its networks in a dictionary, and takes actor
and critic out of it a second time for the targets: they are the same objects, the soft update copies each onto
itself, and every target moves with the network that is fitted to it.

Round 21
Class: the line
"""

import copy
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim


class Actor(nn.Module):
    def __init__(self, n_states, n_actions, hidden_dim=64):
        super().__init__()
        self.linear1 = nn.Linear(n_states, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, hidden_dim)
        self.linear3 = nn.Linear(hidden_dim, n_actions)
        nn.init.uniform_(self.linear3.weight, -3e-3, 3e-3)
        nn.init.zeros_(self.linear3.bias)

    def forward(self, state):
        x = F.relu(self.linear1(state))
        x = F.relu(self.linear2(x))
        return torch.tanh(self.linear3(x))


class Critic(nn.Module):
    def __init__(self, n_states, n_actions, hidden_dim=64):
        super().__init__()
        self.linear1 = nn.Linear(n_states + n_actions, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, hidden_dim)
        self.linear3 = nn.Linear(hidden_dim, 1)

    def forward(self, state, action):
        x = F.relu(self.linear1(torch.cat([state, action], 1)))
        return self.linear3(F.relu(self.linear2(x)))


class DDPG:
    def __init__(self, models, memories, cfg):
        self.device = torch.device(cfg["device"])
        self.memory = memories
        self.actor = models["actor"].to(self.device)
        self.critic = models["critic"].to(self.device)
        self.target_actor = models["actor"].to(self.device)  # BUG GS306
        self.target_critic = models["critic"].to(self.device)  # BUG GS306
        self.critic_optimizer = optim.Adam(self.critic.parameters(), lr=cfg["critic_lr"])
        self.actor_optimizer = optim.Adam(self.actor.parameters(), lr=cfg["actor_lr"])
        self.batch_size, self.gamma, self.tau = cfg["batch_size"], cfg["gamma"], cfg["tau"]

    @torch.no_grad()
    def sample_action(self, state, noise):
        action = self.actor(torch.as_tensor(state, dtype=torch.float32, device=self.device))
        return np.clip(action.cpu().numpy() + noise * np.random.randn(1), -1.0, 1.0).astype(np.float32)

    def update(self):
        batch = random.sample(self.memory, self.batch_size)
        columns = [np.array(column, dtype=np.float32) for column in zip(*batch)]
        state, action, reward, next_state, done = (torch.from_numpy(c).to(self.device) for c in columns)
        reward, done = reward.unsqueeze(1), done.unsqueeze(1)
        with torch.no_grad():
            next_action = self.target_actor(next_state)
            target_value = self.target_critic(next_state, next_action)
            expected_value = reward + (1.0 - done) * self.gamma * target_value
        value_loss = F.mse_loss(self.critic(state, action), expected_value)
        self.critic_optimizer.zero_grad()
        value_loss.backward()
        self.critic_optimizer.step()

        policy_loss = -self.critic(state, self.actor(state)).mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        self.actor_optimizer.step()

        for target, source in ((self.target_critic, self.critic), (self.target_actor, self.actor)):
            for target_param, param in zip(target.parameters(), source.parameters()):
                target_param.data.copy_(target_param.data * (1.0 - self.tau) + param.data * self.tau)
        return value_loss.item()


cfg = {"device": "cpu", "critic_lr": 2e-3, "actor_lr": 1e-3, "batch_size": 64, "gamma": 0.95, "tau": 0.05}
random.seed(5)
np.random.seed(5)
torch.manual_seed(5)
env = gym.make("Pendulum-v1")
models = {"actor": Actor(3, 1), "critic": Critic(3, 1)}
memory = []
agent = DDPG(models, memory, cfg)
for episode in range(3):
    state, _ = env.reset(seed=episode)
    score, losses, over = 0.0, [], False
    while not over:
        action = agent.sample_action(state, noise=0.3)
        next_state, reward, terminated, truncated, _ = env.step(2.0 * action)
        memory.append((state, action, reward / 8.0, next_state, terminated))
        state, over = next_state, terminated or truncated
        score += reward
        if len(memory) > cfg["batch_size"]:
            losses.append(agent.update())
    print(f"episode {episode + 1}: score {score:.0f}, value loss {np.mean(losses):.4f}")
