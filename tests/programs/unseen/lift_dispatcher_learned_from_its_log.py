"""Q-learning for the dispatcher of a lift, trained on batches of a log that a random dispatcher has left behind. Moves
that the building forbids are left out of the maximum over the next ones.

Round 31
Class: meaning
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FLOORS, CAPACITY = 6, 3
UP, DOWN, OPEN = range(3)
ACTION_NOT_POSSIBLE_VAL = -1e9


@dataclass
class DQNTrainerParameters:
    gamma: float = 0.95
    learning_rate: float = 2e-3
    target_update_rate: float = 0.02
    double_q_learning: bool = False
    minibatch_size: int = 64
    minibatches: int = 400


class Lift:
    """People wait for the ride to the ground floor; the shift is over when the last of them has arrived."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.floor, self.aboard = 0, 0
        self.waiting = self.rng.integers(0, 3, size=FLOORS)
        self.waiting[0], self.waiting[-1] = 0, max(1, self.waiting[-1])
        return self.features(), self.possible()

    def features(self):
        place = np.eye(FLOORS, dtype=np.float32)[self.floor]
        return np.concatenate([place, self.waiting / 2, [self.aboard / CAPACITY]]).astype(np.float32)

    def possible(self):
        return np.array([self.floor < FLOORS - 1, self.floor > 0, True], dtype=np.float32)

    def step(self, action):
        delivered = 0
        if action == OPEN and self.floor == 0:
            delivered, self.aboard = self.aboard, 0
        elif action == OPEN:
            boarding = min(CAPACITY - self.aboard, self.waiting[self.floor])
            self.waiting[self.floor] -= boarding
            self.aboard += boarding
        else:
            self.floor += 1 if action == UP else -1
        over = bool(self.waiting.sum() + self.aboard == 0)
        return self.features(), self.possible(), delivered - 0.05 * self.waiting.sum() - 0.02, over


class TransitionLog:
    def __init__(self, rng, size=4000):
        lift, rows = Lift(rng), []
        state, possible = lift.reset()
        while len(rows) < size:
            action = rng.choice(3, p=possible / possible.sum())
            next_state, next_possible, reward, over = lift.step(action)
            rows.append((state, action, reward, next_state, next_possible, 1.0 - over))
            state, possible = lift.reset() if over else (next_state, next_possible)
        kinds = (np.float32, np.int64, np.float32, np.float32, np.float32, np.float32)
        self.columns = [torch.from_numpy(np.stack(c).astype(kind)) for c, kind in zip(zip(*rows), kinds)]
        for position in (1, 2, 5):
            self.columns[position] = self.columns[position].unsqueeze(1)

    def minibatch(self, size):
        index = torch.randint(len(self.columns[0]), (size,))
        return [column[index] for column in self.columns]


class FullyConnectedDQN(nn.Module):
    def __init__(self, state_dim, action_dim, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(state_dim, hidden), nn.ReLU(), nn.Linear(hidden, action_dim))

    def forward(self, state):
        return self.layers(state)


class DQNTrainer:
    def __init__(self, q_network, q_network_target, parameters):
        self.q_network, self.q_network_target, self.parameters = q_network, q_network_target, parameters
        self.q_network_target.load_state_dict(q_network.state_dict())
        self.optimizer = torch.optim.Adam(q_network.parameters(), lr=parameters.learning_rate)

    def get_max_q_values_with_target(self, q_values, q_values_target, possible_actions_mask):
        impossible = ACTION_NOT_POSSIBLE_VAL * (1.0 - possible_actions_mask)
        if self.parameters.double_q_learning:
            best = (q_values + impossible).argmax(dim=1, keepdim=True)
            return q_values_target.gather(1, best)
        return (q_values + impossible).max(dim=1, keepdim=True).values  # BUG GS301 GS307

    def soft_update(self):
        with torch.no_grad():
            for p, p_target in zip(self.q_network.parameters(), self.q_network_target.parameters()):
                p_target.lerp_(p, self.parameters.target_update_rate)

    def train(self, state, action, reward, next_state, next_possible, not_terminal):
        next_q = self.q_network(next_state)  # BUG GS301
        with torch.no_grad():
            next_q_target = self.q_network_target(next_state)
        max_q = self.get_max_q_values_with_target(next_q, next_q_target, next_possible)  # BUG GS301 GS307
        target_q = reward + self.parameters.gamma * not_terminal * max_q  # BUG GS301

        loss = F.mse_loss(self.q_network(state).gather(1, action), target_q)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.soft_update()
        return loss.item()


def main():
    torch.manual_seed(3108)
    parameters = DQNTrainerParameters()
    log = TransitionLog(np.random.default_rng(3108))
    state_dim = log.columns[0].shape[1]
    trainer = DQNTrainer(FullyConnectedDQN(state_dim, 3), FullyConnectedDQN(state_dim, 3), parameters)
    for number in range(parameters.minibatches):
        loss = trainer.train(*log.minibatch(parameters.minibatch_size))
        if number % 100 == 0:
            print(f"minibatch {number}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
