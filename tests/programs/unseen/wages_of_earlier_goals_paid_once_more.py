"""A hierarchical DQN, whose upper level sets goals and is paid what the world gave until the goal was reached:
the sum is set to zero once a game and not for each goal, so every goal is paid for those before it. After
datawhalechina/easy-rl#43.

Round 36
Class: meaning
"""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class Config:
    seed = 3628
    n_rooms = 7
    n_states = 2 * n_rooms  # the second half: the last room was seen before
    n_actions = 2
    gamma = 0.95
    lr = 2e-3
    batch_size = 24
    memory_capacity = 2000
    sync_every = 20
    episodes = 45
    max_steps = 30


class StochasticChain:
    """Seven rooms in a row; the first one ends the game and pays a hundred times more if the last one was seen before.
    Grapes lie in the rooms on the right, and picking them pays a little at once."""

    def __init__(self, cfg):
        self.cfg = cfg

    def reset(self):
        self.room, self.seen, self.t = 3, False, 0
        return self.state()

    def state(self):
        return self.room + self.cfg.n_rooms * self.seen

    def step(self, action):
        self.t += 1
        went_right = action == 1 and random.random() < 0.8
        self.room = min(self.room + 1, self.cfg.n_rooms - 1) if went_right else self.room - 1
        self.seen = self.seen or self.room == self.cfg.n_rooms - 1
        terminated = self.room == 0
        reward = (1.0 if self.seen else 0.01) if terminated else (0.1 if self.room >= 4 else 0.0)
        return self.state(), reward, terminated, self.t >= self.cfg.max_steps


class MLP(nn.Module):
    def __init__(self, n_in, n_out, hidden_dim=48):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(n_in, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, n_out))

    def forward(self, x):
        return self.fc(x)


def one_hot(index, n):
    return np.eye(n, dtype=np.float32)[index]


class DQN:
    """One level of the hierarchy."""

    def __init__(self, n_in, n_out, cfg):
        self.cfg, self.n_out, self.updates = cfg, n_out, 0
        self.policy_net, self.target_net = MLP(n_in, n_out), MLP(n_in, n_out)
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.optimizer = optim.Adam(self.policy_net.parameters(), lr=cfg.lr)
        self.memory = deque(maxlen=cfg.memory_capacity)

    def choose(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.n_out)
        with torch.no_grad():
            return self.policy_net(torch.from_numpy(state)[None]).argmax(dim=1).item()

    def push(self, state, choice, reward, next_state, discount):
        self.memory.append((state, choice, reward, next_state, discount))

    def update(self):
        if len(self.memory) < self.cfg.batch_size:
            return None
        states, choices, rewards, next_states, discounts = zip(
            *random.sample(self.memory, self.cfg.batch_size)
        )
        rewards = torch.tensor(rewards, dtype=torch.float32)
        discounts = torch.tensor(discounts, dtype=torch.float32)
        q_values = self.policy_net(torch.from_numpy(np.stack(states)))
        q_values = q_values.gather(1, torch.tensor(choices).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            next_q_values = self.target_net(torch.from_numpy(np.stack(next_states))).max(1).values
            expected = rewards + discounts * next_q_values
        loss = nn.functional.smooth_l1_loss(q_values, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.cfg.sync_every == 0:
            self.target_net.load_state_dict(self.policy_net.state_dict())
        return loss.item()


class HierarchicalDQN:
    def __init__(self, cfg):
        self.cfg = cfg
        self.meta = DQN(cfg.n_states, cfg.n_rooms, cfg)
        self.controller = DQN(cfg.n_states + cfg.n_rooms, cfg.n_actions, cfg)


def train_episode(cfg, env, agent, epsilon):
    state, over, total = one_hot(env.reset(), cfg.n_states), False, 0.0
    extrinsic_reward = 0.0  # BUG GS806
    meta_losses = []
    while not over:
        meta_state = state
        goal = agent.meta.choose(meta_state, epsilon)
        discount, reached = 1.0, False
        while not over and not reached:
            goal_state = np.concatenate([state, one_hot(goal, cfg.n_rooms)])
            action = agent.controller.choose(goal_state, epsilon)
            index, reward, terminated, truncated = env.step(action)
            total += reward
            extrinsic_reward += discount * reward  # BUG GS806
            discount *= cfg.gamma
            over, reached = terminated or truncated, index % cfg.n_rooms == goal
            next_state = one_hot(index, cfg.n_states)
            next_goal_state = np.concatenate([next_state, one_hot(goal, cfg.n_rooms)])
            onward = 0.0 if terminated or reached else cfg.gamma
            agent.controller.push(goal_state, action, float(reached), next_goal_state, onward)
            state = next_state
            if env.t % 4 == 0:
                agent.controller.update()
        onward = 0.0 if terminated else discount
        agent.meta.push(meta_state, goal, extrinsic_reward, state, onward)  # BUG GS806
        meta_losses.append(agent.meta.update())
    return total, meta_losses[-1]


cfg = Config()
random.seed(cfg.seed)
np.random.seed(cfg.seed)
torch.manual_seed(cfg.seed)
env, agent = StochasticChain(cfg), HierarchicalDQN(cfg)
for i_ep in range(cfg.episodes):
    total, meta_loss = train_episode(cfg, env, agent, epsilon=max(0.1, 1.0 - i_ep / 30))
    if i_ep % 15 == 14:
        print(f"episode {i_ep + 1}: reward {total:.2f}, meta loss {meta_loss}")
