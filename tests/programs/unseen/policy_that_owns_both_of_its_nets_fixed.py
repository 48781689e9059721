"""The repaired twin of a program in which the following goes wrong.
DQN as a policy object with its optimizer inside: the optimizer is given all the parameters of the policy,
the target network's too, and the target is computed with gradients on. After DLR-RM/stable-baselines3#1946.

Round 36
Class: stays alive
"""

import random
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import torch as th
from torch import nn
from torch.nn import functional as F


class ReplayBufferSamples(NamedTuple):
    observations: th.Tensor
    actions: th.Tensor
    next_observations: th.Tensor
    dones: th.Tensor
    rewards: th.Tensor


class ReplayBuffer:
    def __init__(self, size, obs_shape):
        self.size, self.pos, self.full = size, 0, False
        self.observations = np.zeros((size, *obs_shape), dtype=np.float32)
        self.next_observations = np.zeros((size, *obs_shape), dtype=np.float32)
        self.actions = np.zeros((size, 1), dtype=np.int64)
        self.rewards = np.zeros((size, 1), dtype=np.float32)
        self.dones = np.zeros((size, 1), dtype=np.float32)

    def add(self, obs, next_obs, action, reward, terminated):
        self.observations[self.pos], self.next_observations[self.pos] = obs, next_obs
        self.actions[self.pos], self.rewards[self.pos], self.dones[self.pos] = action, reward, terminated
        self.pos = (self.pos + 1) % self.size
        self.full = self.full or self.pos == 0

    def sample(self, batch_size):
        i = np.random.randint(0, self.size if self.full else self.pos, size=batch_size)
        columns = (self.observations, self.actions, self.next_observations, self.dones, self.rewards)
        return ReplayBufferSamples(*(th.as_tensor(c[i]) for c in columns))


class QNetwork(nn.Module):
    def __init__(self, n_obs, n_actions, net_arch=(64, 64)):
        super().__init__()
        layers, last = [], n_obs
        for width in net_arch:
            layers += [nn.Linear(last, width), nn.ReLU()]
            last = width
        self.q_net = nn.Sequential(*layers, nn.Linear(last, n_actions))

    def forward(self, obs):
        return self.q_net(obs)


class DQNPolicy(nn.Module):
    def __init__(self, observation_space, action_space, learning_rate):
        super().__init__()
        self.n_obs, self.n_actions = observation_space.shape[0], int(action_space.n)
        self._build(learning_rate)

    def _build(self, learning_rate):
        self.q_net = QNetwork(self.n_obs, self.n_actions)
        self.q_net_target = QNetwork(self.n_obs, self.n_actions)
        self.q_net_target.load_state_dict(self.q_net.state_dict())
        self.q_net_target.train(False)
        self.optimizer = th.optim.Adam(self.q_net.parameters(), lr=learning_rate)

    @th.no_grad()
    def predict(self, obs):
        return self.q_net(th.as_tensor(obs)[None]).argmax(dim=1).item()


def polyak_update(params, target_params, tau):
    with th.no_grad():
        for param, target_param in zip(params, target_params):
            target_param.mul_(1 - tau).add_(param, alpha=tau)


class DQN:
    def __init__(self, env, learning_rate=1e-3, learning_starts=100, gamma=0.99, tau=1.0, target_interval=40):
        self.env, self.gamma, self.tau = env, gamma, tau
        self.learning_starts, self.target_interval = learning_starts, target_interval
        self.policy = DQNPolicy(env.observation_space, env.action_space, learning_rate)
        self.replay_buffer = ReplayBuffer(2000, env.observation_space.shape)

    def train(self, batch_size=32):
        data = self.replay_buffer.sample(batch_size)
        with th.no_grad():
            next_q_values = self.policy.q_net_target(data.next_observations)
            next_q_values, _ = next_q_values.max(dim=1, keepdim=True)
            target_q_values = data.rewards + (1 - data.dones) * self.gamma * next_q_values

        current_q_values = self.policy.q_net(data.observations).gather(1, data.actions)
        loss = F.smooth_l1_loss(current_q_values, target_q_values)
        self.policy.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.q_net.parameters(), 10)
        self.policy.optimizer.step()
        return loss.item()

    def learn(self, total_timesteps, seed):
        obs, _ = self.env.reset(seed=seed)
        for step in range(1, total_timesteps + 1):
            epsilon = max(0.05, 1.0 - step / 200)
            action = random.randrange(2) if random.random() < epsilon else self.policy.predict(obs)
            next_obs, reward, terminated, truncated, _ = self.env.step(action)
            self.replay_buffer.add(obs, next_obs, action, reward, terminated)
            obs = self.env.reset()[0] if terminated or truncated else next_obs
            if step % self.target_interval == 0:
                polyak_update(self.policy.q_net.parameters(), self.policy.q_net_target.parameters(), self.tau)
            if step > self.learning_starts:
                loss = self.train()
        return loss


random.seed(3615)
np.random.seed(3615)
th.manual_seed(3615)
print("loss", DQN(gym.make("CartPole-v1")).learn(300, seed=3615))
