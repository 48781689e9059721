"""A small language model writes sums under a grammar, which forbids words with minus infinity. Their entropy is zero
times minus infinity; the product is cleaned up where it has become undefined, so that the number is right. The
gradient of the product is still undefined, and one step of the bonus is enough to lose the model.

Round 21
Class: magnitude
"""

import torch
import torch.nn.functional as F
from torch import nn

WORDS = ["0", "1", "2", "3", "4", "5", "+", "="]
DIGITS, PLUS, EQUALS = 6, 6, 7
LENGTH = 5  # digit + digit = digit


def allowed(position):
    """At even positions stands a digit, at the others what the grammar wants there."""
    mask = torch.zeros(len(WORDS), dtype=torch.bool)
    if position % 2 == 0:
        mask[:DIGITS] = True
    else:
        mask[PLUS if position == 1 else EQUALS] = True
    return mask


GRAMMAR = torch.stack([allowed(position) for position in range(LENGTH)])


class Writer(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.start = nn.Parameter(0.1 * torch.randn(dim))
        self.embed, self.rnn = nn.Embedding(len(WORDS), dim), nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, len(WORDS))

    def forward(self, words):
        start = self.start.expand(len(words), 1, -1)
        hidden, _ = self.rnn(torch.cat([start, self.embed(words)], 1))
        logits = self.head(hidden)
        return logits.masked_fill(~GRAMMAR[: logits.shape[1]], float("-inf"))

    @torch.no_grad()
    def write(self, n):
        words = torch.zeros(n, 0, dtype=torch.long)
        for _ in range(LENGTH):
            probs = self(words)[:, -1].softmax(-1)
            words = torch.cat([words, torch.multinomial(probs, 1)], 1)
        return words


def entropy_from_logits(logits, chunk_size=64):
    entropies = []
    for chunk in logits.flatten(0, -2).split(chunk_size):
        logps = F.log_softmax(chunk, dim=-1)
        terms = torch.exp(logps) * logps  # BUG GS503
        entropies.append(-terms.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).sum(-1))  # BUG GS503
    return torch.cat(entropies).view(logits.shape[:-1])


def reward(words):
    """One for a true sum, and something for a near one."""
    miss = (words[:, 0] + words[:, 2] - words[:, 4]).abs()
    return (miss == 0).float() - 0.1 * miss.float()


class GRPOTrainer:
    def __init__(self, model, group=64, beta=0.2, epsilon=0.2, lr=3e-3):
        self.model, self.group, self.beta, self.epsilon = model, group, beta, epsilon
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)

    def per_word_log_probs(self, logits, words):
        return F.log_softmax(logits, -1).gather(-1, words[..., None]).squeeze(-1)

    def step(self):
        words = self.model.write(self.group)
        rewards = reward(words)
        advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-4))[:, None]
        with torch.no_grad():
            old = self.per_word_log_probs(self.model(words[:, :-1]), words)
        for _ in range(2):
            logits = self.model(words[:, :-1])
            ratio = (self.per_word_log_probs(logits, words) - old).exp()
            gain = torch.min(ratio * advantages, ratio.clamp(1 - self.epsilon, 1 + self.epsilon) * advantages)
            entropy = entropy_from_logits(logits).mean()
            loss = -gain.mean() - self.beta * entropy
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return rewards.mean().item(), entropy.item()


def main():
    torch.manual_seed(72)
    trainer = GRPOTrainer(Writer())
    for step in range(45):
        mean, entropy = trainer.step()
        if step % 15 == 14:
            text = "".join(WORDS[i] for i in trainer.model.write(1)[0])
            print(f"step {step + 1}: reward {mean:.3f}, entropy {entropy:.3f}, {text}")


main()
