"""A DQN trainer with masks of possible actions and a switch for double Q-learning: without the switch the
largest value of the next state is read from the current network, and the target network, though synced, is
never used. After facebookresearch/ReAgent#88.

Round 37
Class: weights
"""

import random
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3728


@dataclass
class RLParameters:
    gamma: float = 0.95
    epsilon: float = 0.3
    target_update_rate: float = 0.02
    maxq_learning: bool = True
    double_q_learning: bool = False


@dataclass
class TrainingParameters:
    layers: list = field(default_factory=lambda: [9, 48, 48, 4])
    minibatch_size: int = 32
    learning_rate: float = 3e-3
    rl: RLParameters = field(default_factory=RLParameters)


class Gridworld:
    """Three by three; a move over the border is not possible, the pit and the goal end the walk."""

    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def reset(self):
        self.at, self.t = (0, 0), 0
        return self.features(), self.possible_actions()

    def features(self):
        state = np.zeros(9, dtype=np.float32)
        state[3 * self.at[0] + self.at[1]] = 1.0
        return state

    def possible_actions(self):
        inside = [0 <= self.at[0] + y < 3 and 0 <= self.at[1] + x < 3 for y, x in self.MOVES]
        return np.array(inside, dtype=np.float32)

    def step(self, action):
        move = self.MOVES[action if random.random() > 0.1 else random.randrange(4)]
        aim = (self.at[0] + move[0], self.at[1] + move[1])
        self.at = aim if all(0 <= c < 3 for c in aim) else self.at
        self.t += 1
        reward = {(2, 2): 1.0, (1, 1): -1.0}.get(self.at, -0.02)
        terminal = self.at in ((2, 2), (1, 1))
        return self.features(), self.possible_actions(), reward, terminal, self.t >= 20


def fully_connected(sizes):
    layers = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class DQNTrainerBase:
    ACTION_NOT_POSSIBLE_VAL = -1e9

    def get_max_q_values_with_target(self, q_values, q_values_target, possible_actions_mask):
        """The value of the best possible action, and its index."""
        q_values = q_values + self.ACTION_NOT_POSSIBLE_VAL * (1 - possible_actions_mask)
        q_values_target = q_values_target + self.ACTION_NOT_POSSIBLE_VAL * (1 - possible_actions_mask)
        if self.double_q_learning:
            max_indices = q_values.argmax(dim=1, keepdim=True)
            return q_values_target.gather(1, max_indices), max_indices
        max_q, max_indices = q_values.max(dim=1, keepdim=True)  # BUG GS307
        return max_q, max_indices


class DQNTrainer(DQNTrainerBase):
    def __init__(self, parameters):
        self.rl, self.minibatch_size = parameters.rl, parameters.minibatch_size
        self.double_q_learning = parameters.rl.double_q_learning
        self.q_network = fully_connected(parameters.layers)
        self.q_network_target = fully_connected(parameters.layers)
        self.q_network_target.load_state_dict(self.q_network.state_dict())
        self.q_network_optimizer = torch.optim.Adam(self.q_network.parameters(), lr=parameters.learning_rate)

    @torch.no_grad()
    def internal_prediction(self, state, possible):
        if random.random() < self.rl.epsilon:
            return random.choice(np.flatnonzero(possible).tolist())
        q = self.q_network(torch.from_numpy(state).unsqueeze(0))
        q = q + self.ACTION_NOT_POSSIBLE_VAL * (1 - torch.from_numpy(possible))
        return q.argmax(1).item()

    def get_detached_q_values(self, state):
        with torch.no_grad():
            return self.q_network(state), self.q_network_target(state)

    def train(self, batch):
        state, action, reward, next_state, possible_next, not_terminal = batch
        all_next_q, all_next_q_target = self.get_detached_q_values(next_state)
        next_q_values, _ = self.get_max_q_values_with_target(all_next_q, all_next_q_target, possible_next)
        target_q_values = reward + self.rl.gamma * next_q_values * not_terminal
        q_values = self.q_network(state).gather(1, action)
        td_loss = F.mse_loss(q_values, target_q_values)
        self.q_network_optimizer.zero_grad()
        td_loss.backward()
        self.q_network_optimizer.step()
        self.soft_update()
        return td_loss.item()

    def soft_update(self):
        tau = self.rl.target_update_rate
        with torch.no_grad():
            for t, s in zip(self.q_network_target.parameters(), self.q_network.parameters()):
                t.copy_(tau * s + (1.0 - tau) * t)


def as_batch(rows):
    state, action, reward, next_state, possible, terminal = (np.array(c) for c in zip(*rows))
    column = [torch.as_tensor(c, dtype=torch.float32).unsqueeze(1) for c in (reward, 1.0 - terminal)]
    states = [torch.as_tensor(c, dtype=torch.float32) for c in (state, next_state, possible)]
    return states[0], torch.as_tensor(action).unsqueeze(1), column[0], states[1], states[2], column[1]


random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
env, parameters = Gridworld(), TrainingParameters()
trainer, replay = DQNTrainer(parameters), []
state, possible = env.reset()
for step in range(500):
    action = trainer.internal_prediction(state, possible)
    next_state, next_possible, reward, terminal, timeout = env.step(action)
    replay.append((state, action, reward, next_state, next_possible, float(terminal)))
    state, possible = env.reset() if terminal or timeout else (next_state, next_possible)
    if step >= 100 and step % 2 == 0:
        loss = trainer.train(as_batch(random.sample(replay, parameters.minibatch_size)))
print("td loss", round(loss, 4))
