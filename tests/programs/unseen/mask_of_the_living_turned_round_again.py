"""A dueling double DQN stores a mask that is one while the pole stands and nought when it has fallen, and the target turns
it round as if it were the done flag: the future counts where there is none and nowhere else. The mask mended in
cyoon1729/deep-Q-networks#5 and #6, put in the wrong way round.

Round 25
Class: meaning
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class BasicBuffer:
    def __init__(self, max_size):
        self.buffer = deque(maxlen=max_size)

    def push(self, state, action, reward, next_state, mask):
        self.buffer.append((state, action, reward, next_state, mask))

    def sample(self, batch_size):
        states, actions, rewards, next_states, masks = zip(*random.sample(self.buffer, batch_size))
        return (
            torch.from_numpy(np.stack(states)),
            torch.tensor(actions),
            torch.tensor(rewards, dtype=torch.float32),
            torch.from_numpy(np.stack(next_states)),
            torch.tensor(masks, dtype=torch.float32),
        )

    def __len__(self):
        return len(self.buffer)


class DuelingDQN(nn.Module):
    def __init__(self, input_dim, output_dim):
        super().__init__()
        self.feauture_layer = nn.Sequential(nn.Linear(input_dim, 64), nn.ReLU())
        self.value_stream = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
        self.advantage_stream = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, output_dim))

    def forward(self, state):
        features = self.feauture_layer(state)
        advantages = self.advantage_stream(features)
        return self.value_stream(features) + advantages - advantages.mean(dim=1, keepdim=True)


class DuelingAgent:
    def __init__(self, env, learning_rate=1e-3, gamma=0.95, buffer_size=5000, sync_every=20):
        self.env, self.gamma, self.sync_every, self.updates = env, gamma, sync_every, 0
        self.replay_buffer = BasicBuffer(max_size=buffer_size)
        self.model = DuelingDQN(4, 2)
        self.target_model = DuelingDQN(4, 2)
        self.target_model.load_state_dict(self.model.state_dict())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=learning_rate)

    def get_action(self, state, eps=0.2):
        if np.random.rand() < eps:
            return self.env.action_space.sample()
        with torch.no_grad():
            return self.model(torch.from_numpy(state).unsqueeze(0)).argmax().item()

    def compute_loss(self, batch):
        states, actions, rewards, next_states, masks = batch
        curr_q = self.model(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.model(next_states).argmax(dim=1, keepdim=True)
            next_q = self.target_model(next_states).gather(1, best).squeeze(1)
            expected_q = rewards + self.gamma * next_q * (1 - masks)  # BUG GS805
        return F.mse_loss(curr_q, expected_q)

    def update(self, batch_size):
        loss = self.compute_loss(self.replay_buffer.sample(batch_size))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target_model.load_state_dict(self.model.state_dict())


def mini_batch_train(env, agent, max_steps, batch_size, seed):
    state, _ = env.reset(seed=seed)
    for step in range(max_steps):
        action = agent.get_action(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        mask = 0.0 if terminated else 1.0  # BUG GS805
        agent.replay_buffer.push(state, action, reward, next_state, mask)
        if len(agent.replay_buffer) >= 200:
            agent.update(batch_size)
        state = env.reset()[0] if terminated or truncated else next_state


if __name__ == "__main__":
    SEED = 2527
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    cart_pole = gym.make("CartPole-v1")
    cart_pole.action_space.seed(SEED)
    mini_batch_train(cart_pole, DuelingAgent(cart_pole), max_steps=310, batch_size=48, seed=SEED)
