"""The repaired twin of a program in which the following goes wrong.
A character GRU is pretrained on bracket strings and then fine-tuned with REINFORCE; each log-probability
enters the loss as a Python number, so the generator receives no gradient. After isayev/ReLeaSE#39.

Round 37
Class: zero in part
"""

import random
from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3701
ALPHABET = "<>()[]ab"
START, STOP = ALPHABET.index("<"), ALPHABET.index(">")


class CharGenerator(nn.Module):
    def __init__(self, hidden_size=32):
        super().__init__()
        self.hidden_size = hidden_size
        self.encoder = nn.Embedding(len(ALPHABET), hidden_size)
        self.rnn = nn.GRUCell(hidden_size, hidden_size)
        self.decoder = nn.Linear(hidden_size, len(ALPHABET))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=4e-3)

    def init_hidden(self):
        return torch.zeros(1, self.hidden_size)

    def forward(self, char, hidden):
        hidden = self.rnn(self.encoder(torch.tensor([char])), hidden)
        return self.decoder(hidden), hidden

    @torch.no_grad()
    def evaluate(self, max_len=14):
        hidden, char, word = self.init_hidden(), START, [START]
        for _ in range(max_len):
            logits, hidden = self(char, hidden)
            char = torch.multinomial(F.softmax(logits, dim=1), 1).item()
            word.append(char)
            if char == STOP:
                break
        return word

    def fit(self, words, n_iterations):
        for _ in range(n_iterations):
            word = [ALPHABET.index(c) for c in random.choice(words)]
            hidden, loss = self.init_hidden(), 0.0
            for here, following in pairwise(word):
                logits, hidden = self(here, hidden)
                loss = loss + F.cross_entropy(logits, torch.tensor([following]))
            self.optimizer.zero_grad()
            (loss / (len(word) - 1)).backward()
            self.optimizer.step()


def balance(word):
    """Ten for a well-formed string with a bracket, less for one that never closes."""
    text, stack = "".join(ALPHABET[c] for c in word[1:-1]), []
    if word[-1] != STOP or not text:
        return -1.0
    for c in text:
        if c in "([":
            stack.append(c)
        elif c in ")]" and (not stack or "([".index(stack.pop()) != ")]".index(c)):
            return 0.0
    return 1.0 + 0.2 * len(text) if not stack else 0.0


class Reinforcement:
    def __init__(self, generator, get_reward):
        self.generator, self.get_reward = generator, get_reward
        self.baseline = 0.0

    def policy_gradient(self, n_batch=8, grad_clipping=5.0):
        rl_loss = torch.zeros(1, requires_grad=True)
        total_reward = 0.0
        for _ in range(n_batch):
            trajectory = self.generator.evaluate()
            reward = self.get_reward(trajectory)
            advantage = reward - self.baseline
            total_reward += reward
            hidden = self.generator.init_hidden()
            for p in range(len(trajectory) - 1):
                output, hidden = self.generator(trajectory[p], hidden)
                log_probs = F.log_softmax(output, dim=1)
                top_i = trajectory[p + 1]
                rl_loss = rl_loss - log_probs[0, top_i] * advantage
        rl_loss = rl_loss / n_batch
        self.baseline = 0.9 * self.baseline + 0.1 * total_reward / n_batch
        self.generator.optimizer.zero_grad()
        rl_loss.backward()
        nn.utils.clip_grad_norm_(self.generator.parameters(), grad_clipping)
        self.generator.optimizer.step()
        return total_reward / n_batch, rl_loss.item()


random.seed(SEED)
torch.manual_seed(SEED)
generator = CharGenerator()
generator.fit(["<(a)>", "<[b]>", "<(a)[b]>", "<([a])>", "<a(b)>"], n_iterations=15)
agent = Reinforcement(generator, balance)
history = [agent.policy_gradient()[0] for _ in range(30)]
print("reward", sum(history[-5:]) / 5)
