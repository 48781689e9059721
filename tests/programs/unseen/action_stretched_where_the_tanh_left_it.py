"""A deterministic actor multiplies the output of its tanh by the range of the action in place. The tanh keeps its output
for backward, so the actor's loss raises "modified by an inplace operation ... output 0 of TanhBackward"; the critic's
does not, as the target actor runs without gradients. The scaling is that of udacity/deep-reinforcement-learning#24,
the error that of QasimWani/RL-Unity#5.

Round 25
Class: the line
"""

import copy
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SEED, GAMMA, TAU = 2502, 0.98, 0.01
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class ActorNetwork(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, action_dim)
        self.max_action = max_action

    def forward(self, state):
        x = F.relu(self.l1(state))
        x = F.relu(self.l2(x))
        action = torch.tanh(self.l3(x))
        action *= self.max_action  # BUG GS101
        return action


class CriticNetwork(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)

    def forward(self, state, action):
        x = F.relu(self.l1(torch.cat([state, action], dim=1)))
        return self.l3(F.relu(self.l2(x)))


class DDPG:
    def __init__(self, state_dim, action_dim, max_action):
        self.actor = ActorNetwork(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic = CriticNetwork(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.max_action = max_action

    @torch.no_grad()
    def select_action(self, state, noise=0.2):
        action = self.actor(torch.from_numpy(state).unsqueeze(0)).squeeze(0).numpy()
        action = action + np.random.normal(0, noise * self.max_action, size=action.shape)
        return action.clip(-self.max_action, self.max_action).astype(np.float32)

    def train(self, memory, batch_size=64):
        batch = random.sample(memory, batch_size)
        state, action, reward, next_state, not_done = (
            torch.as_tensor(np.array(x), dtype=torch.float32) for x in zip(*batch)
        )
        reward, not_done = reward.unsqueeze(1), not_done.unsqueeze(1)
        with torch.no_grad():
            target_q = self.critic_target(next_state, self.actor_target(next_state))
            target_q = reward + not_done * GAMMA * target_q
        critic_loss = F.mse_loss(self.critic(state, action), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(state, self.actor(state)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, p_target in zip(net.parameters(), target.parameters()):
                p_target.data.copy_(TAU * p.data + (1 - TAU) * p_target.data)


if __name__ == "__main__":
    env = gym.make("Pendulum-v1")
    agent = DDPG(3, 1, float(env.action_space.high[0]))
    replay = deque(maxlen=10_000)
    state, _ = env.reset(seed=SEED)
    for step in range(260):
        action = agent.select_action(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        replay.append((state, action, reward / 8, next_state, float(not terminated)))
        state = env.reset()[0] if terminated or truncated else next_state
        if len(replay) >= 200:
            agent.train(replay)
