"""A policy learns noughts and crosses against an opponent who moves at random. The chances of the squares
that are taken are struck out in a new tensor.

Round 33
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Board:
    def __init__(self, rng):
        self.rng = rng
        self.squares = np.zeros(9, dtype=np.float32)

    def free(self):
        return np.flatnonzero(self.squares == 0)

    def won(self, player):
        return any(all(self.squares[i] == player for i in line) for line in LINES)

    def play(self, square):
        """Our move and the answer to it: reward and whether the game is over."""
        self.squares[square] = 1
        if self.won(1):
            return 1.0, True
        if len(self.free()) == 0:
            return 0.0, True
        self.squares[self.rng.choice(self.free())] = -1
        if self.won(-1):
            return -1.0, True
        return 0.0, len(self.free()) == 0


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 9))

    def forward(self, squares):
        planes = torch.cat([(squares == 1).float(), (squares == -1).float()], -1)
        legal = (squares == 0).float()
        probs = torch.softmax(self.layers(planes), dim=-1)
        probs = probs * legal
        probs = probs / probs.sum(-1, keepdim=True)
        return torch.distributions.Categorical(probs=probs)


def play_game(policy, rng):
    board, positions, moves, over = Board(rng), [], [], False
    while not over:
        position = torch.from_numpy(board.squares.copy())
        with torch.no_grad():
            move = policy(position).sample()
        positions.append(position)
        moves.append(move)
        reward, over = board.play(move.item())
    return positions, moves, reward


def main():
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    results = []
    for iteration in range(40):
        positions, moves, outcomes = [], [], []
        for _ in range(12):
            game_positions, game_moves, reward = play_game(policy, rng)
            positions += game_positions
            moves += game_moves
            outcomes += [reward] * len(game_moves)
            results.append(reward)
        outcome = torch.tensor(outcomes)
        log_prob = policy(torch.stack(positions)).log_prob(torch.stack(moves))
        loss = -(log_prob * (outcome - outcome.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 10 == 9:
            print(f"{iteration + 1}: mean result {np.mean(results[-120:]):.3f}")


main()
