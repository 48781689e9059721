"""A DQN with prioritised replay stores the flag of the end, samples it and does not use it: the target adds the value
of a state to the last reward of an episode, too.

Round 24
Class: meaning
"""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class DQN(nn.Module):
    def __init__(self, input_dim, output_dim):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(input_dim, 64), nn.ReLU(), nn.Linear(64, output_dim))

    def forward(self, state):
        return self.fc(state)


class PrioritizedBuffer:
    def __init__(self, max_size, alpha=0.6, beta=0.4):
        self.max_size, self.alpha, self.beta = max_size, alpha, beta
        self.buffer, self.priorities = [], []

    def push(self, state, action, reward, next_state, done):
        if len(self.buffer) == self.max_size:
            self.buffer.pop(0)
            self.priorities.pop(0)
        self.buffer.append((state, action, reward, next_state, done))
        self.priorities.append(max(self.priorities, default=1.0))

    def sample(self, batch_size):
        p = np.array(self.priorities) ** self.alpha
        p /= p.sum()
        indices = np.random.choice(len(p), batch_size, p=p)
        weights = (len(p) * p[indices]) ** -self.beta
        columns = zip(*(self.buffer[i] for i in indices))
        return *(np.array(c) for c in columns), indices, weights / weights.max()

    def update_priority(self, indices, errors):
        for i, error in zip(indices, errors):
            self.priorities[i] = float(error) + 1e-5


class PERAgent:
    def __init__(self, env, learning_rate=2e-3, gamma=0.98, tau=0.02):
        self.env, self.gamma, self.tau = env, gamma, tau
        self.replay_buffer = PrioritizedBuffer(max_size=1500)
        obs_dim, n_actions = env.observation_space.shape[0], env.action_space.n
        self.model = DQN(obs_dim, n_actions)
        self.target_model = DQN(obs_dim, n_actions)
        self.target_model.load_state_dict(self.model.state_dict())
        self.optimizer = optim.Adam(self.model.parameters(), lr=learning_rate)

    def get_action(self, state, eps=0.2):
        if random.random() < eps:
            return self.env.action_space.sample()
        with torch.no_grad():
            return self.model(torch.FloatTensor(state).unsqueeze(0)).argmax().item()

    def _td_error(self, states, actions, rewards, next_states, dones):
        states, next_states = torch.FloatTensor(states), torch.FloatTensor(next_states)
        actions, rewards = torch.LongTensor(actions), torch.FloatTensor(rewards)
        dones = torch.FloatTensor(dones)
        curr_Q = self.model(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            max_next_Q = self.target_model(next_states).max(1)[0]
            expected_Q = rewards + self.gamma * max_next_Q  # BUG GS805
        return expected_Q - curr_Q

    def update(self, batch_size):
        *transitions, indices, weights = self.replay_buffer.sample(batch_size)
        td_errors = self._td_error(*transitions)
        loss = (torch.FloatTensor(weights) * td_errors**2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.replay_buffer.update_priority(indices, td_errors.detach().abs())
        with torch.no_grad():
            for target_param, param in zip(self.target_model.parameters(), self.model.parameters()):
                target_param.copy_(self.tau * param + (1 - self.tau) * target_param)


random.seed(24)
np.random.seed(24)
torch.manual_seed(2410)
env = gym.make("CartPole-v1")
env.action_space.seed(24)
agent, episode_rewards = PERAgent(env), []
for episode in range(40):
    state, _ = env.reset(seed=episode)
    total, over = 0.0, False
    while not over and total < 150:
        action = agent.get_action(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        agent.replay_buffer.push(state, action, reward, next_state, terminated)
        if len(agent.replay_buffer.buffer) > 64:
            agent.update(32)
        state, over, total = next_state, terminated or truncated, total + reward
    episode_rewards.append(total)
print("rewards of the last ten episodes:", np.mean(episode_rewards[-10:]))
