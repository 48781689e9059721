"""DDPG for a swarm of reachers: both losses are computed first, then the critic steps, and the actor's backward goes
through a critic whose weights were written over. After QasimWani/RL-Unity#5.

Round 35
Class: forward errors
"""

import copy
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3519
BUFFER_SIZE, BATCH_SIZE = 4000, 64
GAMMA, TAU = 0.98, 5e-3
LR_ACTOR, LR_CRITIC = 5e-4, 1e-3

Experience = namedtuple("Experience", "state action reward next_state done")


class Reachers:
    """Five balls on a table, each pushed in two directions toward its own hole."""

    num_agents, state_size, action_size = 5, 6, 2

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.place = self.rng.uniform(-1, 1, (5, 2))
        self.speed = np.zeros((5, 2))
        self.hole = self.rng.uniform(-1, 1, (5, 2))
        return self.states()

    def states(self):
        return np.hstack([self.place, self.speed, self.hole]).astype(np.float32)

    def step(self, actions):
        self.speed = 0.8 * self.speed + 0.1 * np.clip(actions, -1, 1)
        self.place = self.place + self.speed
        gap = np.linalg.norm(self.place - self.hole, axis=1)
        done = gap > 4.0
        return self.states(), (-gap - 5.0 * done).astype(np.float32), done


class Actor(nn.Module):
    def __init__(self, state_size, action_size, units=64):
        super().__init__()
        self.fc1 = nn.Linear(state_size, units)
        self.fc2 = nn.Linear(units, action_size)

    def forward(self, state):
        return torch.tanh(self.fc2(F.relu(self.fc1(state))))


class Critic(nn.Module):
    def __init__(self, state_size, action_size, units=64):
        super().__init__()
        self.fcs1 = nn.Linear(state_size, units)
        self.fc2 = nn.Linear(units + action_size, units)
        self.fc3 = nn.Linear(units, 1)

    def forward(self, state, action):
        x = torch.cat((F.relu(self.fcs1(state)), action), dim=1)
        return self.fc3(F.relu(self.fc2(x)))


class OUNoise:
    def __init__(self, shape, theta=0.15, sigma=0.2):
        self.state, self.theta, self.sigma = np.zeros(shape), theta, sigma

    def sample(self):
        self.state += -self.theta * self.state + self.sigma * np.random.standard_normal(self.state.shape)
        return self.state


class Agent:
    def __init__(self, env):
        self.actor_local = Actor(env.state_size, env.action_size)
        self.critic_local = Critic(env.state_size, env.action_size)
        self.actor_target = copy.deepcopy(self.actor_local)
        self.critic_target = copy.deepcopy(self.critic_local)
        self.actor_optimizer = torch.optim.Adam(self.actor_local.parameters(), lr=LR_ACTOR)
        self.critic_optimizer = torch.optim.Adam(self.critic_local.parameters(), lr=LR_CRITIC)
        self.noise = OUNoise((env.num_agents, env.action_size))
        self.memory = deque(maxlen=BUFFER_SIZE)

    def act(self, states):
        with torch.no_grad():
            actions = self.actor_local(torch.from_numpy(states)).numpy()
        return np.clip(actions + self.noise.sample(), -1, 1)

    def step(self, states, actions, rewards, next_states, dones):
        for row in zip(states, actions, rewards, next_states, dones):
            self.memory.append(Experience(*row))
        if len(self.memory) >= 4 * BATCH_SIZE:
            return self.learn(self.sample())
        return None

    def sample(self):
        columns = zip(*random.sample(self.memory, BATCH_SIZE))
        s, a, r, n, d = (torch.tensor(np.array(c), dtype=torch.float32) for c in columns)
        return s, a, r.unsqueeze(1), n, d.unsqueeze(1)

    def learn(self, experiences):
        states, actions, rewards, next_states, dones = experiences
        with torch.no_grad():
            q_next = self.critic_target(next_states, self.actor_target(next_states))
            q_targets = rewards + GAMMA * q_next * (1 - dones)
        critic_loss = F.mse_loss(self.critic_local(states, actions), q_targets)
        actor_loss = -self.critic_local(states, self.actor_local(states)).mean()  # BUG GS102

        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        nn.utils.clip_grad_norm_(self.critic_local.parameters(), 1.0)
        self.critic_optimizer.step()  # BUG GS102

        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        self.soft_update(self.critic_local, self.critic_target)
        self.soft_update(self.actor_local, self.actor_target)
        return critic_loss.item(), actor_loss.item()

    @staticmethod
    def soft_update(local, target):
        for t, w in zip(target.parameters(), local.parameters()):
            t.data.copy_(TAU * w.data + (1.0 - TAU) * t.data)


def ddpg(n_episodes=5, max_t=50):
    env = Reachers(SEED)
    agent, scores, losses = Agent(env), [], None
    for _ in range(n_episodes):
        states, score = env.reset(), 0.0
        for _ in range(max_t):
            actions = agent.act(states)
            next_states, rewards, dones = env.step(actions)
            losses = agent.step(states, actions, rewards, next_states, dones) or losses
            states, score = next_states, score + rewards.mean()
            if dones.any():
                break
        scores.append(float(score))
    return scores, losses


if __name__ == "__main__":
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    print(ddpg())
