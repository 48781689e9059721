"""SAC for an arm with four joints: the policy's log-prob keeps a column for each joint, and taken from the critic's one
column it gives every sample four targets. After sunwuzhou03/reinforcement-learning-lab#1.

Round 35
Class: axes
"""

import collections
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Normal


class Arm:
    """Four joints in a plane; the hand has to come near a point."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.angles = self.rng.uniform(-0.5, 0.5, 4)
        self.goal = self.rng.uniform(-2.0, 2.0, 2)
        self.t = 0
        return self.state()

    def hand(self):
        total = np.cumsum(self.angles)
        return np.array([np.cos(total).sum(), np.sin(total).sum()])

    def state(self):
        return np.concatenate([np.cos(self.angles), np.sin(self.angles), self.goal, self.hand()]).astype(
            np.float32
        )

    def step(self, action):
        self.angles = self.angles + 0.3 * action
        self.t += 1
        gap = float(np.linalg.norm(self.hand() - self.goal))
        return self.state(), -0.2 * gap + 2.0 * (gap < 0.3), gap < 0.3, self.t >= 50


class ReplayBuffer:
    def __init__(self, capacity):
        self.buffer = collections.deque(maxlen=capacity)

    def add(self, *transition):
        self.buffer.append(transition)

    def sample(self, batch_size):
        columns = zip(*random.sample(self.buffer, batch_size))
        s, a, r, s_, d = (torch.tensor(np.array(c), dtype=torch.float32) for c in columns)
        return s, a, r.view(-1, 1), s_, d.view(-1, 1)


class PolicyNetContinuous(torch.nn.Module):
    def __init__(self, state_dim, hidden_dim, action_dim):
        super().__init__()
        self.fc1 = torch.nn.Linear(state_dim, hidden_dim)
        self.fc_mu = torch.nn.Linear(hidden_dim, action_dim)
        self.fc_std = torch.nn.Linear(hidden_dim, action_dim)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        dist = Normal(self.fc_mu(x), F.softplus(self.fc_std(x)) + 1e-3)
        sample = dist.rsample()
        action = torch.tanh(sample)
        log_prob = dist.log_prob(sample) - torch.log(1 - action.pow(2) + 1e-6)  # BUG GS601 GS603
        return action, log_prob  # BUG GS601 GS603


class QValueNet(torch.nn.Module):
    def __init__(self, state_dim, hidden_dim, action_dim):
        super().__init__()
        self.fc1 = torch.nn.Linear(state_dim + action_dim, hidden_dim)
        self.fc2 = torch.nn.Linear(hidden_dim, hidden_dim)
        self.fc_out = torch.nn.Linear(hidden_dim, 1)

    def forward(self, x, a):
        x = F.relu(self.fc1(torch.cat([x, a], dim=1)))
        return self.fc_out(F.relu(self.fc2(x)))


class SAC:
    def __init__(self, state_dim, hidden_dim, action_dim, gamma=0.97, tau=0.01):
        dims = (state_dim, hidden_dim, action_dim)
        self.actor = PolicyNetContinuous(*dims)
        self.critics = [QValueNet(*dims) for _ in range(2)]
        self.targets = [QValueNet(*dims) for _ in range(2)]
        for target, critic in zip(self.targets, self.critics):
            target.load_state_dict(critic.state_dict())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizers = [torch.optim.Adam(c.parameters(), lr=2e-3) for c in self.critics]
        self.log_alpha = torch.tensor(np.log(0.1), dtype=torch.float32, requires_grad=True)
        self.log_alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)
        self.target_entropy, self.gamma, self.tau = -action_dim, gamma, tau

    def take_action(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state).unsqueeze(0))[0][0].numpy()

    def calc_target(self, rewards, next_states, dones):
        with torch.no_grad():
            next_actions, log_prob = self.actor(next_states)
            q = torch.min(*(t(next_states, next_actions) for t in self.targets))
            next_value = q - self.log_alpha.exp() * log_prob  # BUG GS601 GS603
            return rewards + self.gamma * next_value * (1 - dones)

    def update(self, states, actions, rewards, next_states, dones):
        td_target = self.calc_target(rewards, next_states, dones)
        for critic, optimizer in zip(self.critics, self.critic_optimizers):
            critic_loss = F.mse_loss(critic(states, actions), td_target)  # BUG GS601
            optimizer.zero_grad()
            critic_loss.backward()
            optimizer.step()

        new_actions, log_prob = self.actor(states)
        q = torch.min(*(c(states, new_actions) for c in self.critics))
        actor_loss = (self.log_alpha.exp().detach() * log_prob - q).mean()  # BUG GS601 GS603
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        alpha_loss = -(self.log_alpha.exp() * (log_prob + self.target_entropy).detach()).mean()
        self.log_alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.log_alpha_optimizer.step()
        with torch.no_grad():
            for target, critic in zip(self.targets, self.critics):
                for t, c in zip(target.parameters(), critic.parameters()):
                    t.lerp_(c, self.tau)
        return critic_loss.item()


seed = 3517
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
env, agent, memory = Arm(seed), SAC(12, 64, 4), ReplayBuffer(5000)
state = env.reset()
for step in range(170):
    action = agent.take_action(state)
    next_state, reward, terminated, truncated = env.step(action)
    memory.add(state, action, reward, next_state, float(terminated))
    state = env.reset() if terminated or truncated else next_state
    if step >= 100:
        loss = agent.update(*memory.sample(64))
print("critic loss", loss, "alpha", agent.log_alpha.exp().item())
