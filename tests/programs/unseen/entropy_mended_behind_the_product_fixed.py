"""A card player with forbidden moves: their logits are minus infinity, and the entropy's zero times minus infinity is
replaced by zero where it comes out. The value is right; the gradient of the product is not a number all the same.
Repaired here.

Round 18
Class: magnitude
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HAND, SUITS = 6, 4


class Tricks:
    """Follow suit if you can; the higher of two cards takes the trick."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def deal(self):
        deck = self.rng.permutation(SUITS * 8)
        self.hand, self.theirs = list(deck[:HAND]), list(deck[HAND : 2 * HAND])
        return self.observe()

    def observe(self):
        self.led = self.theirs.pop()
        view = np.zeros(2 * SUITS * 8, dtype=np.float32)
        view[self.hand] = 1
        view[SUITS * 8 + self.led] = 1
        legal = np.zeros(SUITS * 8, dtype=bool)
        following = [card for card in self.hand if card // 8 == self.led // 8]
        legal[following or self.hand] = True
        return view, legal

    def play(self, card):
        self.hand.remove(card)
        won = card // 8 == self.led // 8 and card > self.led
        return float(won), None if not self.hand else self.observe()


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * SUITS * 8, 64), nn.ReLU())
        self.policy, self.value = nn.Linear(64, SUITS * 8), nn.Linear(64, 1)

    def forward(self, view, legal):
        x = self.trunk(view)
        logits = self.policy(x).masked_fill(~legal, float("-inf"))
        return F.log_softmax(logits, dim=-1), self.value(x).squeeze(-1)


def entropy_from_logps(logps):
    products = logps.exp() * logps.masked_fill(logps.isinf(), 0.0)
    return -products.sum(-1)


def play_hand(game, player):
    steps, seen = [], game.deal()
    while seen is not None:
        view, legal = (torch.from_numpy(x) for x in seen)
        with torch.no_grad():
            logps, _ = player(view, legal)
        card = int(torch.multinomial(logps.exp(), 1))
        reward, seen = game.play(card)
        steps.append((view, legal, card, reward))
    return steps


def to_batch(hands, gamma=0.98):
    views, legals, cards, returns = [], [], [], []
    for steps in hands:
        total = 0.0
        for view, legal, card, reward in reversed(steps):
            total = reward + gamma * total
            views.append(view)
            legals.append(legal)
            cards.append(card)
            returns.append(total)
    return torch.stack(views), torch.stack(legals), torch.tensor(cards), torch.tensor(returns)


torch.manual_seed(1821)
game, player = Tricks(1821), Player()
optimizer = torch.optim.Adam(player.parameters(), lr=1e-3)
for update in range(40):
    views, legals, cards, returns = to_batch([play_hand(game, player) for _ in range(6)])
    logps, values = player(views, legals)
    taken = logps.gather(1, cards[:, None]).squeeze(1)
    policy_loss = -(taken * (returns - values.detach())).mean()
    value_loss = F.mse_loss(values, returns)
    loss = policy_loss + 0.5 * value_loss - 0.01 * entropy_from_logps(logps).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        print(update, loss.item(), returns.mean().item())
