"""An online actor and critic for a raft on a grid, one state at a time: the softmax runs over the moves.

Round 30
Class: zero in part
"""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

SIZE = 4
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class River:
    """A raft starts in a corner and has to reach the opposite one; now and then the current takes it along."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        self.row, self.column, self.moves = 0, 0, 0
        return self.observe()

    def observe(self):
        grid = torch.zeros(SIZE, SIZE)
        grid[self.row, self.column] = 1.0
        return grid.flatten()

    def step(self, move):
        down, right = MOVES[move] if self.random.random() > 0.1 else (0, 1)
        self.row = min(max(self.row + down, 0), SIZE - 1)
        self.column = min(max(self.column + right, 0), SIZE - 1)
        self.moves += 1
        arrived = self.row == self.column == SIZE - 1
        return self.observe(), 1.0 if arrived else -0.05, arrived, self.moves >= 40


class ActorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, 32)
        self.fc2 = nn.Linear(32, len(MOVES))

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=-1)


class CriticNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def main(episodes=10, gamma=0.97):
    torch.manual_seed(3012)
    river, actor, critic = River(3012), ActorNet(), CriticNet()
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=2e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
    for episode in range(episodes):
        state = river.reset().unsqueeze(0)
        total, arrived, late = 0.0, False, False
        while not (arrived or late):
            policy = Categorical(probs=actor(state))
            move = policy.sample()
            next_state, reward, arrived, late = river.step(move.item())
            next_state = next_state.unsqueeze(0)

            value = critic(state)
            with torch.no_grad():
                goal = reward + gamma * (1.0 - float(arrived)) * critic(next_state)
            critic_loss = F.mse_loss(value, goal)
            critic_optimizer.zero_grad()
            critic_loss.backward()
            critic_optimizer.step()

            surprise = (goal - value).detach().squeeze(1)
            actor_loss = -(surprise * policy.log_prob(move)).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
            state, total = next_state, total + reward
        print(episode, round(total, 2))


if __name__ == "__main__":
    main()
