"""A Q-learner that builds its networks by a policy class with a features extractor. The extractor is made once and handed to
the network and to its target alike: the target's head is slow, its eyes are those of the learner.
Repaired here.

Round 20
Class: weights
"""

import random
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class GridExtractor(nn.Module):
    """A small picture of the board to a vector."""

    def __init__(self, channels, features_dim=32):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.linear = nn.Sequential(nn.Linear(8 * 16, features_dim), nn.ReLU())

    def forward(self, observations):
        return self.linear(self.cnn(observations))


class QNetwork(nn.Module):
    def __init__(self, features_extractor, features_dim, n_actions):
        super().__init__()
        self.features_extractor = features_extractor
        self.q_net = nn.Sequential(nn.Linear(features_dim, 32), nn.ReLU(), nn.Linear(32, n_actions))

    def forward(self, obs):
        return self.q_net(self.features_extractor(obs))


class DQNPolicy(nn.Module):
    def __init__(self, channels, n_actions, lr):
        super().__init__()
        self.channels, self.n_actions = channels, n_actions
        self.q_net = self.make_q_net()
        self.q_net_target = self.make_q_net()
        self.q_net_target.load_state_dict(self.q_net.state_dict())
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=lr)

    def make_q_net(self):
        return QNetwork(GridExtractor(self.channels), 32, self.n_actions)

    @torch.no_grad()
    def predict(self, obs):
        return self.q_net(torch.from_numpy(obs).unsqueeze(0)).argmax(1).item()


class Mushrooms:
    """A board of four by four: a walker, a mushroom to be found, a fly agaric to be avoided."""

    MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def reset(self):
        self.places = random.sample([(i, j) for i in range(4) for j in range(4)], 3)
        return self.observe()

    def observe(self):
        board = np.zeros((3, 4, 4), dtype=np.float32)
        for channel, (i, j) in enumerate(self.places):
            board[channel, i, j] = 1.0
        return board

    def step(self, action):
        (i, j), (di, dj) = self.places[0], self.MOVES[action]
        self.places[0] = (min(3, max(0, i + di)), min(3, max(0, j + dj)))
        if self.places[0] == self.places[1]:
            return self.observe(), 1.0, True
        if self.places[0] == self.places[2]:
            return self.observe(), -1.0, True
        return self.observe(), -0.02, False


class DQN:
    def __init__(
        self, env, gamma=0.95, lr=1e-3, batch_size=32, learning_starts=60, target_update_interval=40
    ):
        self.env, self.gamma, self.batch_size = env, gamma, batch_size
        self.learning_starts, self.target_update_interval = learning_starts, target_update_interval
        self.policy = DQNPolicy(3, 4, lr)
        self.replay_buffer = deque(maxlen=3000)

    def train(self):
        rows = zip(*random.sample(self.replay_buffer, self.batch_size))
        obs, actions, rewards, next_obs, dones = (torch.from_numpy(np.array(x)) for x in rows)
        with torch.no_grad():
            next_q_values = self.policy.q_net_target(next_obs).max(dim=1).values
            target_q_values = rewards.float() + (1 - dones.float()) * self.gamma * next_q_values
        current_q_values = self.policy.q_net(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(current_q_values, target_q_values)
        self.policy.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.q_net.parameters(), 10)
        self.policy.optimizer.step()
        return loss.item()

    def learn(self, total_timesteps):
        obs, since_reset, losses = self.env.reset(), 0, []
        for step in range(1, total_timesteps + 1):
            explore = random.random() < max(0.1, 1 - step / 300)
            action = random.randrange(4) if explore else self.policy.predict(obs)
            next_obs, reward, done = self.env.step(action)
            since_reset += 1
            self.replay_buffer.append((obs, action, reward, next_obs, done))
            over = done or since_reset == 25
            obs, since_reset = (self.env.reset(), 0) if over else (next_obs, since_reset)
            if step > self.learning_starts and step % 2 == 0:
                losses.append(self.train())
            if step % self.target_update_interval == 0:
                self.policy.q_net_target.load_state_dict(self.policy.q_net.state_dict())
        return losses


random.seed(2017)
torch.manual_seed(2017)
losses = DQN(Mushrooms()).learn(total_timesteps=360)
print("loss", sum(losses[:20]) / 20, "->", sum(losses[-20:]) / 20)
