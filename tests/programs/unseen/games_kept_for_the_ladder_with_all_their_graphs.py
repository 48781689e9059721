"""Proximal policy optimisation by self-play over ore fields: the games are collected with gradients on, and those
that are kept for the ladder hold the values of every turn together with the graphs behind them.

Round 30
Class: stays alive
"""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3011)

FIELDS, TURNS, BOARDS, EPOCHS = 4, 6, 24, 3


class FieldNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * FIELDS + 1, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, FIELDS), nn.Linear(width, 1)

    def forward(self, board):
        h = self.body(board)
        return Categorical(logits=self.policy(h)), torch.tanh(self.value(h)).squeeze(-1)


@dataclass
class Game:
    boards: list = field(default_factory=list)
    moves: list = field(default_factory=list)
    logps: list = field(default_factory=list)
    values: list = field(default_factory=list)
    result: torch.Tensor | None = None

    def add(self, board, move, logp, value):
        self.boards.append(board)
        self.moves.append(move)
        self.logps.append(logp)  # BUG GS305
        self.values.append(value)  # BUG GS305


def seen_by(player, ore, robots, turn):
    mine = robots[:, player] - robots[:, 1 - player]
    return torch.cat([ore, mine, torch.full((BOARDS, 1), turn / TURNS)], dim=1)


def play(net):
    """Both sides send a robot to a field in every turn; more robots than the other side win its ore."""
    ore, robots = torch.rand(BOARDS, FIELDS), torch.zeros(BOARDS, 2, FIELDS)
    games = (Game(), Game())
    for turn in range(TURNS):
        sent = []
        for player, game in enumerate(games):
            board = seen_by(player, ore, robots, turn)
            policy, value = net(board)  # BUG GS305
            move = policy.sample()
            game.add(board, move, policy.log_prob(move), value)
            sent.append(F.one_hot(move, FIELDS).float())
        robots = robots + torch.stack(sent, dim=1)
    lead = ((robots[:, 0] - robots[:, 1]).sign() * ore).sum(dim=1)
    games[0].result, games[1].result = lead.sign(), -lead.sign()
    return games


def train(net, optimizer, games):
    boards = torch.cat([torch.stack(g.boards) for g in games], dim=1).flatten(0, 1)
    moves = torch.cat([torch.stack(g.moves) for g in games], dim=1).flatten()
    old_logps = torch.cat([torch.stack(g.logps) for g in games], dim=1).flatten().detach()
    old_values = torch.cat([torch.stack(g.values) for g in games], dim=1).flatten().detach()
    results = torch.cat([g.result.expand(TURNS, BOARDS) for g in games], dim=1).flatten()
    advantages = results - old_values
    for _ in range(EPOCHS):
        policy, values = net(boards)
        ratio = (policy.log_prob(moves) - old_logps).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        loss = -surrogate + 0.5 * F.mse_loss(values, results) - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()


def calibration(games):
    """How often the side that thought itself ahead in the first turn had won in the end."""
    with torch.no_grad():
        right = [(game.values[0].sign() == game.result).float().mean() for game in games]
    return torch.stack(right).mean().item()


net = FieldNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
ladder = []
for generation in range(25):
    games = play(net)
    train(net, optimizer, games)
    ladder.extend(games)  # BUG GS305
print(f"{len(ladder)} games, calibrated {calibration(ladder):.2f}")
