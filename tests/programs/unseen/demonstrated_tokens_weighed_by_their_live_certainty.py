"""Reinforcement of a token policy with demonstrations mixed in. A demonstrated token counts by p(1 - p), most where the
policy is undecided; the weight is made of the very loss that it weighs, and is differentiated with it.

Round 17
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1702)
DIGITS, BEGIN, TURNS, GROUPS, GROUP = 8, 8, 4, 3, 6


class Decoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(DIGITS + 1, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, DIGITS)

    def forward(self, ids):
        return self.out(self.cell(self.embed(ids))[0])


def demonstrations(size=10):
    """A count that goes on: 3, 4, 5, 6, 7 … with the first digit as the question."""
    first = torch.randint(DIGITS, (size, 1))
    answer = (first + torch.arange(1, TURNS + 1)) % DIGITS
    ids = torch.cat([first, torch.full((size, 1), BEGIN), answer], 1)
    labels = ids.clone()
    labels[:, :2] = -100
    return ids, labels


def token_losses(logits, labels):
    """The cross entropy of every labelled token, flat."""
    logits, labels = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
    return F.cross_entropy(logits, labels, reduction="none", ignore_index=-100), labels != -100


class MixedTrainer:
    def __init__(self, use_phi=True):
        self.model = Decoder()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=4e-3)
        self.use_phi, self.step = use_phi, 0

    @property
    def mu(self):
        """How much the demonstrations count: much at first, little later."""
        return max(0.1, 0.9 * (1 - self.step / 40))

    @torch.no_grad()
    def generate(self):
        first = torch.randint(DIGITS, (GROUPS, 1)).repeat_interleave(GROUP, 0)
        ids = torch.cat([first, torch.full_like(first, BEGIN)], 1)
        for _ in range(TURNS):
            ids = torch.cat([ids, torch.multinomial(self.model(ids)[:, -1].softmax(-1), 1)], 1)
        reward = (ids[:, 2:] == (first + torch.arange(1, TURNS + 1)) % DIGITS).float().mean(1)
        return ids, reward

    def answer_log_probs(self, ids):
        log_probs = F.log_softmax(self.model(ids[:, :-1])[:, 1:], -1)
        return log_probs.gather(-1, ids[:, 2:, None]).squeeze(-1)

    def reinforcement_loss(self, ids, reward):
        grouped = reward.view(GROUPS, GROUP)
        advantage = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        log_probs = self.answer_log_probs(ids)
        ratio = (log_probs - log_probs.detach()).exp()
        return -(ratio * advantage.flatten().unsqueeze(1)).mean()

    def demonstration_loss(self, ids, labels):
        losses, counted = token_losses(self.model(ids), labels)
        if self.use_phi:
            certainty = torch.exp(-losses)  # BUG GS303
            phi = certainty * (1 - certainty)  # BUG GS303
            losses = losses * phi  # BUG GS303
        return losses.sum() / counted.sum()

    def train_step(self):
        ids, reward = self.generate()
        loss = (1 - self.mu) * self.reinforcement_loss(ids, reward)
        loss = loss + self.mu * self.demonstration_loss(*demonstrations())
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return reward.mean().item()


trainer = MixedTrainer()
rewards = [trainer.train_step() for _ in range(60)]
print(f"right digits {sum(rewards[:10]) / 10:.2f} → {sum(rewards[-10:]) / 10:.2f}")
