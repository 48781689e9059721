"""A generator of bracket strings is trained with REINFORCE and an entropy bonus, letter by letter. The
log-probability of every drawn letter is multiplied with the discounted reward as a tensor.

Round 33
Class: the line
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ALPHABET = "<()CNO>"
START, END = ALPHABET.index("<"), ALPHABET.index(">")


class BracketGenerator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), hidden)
        self.rnn = nn.GRUCell(hidden, hidden)
        self.head = nn.Linear(hidden, len(ALPHABET))
        self.hidden = hidden

    def init_hidden(self):
        return torch.zeros(1, self.hidden)

    def forward(self, letter, hidden):
        hidden = self.rnn(self.embedding(letter), hidden)
        return self.head(hidden), hidden


def score(string):
    """One for every closed pair of brackets, minus one for every bracket that is left over."""
    depth, pairs, wrong = 0, 0, 0
    for letter in string:
        if letter == "(":
            depth += 1
        elif letter == ")" and depth:
            depth, pairs = depth - 1, pairs + 1
        elif letter == ")":
            wrong += 1
    return pairs - wrong - depth


class Reinforcement:
    def __init__(self, generator, lr=3e-3):
        self.generator = generator
        self.optimizer = torch.optim.Adam(generator.parameters(), lr=lr)
        self.baseline = 0.0

    @torch.no_grad()
    def generate(self, limit=14):
        letter, hidden, letters = torch.tensor([START]), self.generator.init_hidden(), [START]
        while len(letters) <= limit and letters[-1] != END:
            logits, hidden = self.generator(letter, hidden)
            letter = torch.multinomial(F.softmax(logits, 1), 1).squeeze(1)
            letters.append(letter.item())
        return letters

    def policy_gradient(self, batch=6, gamma=0.97, entropy_weight=0.02):
        rl_loss, entropy, total, count = torch.zeros(()), torch.zeros(()), 0.0, 0
        for _ in range(batch):
            letters = self.generate()
            reward = score("".join(ALPHABET[i] for i in letters))
            total += reward
            discounted = reward - self.baseline
            hidden = self.generator.init_hidden()
            for p in range(len(letters) - 1):
                logits, hidden = self.generator(torch.tensor([letters[p]]), hidden)
                log_probs = F.log_softmax(logits, dim=1)
                weight = discounted * gamma ** (len(letters) - 2 - p)
                rl_loss = rl_loss - log_probs[0, letters[p + 1]] * weight
                entropy = entropy - (log_probs.exp() * log_probs).sum()
                count += 1
        loss = rl_loss / batch - entropy_weight * entropy / count
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
        self.optimizer.step()
        self.baseline += 0.1 * (total / batch - self.baseline)
        return total / batch


if __name__ == "__main__":
    torch.manual_seed(5)
    reinforcement = Reinforcement(BracketGenerator())
    history = []
    for i in range(60):
        history.append(reinforcement.policy_gradient())
        if i % 20 == 19:
            print(f"{i + 1}: mean score {np.mean(history[-20:]):.3f}")
