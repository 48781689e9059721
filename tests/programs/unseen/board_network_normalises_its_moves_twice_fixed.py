"""AlphaZero for noughts and crosses: the policy head ends in logits, the search takes their softmax, and the loss is
CrossEntropyLoss. See BentouAI/AlphaZero-Chain-Reaction#2.

Round 25
Class: axes
"""

import math
import random

import numpy as np
import torch
from torch import nn

SEED, SIMULATIONS, GAMES, C_PUCT = 2526, 10, 12, 1.5
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


def legal(board):
    return [i for i in range(9) if board[i] == 0]


def play(board, move):
    """The board after the move, as the other player sees it."""
    nxt = list(board)
    nxt[move] = 1
    return tuple(-x for x in nxt)


def outcome(board):
    """For the player to move: -1 if the other has just won, 0 for a draw, None if the game goes on."""
    if any(all(board[i] == -1 for i in line) for line in LINES):
        return -1.0
    return None if legal(board) else 0.0


class BoardNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.value = nn.Sequential(nn.Linear(64, 1), nn.Tanh())
        self.policy = nn.Linear(64, 9)

    def forward(self, planes):
        h = self.body(planes)
        return self.policy(h), self.value(h).squeeze(1)  # moves, then the value of the player to move


def encode(boards):
    boards = torch.tensor(boards)
    return torch.cat([(boards == 1).float(), (boards == -1).float()], 1)


class MCTS:
    def __init__(self, net):
        self.net, self.prior, self.visits, self.total = net, {}, {}, {}

    @torch.no_grad()
    def expand(self, board):
        pi, value = self.net(encode([board]))
        pi = torch.softmax(pi[0], 0).numpy()
        moves = legal(board)
        mass = sum(pi[m] for m in moves)
        self.prior[board] = {m: pi[m] / mass for m in moves}
        self.visits[board] = dict.fromkeys(moves, 0)
        self.total[board] = dict.fromkeys(moves, 0.0)
        return value.item()

    def search(self, board):
        """The value of the board for the player to move."""
        end = outcome(board)
        if end is not None:
            return end
        if board not in self.prior:
            return self.expand(board)
        n, w, p = self.visits[board], self.total[board], self.prior[board]
        root = math.sqrt(sum(n.values()) + 1)
        move = max(p, key=lambda m: (w[m] / n[m] if n[m] else 0.0) + C_PUCT * p[m] * root / (1 + n[m]))
        value = -self.search(play(board, move))
        n[move] += 1
        w[move] += value
        return value

    def policy(self, board):
        for _ in range(SIMULATIONS):
            self.search(board)
        target = np.zeros(9, dtype=np.float32)
        for move, count in self.visits[board].items():
            target[move] = count
        return target / target.sum()


def self_play(net):
    board, history, mcts = (0,) * 9, [], MCTS(net)
    while outcome(board) is None:
        pi = mcts.policy(board)
        history.append((board, pi))
        board = play(board, int(np.random.choice(9, p=pi / pi.sum())))
    z, examples = outcome(board), []
    for seen, pi in reversed(history):
        z = -z  # the player who moved from `seen` is the other one
        examples.append((seen, pi, z))
    return examples


net = BoardNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
policy_loss_fn, value_loss_fn = nn.CrossEntropyLoss(), nn.MSELoss()
memory = []
for game in range(GAMES):
    memory += self_play(net)
    for _ in range(4):
        boards, pis, zs = zip(*random.sample(memory, min(32, len(memory))))
        pi, value = net(encode(boards))
        loss = policy_loss_fn(pi, torch.tensor(np.array(pis)))
        loss = loss + value_loss_fn(value, torch.tensor(zs))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
