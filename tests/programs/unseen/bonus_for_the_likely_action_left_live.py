"""Munchausen DQN adds the scaled log-policy of the taken action to the reward. To save a pass it is made from the values
that the online network has just put out, live, so the target moves with what it is to judge. The missing no_grad of
philtabor/Deep-Q-Learning-Paper-To-Code#16 in a term that only this target has.

Round 25
Class: the line
"""

import copy
import random
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

Experience = namedtuple("Experience", "state action reward next_state done")
SEED, GAMMA, M_TAU, M_ALPHA, SOFT = 2516, 0.97, 0.1, 0.9, 0.01
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class QNetwork(nn.Module):
    def __init__(self, state_size, action_size, layer_size=64):
        super().__init__()
        self.head_1 = nn.Linear(state_size, layer_size)
        self.ff_1 = nn.Linear(layer_size, layer_size)
        self.ff_2 = nn.Linear(layer_size, action_size)

    def forward(self, state):
        return self.ff_2(F.relu(self.ff_1(F.relu(self.head_1(state)))))


class MDQNAgent:
    def __init__(self, state_size, action_size):
        self.action_size = action_size
        self.qnetwork_local = QNetwork(state_size, action_size)
        self.qnetwork_target = copy.deepcopy(self.qnetwork_local)
        self.optimizer = torch.optim.Adam(self.qnetwork_local.parameters(), lr=1e-3)
        self.memory = deque(maxlen=2000)

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(self.action_size)
        with torch.no_grad():
            return self.qnetwork_local(torch.from_numpy(state)).argmax().item()

    def batch(self, size=48):
        experiences = Experience(*zip(*random.sample(self.memory, size)))
        states = torch.from_numpy(np.stack(experiences.state))
        actions = torch.tensor(experiences.action).unsqueeze(1)
        rewards = torch.tensor(experiences.reward, dtype=torch.float32).unsqueeze(1)
        next_states = torch.from_numpy(np.stack(experiences.next_state))
        dones = torch.tensor(experiences.done, dtype=torch.float32).unsqueeze(1)
        return states, actions, rewards, next_states, dones

    def learn(self):
        states, actions, rewards, next_states, dones = self.batch()
        q_values = self.qnetwork_local(states)

        with torch.no_grad():
            next_q = self.qnetwork_target(next_states)
            next_log_pi = F.log_softmax(next_q / M_TAU, dim=1)
            soft = (next_log_pi.exp() * (next_q - M_TAU * next_log_pi)).sum(1, keepdim=True)
        log_pi = F.log_softmax(q_values / M_TAU, dim=1)  # BUG GS301
        munchausen = (M_TAU * log_pi.gather(1, actions)).clamp(min=-1)  # BUG GS301
        q_targets = rewards + M_ALPHA * munchausen + GAMMA * soft * (1 - dones)  # BUG GS301

        loss = F.mse_loss(q_values.gather(1, actions), q_targets)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.qnetwork_local.parameters(), 1.0)
        self.optimizer.step()
        self.soft_update()
        return loss.item()

    def soft_update(self):
        pairs = zip(self.qnetwork_target.parameters(), self.qnetwork_local.parameters())
        for target_param, local_param in pairs:
            target_param.data.copy_(SOFT * local_param.data + (1.0 - SOFT) * target_param.data)


def run(steps=260, warmup=160):
    env = gym.make("CartPole-v1")
    agent = MDQNAgent(4, 2)
    state, _ = env.reset(seed=SEED)
    for frame in range(steps):
        action = agent.act(state, eps=max(0.1, 1 - frame / 150))
        next_state, reward, terminated, truncated, _ = env.step(action)
        agent.memory.append(Experience(state, action, reward, next_state, terminated))
        state = env.reset()[0] if terminated or truncated else next_state
        if frame >= warmup:
            agent.learn()


if __name__ == "__main__":
    run()
