"""A speaker tells a listener in bits what it sees, and both are trained through the bits. The bits are hard, with a
gradient straight through; the method that should give it has a letter too many, and the function has no backward at
all.

Round 18
Class: custom functions
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1819)
COLOURS, BITS, BATCH = 6, 4, 32


class HardBits(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits):
        ctx.save_for_backward(logits)
        return (logits > 0).float()

    @staticmethod
    def backwards(ctx, grad_output):  # BUG GS211
        (logits,) = ctx.saved_tensors
        soft = torch.sigmoid(logits)
        return grad_output * soft * (1 - soft)


class Channel(nn.Module):
    """Soft and noisy in warm-up, hard afterwards."""

    def __init__(self, noise=0.5):
        super().__init__()
        self.noise = noise

    def forward(self, logits, hard):
        noisy = logits + self.noise * torch.randn_like(logits)
        return HardBits.apply(noisy) if hard else torch.sigmoid(noisy)


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(COLOURS, 32), nn.ReLU(), nn.Linear(32, BITS))

    def forward(self, card):
        return self.net(F.one_hot(card, COLOURS).float())


class Listener(nn.Module):
    """Values of pointing at each of three cards, given the message and the cards."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BITS + COLOURS, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, bits, cards):
        shown = F.one_hot(cards, COLOURS).float()
        heard = bits[:, None].expand(-1, cards.shape[1], -1)
        return self.net(torch.cat([heard, shown], -1)).squeeze(-1)


class Team:
    def __init__(self):
        self.speaker, self.listener, self.channel = Speaker(), Listener(), Channel()
        both = [*self.speaker.parameters(), *self.listener.parameters()]
        self.optimizer = torch.optim.RMSprop(both, lr=2e-3)

    def play(self, epsilon, hard):
        cards = torch.rand(BATCH, COLOURS).argsort(1)[:, :3]
        meant = torch.randint(3, (BATCH,))
        secret = cards.gather(1, meant[:, None]).squeeze(1)
        values = self.listener(self.channel(self.speaker(secret), hard), cards)
        explore = torch.rand(BATCH) < epsilon
        pointed = torch.where(explore, torch.randint(3, (BATCH,)), values.argmax(1))
        return values.gather(1, pointed[:, None]).squeeze(1), (pointed == meant).float()

    def update(self, epsilon, hard):
        value, reward = self.play(epsilon, hard)
        loss = F.mse_loss(value, reward)  # one step long: the reward is the whole return
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()


team = Team()
for update in range(80):
    won = team.update(epsilon=0.2, hard=update >= 20)
    if update % 20 == 19:
        print(update + 1, won)
