"""The repaired twin of a program in which the following goes wrong.
A DQN agent for scientific simulations whose get_action asks the target network, which only follows the
trained one by small steps, so experience is gathered by a policy that hardly moves. After
exalearn/EXARL#247.

Round 37
Class: meaning
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LEARNER_DEFAULTS = {
    "gamma": 0.97,
    "epsilon": 0.5,
    "epsilon_min": 0.05,
    "epsilon_decay": 0.995,
    "learning_rate": 0.002,
    "batch_size": 32,
    "tau": 0.01,
    "dense": [48, 48],
    "seed": 3725,
}


def build_model(inputs, outputs, dense):
    layers, width = [], inputs
    for units in dense:
        layers += [nn.Linear(width, units), nn.ReLU()]
        width = units
    return nn.Sequential(*layers, nn.Linear(width, outputs))


class DQN:
    def __init__(self, env, params):
        self.env, self.params = env, params
        self.epsilon = params["epsilon"]
        inputs, outputs = env.observation_space.shape[0], env.action_space.n
        self.model = build_model(inputs, outputs, params["dense"])
        self.target_model = build_model(inputs, outputs, params["dense"])
        self.target_model.load_state_dict(self.model.state_dict())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=params["learning_rate"])
        self.memory = deque(maxlen=2000)

    def remember(self, state, action, reward, next_state, terminated):
        self.memory.append((state, action, reward, next_state, terminated))

    def get_action(self, state):
        """Epsilon-greedy; the policy type says which of the two it was."""
        if random.random() <= self.epsilon:
            return random.randrange(self.env.action_space.n), 0
        with torch.no_grad():
            act_values = self.model(torch.as_tensor(state).unsqueeze(0))
        return act_values.argmax(1).item(), 1

    def generate_data(self):
        states, actions, rewards, next_states, ends = zip(
            *random.sample(self.memory, self.params["batch_size"])
        )
        next_states = torch.from_numpy(np.stack(next_states))
        with torch.no_grad():
            future = self.target_model(next_states).max(dim=1).values
        alive = 1.0 - torch.tensor(ends, dtype=torch.float32)
        targets = torch.tensor(rewards, dtype=torch.float32) + self.params["gamma"] * alive * future
        return torch.from_numpy(np.stack(states)), torch.tensor(actions), targets

    def train(self, batch):
        states, actions, targets = batch
        predicted = self.model(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(predicted, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def target_train(self):
        with torch.no_grad():
            for weight, target in zip(self.model.parameters(), self.target_model.parameters()):
                target.mul_(1 - self.params["tau"]).add_(self.params["tau"] * weight)

    def epsilon_adj(self):
        self.epsilon = max(self.params["epsilon_min"], self.epsilon * self.params["epsilon_decay"])


def run_exarl(env, agent, n_episodes, n_steps):
    rewards = []
    for episode in range(n_episodes):
        state, _ = env.reset(seed=agent.params["seed"] if episode == 0 else None)
        total = 0.0
        for _ in range(n_steps):
            action, _ = agent.get_action(state)
            next_state, reward, terminated, truncated, _ = env.step(action)
            agent.remember(state, action, reward, next_state, terminated)
            total += reward
            state = next_state
            if len(agent.memory) >= 64:
                agent.train(agent.generate_data())
                agent.target_train()
                agent.epsilon_adj()
            if terminated or truncated:
                break
        rewards.append(total)
    return rewards


random.seed(LEARNER_DEFAULTS["seed"])
np.random.seed(LEARNER_DEFAULTS["seed"])
torch.manual_seed(LEARNER_DEFAULTS["seed"])
env = gym.make("CartPole-v1")
rewards = run_exarl(env, DQN(env, LEARNER_DEFAULTS), n_episodes=14, n_steps=25)
print("mean reward", np.mean(rewards[-5:]))
