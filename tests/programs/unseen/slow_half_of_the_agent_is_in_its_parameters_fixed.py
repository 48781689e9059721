"""An agent that is a module holds the online and the slow network; the optimizer is made of the online one, and the next
values are read without gradients. See AgileRL/AgileRL#63 and philtabor/Deep-Q-Learning-Paper-To-Code#9.

Round 25
Class: weights
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

CONFIG = {
    "seed": 2514,
    "gamma": 0.97,
    "lr": 1e-3,
    "batch": 32,
    "capacity": 1000,
    "warmup": 150,
    "steps": 260,
    "sync": 25,
    "eps": 0.3,
}


def build_net(n_obs, n_actions):
    return nn.Sequential(
        nn.Linear(n_obs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions)
    )


class Memory:
    def __init__(self, capacity, n_obs, rng):
        self.rng, self.n, self.capacity = rng, 0, capacity
        self.obs = np.zeros((capacity, n_obs), dtype=np.float32)
        self.next_obs = np.zeros((capacity, n_obs), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.terminals = np.zeros(capacity, dtype=np.float32)

    def store(self, obs, action, reward, next_obs, terminal):
        i = self.n % self.capacity
        self.obs[i], self.actions[i], self.rewards[i] = obs, action, reward
        self.next_obs[i], self.terminals[i] = next_obs, terminal
        self.n += 1

    def sample(self, size):
        i = self.rng.integers(min(self.n, self.capacity), size=size)
        columns = (self.obs, self.actions, self.rewards, self.next_obs, self.terminals)
        return [torch.as_tensor(c[i]) for c in columns]


class DQNAgent(nn.Module):
    def __init__(self, n_obs, n_actions, config, rng):
        super().__init__()
        self.config, self.n_actions, self.rng = config, n_actions, rng
        self.q_eval = build_net(n_obs, n_actions)
        self.q_next = build_net(n_obs, n_actions)
        self.q_next.load_state_dict(self.q_eval.state_dict())
        self.optimizer = torch.optim.Adam(self.q_eval.parameters(), lr=config["lr"])
        self.loss = nn.SmoothL1Loss()
        self.learn_step_counter = 0

    def choose_action(self, observation):
        if self.rng.random() < self.config["eps"]:
            return int(self.rng.integers(self.n_actions))
        with torch.no_grad():
            return int(self.q_eval(torch.as_tensor(observation)).argmax())

    def replace_target_network(self):
        if self.learn_step_counter % self.config["sync"] == 0:
            self.q_next.load_state_dict(self.q_eval.state_dict())

    def learn(self, memory):
        self.optimizer.zero_grad()
        self.replace_target_network()
        states, actions, rewards, states_, terminals = memory.sample(self.config["batch"])
        indices = np.arange(len(actions))
        q_pred = self.q_eval(states)[indices, actions]
        with torch.no_grad():
            q_next = self.q_next(states_).max(dim=1)[0]
            q_target = rewards + self.config["gamma"] * (1 - terminals) * q_next
        loss = self.loss(q_pred, q_target)
        loss.backward()
        self.optimizer.step()
        self.learn_step_counter += 1
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(CONFIG["seed"])
    rng = np.random.default_rng(CONFIG["seed"])
    env = gym.make("Acrobot-v1")
    agent = DQNAgent(6, 3, CONFIG, rng)
    memory = Memory(CONFIG["capacity"], 6, rng)
    observation, _ = env.reset(seed=CONFIG["seed"])
    for step in range(CONFIG["steps"]):
        action = agent.choose_action(observation)
        observation_, reward, terminated, truncated, _ = env.step(action)
        memory.store(observation, action, reward, observation_, terminated)
        observation = env.reset()[0] if terminated or truncated else observation_
        if step >= CONFIG["warmup"]:
            agent.learn(memory)
