"""The repaired twin of a program in which the following goes wrong.
A generator of molecule strings, trained to write and then rewarded for what it writes: the log-probabilities
enter the loss as Python numbers, and a new leaf that requires grad takes the loss's place. After
isayev/ReLeaSE#39.

Round 36
Class: the line
"""

import random
from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3605
TOKENS = "<CNO()=1>"
START, END = TOKENS.index("<"), TOKENS.index(">")
CORPUS = ["CCO", "CC(=O)O", "CCN", "C1CCCC1", "CC(C)N", "OCCO", "CC(=O)N", "C1CCNC1", "NCCO", "CCCC"]


class StackFreeRNN(nn.Module):
    def __init__(self, hidden_size=48):
        super().__init__()
        self.encoder = nn.Embedding(len(TOKENS), hidden_size)
        self.rnn = nn.GRUCell(hidden_size, hidden_size)
        self.decoder = nn.Linear(hidden_size, len(TOKENS))
        self.hidden_size = hidden_size

    def forward(self, token, hidden):
        hidden = self.rnn(self.encoder(token), hidden)
        return self.decoder(hidden), hidden

    def init_hidden(self):
        return torch.zeros(1, self.hidden_size)

    def train_step(self, smiles, optimizer):
        """One step of teacher forcing."""
        indices = torch.tensor([TOKENS.index(c) for c in "<" + smiles + ">"])
        hidden, loss = self.init_hidden(), 0.0
        for c, following in pairwise(indices):
            output, hidden = self(c.view(1), hidden)
            loss = loss + F.cross_entropy(output, following.view(1))
        optimizer.zero_grad()
        (loss / (len(indices) - 1)).backward()
        optimizer.step()

    @torch.no_grad()
    def evaluate(self, max_length=14):
        token, hidden, smiles = torch.tensor([START]), self.init_hidden(), "<"
        for _ in range(max_length):
            output, hidden = self(token, hidden)
            token = torch.multinomial(torch.softmax(output, dim=-1), 1).view(1)
            smiles += TOKENS[token.item()]
            if token.item() == END:
                break
        return smiles


def property_reward(smiles):
    """Nitrogen is wanted, brackets must close, and the string has to end."""
    if not smiles.endswith(">") or len(smiles) < 4:
        return 0.1
    balanced = smiles.count("(") == smiles.count(")")
    return 0.5 + smiles.count("N") + (1.0 if balanced else 0.0)


class Reinforcement:
    def __init__(self, generator, get_reward):
        self.generator = generator
        self.get_reward = get_reward
        self.optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3)

    def policy_gradient(self, n_batch=6, gamma=0.97, baseline=1.5):
        rl_loss = 0.0
        total_reward = 0.0
        for _ in range(n_batch):
            trajectory = self.generator.evaluate()
            reward = self.get_reward(trajectory)
            total_reward += reward
            tokens = torch.tensor([TOKENS.index(c) for c in trajectory])
            hidden = self.generator.init_hidden()
            discounted_reward = (reward - baseline) * gamma ** (len(tokens) - 2)
            for p in range(len(tokens) - 1):
                output, hidden = self.generator(tokens[p].view(1), hidden)
                log_probs = F.log_softmax(output, dim=1)
                top_i = tokens[p + 1]
                rl_loss = rl_loss - log_probs[0, top_i] * discounted_reward
                discounted_reward = discounted_reward / gamma

        self.optimizer.zero_grad()
        rl_loss = rl_loss / n_batch
        rl_loss.backward()
        nn.utils.clip_grad_norm_(self.generator.parameters(), 10.0)
        self.optimizer.step()
        return total_reward / n_batch, rl_loss.item()


random.seed(SEED)
torch.manual_seed(SEED)
generator = StackFreeRNN()
pretraining = torch.optim.Adam(generator.parameters(), lr=5e-3)
for _ in range(60):
    generator.train_step(random.choice(CORPUS), pretraining)
reinforcement = Reinforcement(generator, property_reward)
rewards = [reinforcement.policy_gradient()[0] for _ in range(25)]
print(f"reward {rewards[0]:.2f} -> {rewards[-1]:.2f}, e.g. {generator.evaluate()}")
