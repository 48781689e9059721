"""A token policy with clipped ratios. While collecting, the logits of the whole sequence are read with the tokens of the
answer alone; gather takes the shorter index without a word and reads the first places, which are the prompt's. The
update scores the answer at its own places.
Repaired here.

Round 17
Class: llm-rl
"""

from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1707)
VOCABULARY, PROMPT, ANSWER, BATCH = 13, 5, 4, 24
Memory = namedtuple("Memory", "sequence log_prob reward value")


def shift(logits):
    """Logits at a place score the token at that place; nothing scores the first."""
    return F.pad(logits[:, :-1], (0, 0, 1, 0))


def log_prob_of(logits, tokens):
    return F.log_softmax(logits, -1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


class ActorCritic(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.actor, self.critic = nn.Linear(width, VOCABULARY), nn.Linear(width, 1)

    def forward(self, sequence):
        hidden, _ = self.cell(self.embed(sequence))
        return self.actor(hidden), self.critic(hidden[:, PROMPT - 1]).squeeze(-1)

    @torch.no_grad()
    def generate(self, prompt):
        sequence = prompt
        for _ in range(ANSWER):
            logits, _ = self(sequence)
            drawn = torch.multinomial(F.softmax(logits[:, -1], -1), 1)
            sequence = torch.cat([sequence, drawn], 1)
        return sequence


def reward_model(sequence):
    """Answers should repeat the first token of their prompt, or at least be even."""
    answer = sequence[:, PROMPT:]
    return (answer == sequence[:, :1]).float().mean(1) + 0.3 * (answer % 2 == 0).float().mean(1)


class Trainer:
    def __init__(self, model, epochs=3, clip=0.2):
        self.model, self.epochs, self.clip = model, epochs, clip
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    @torch.no_grad()
    def collect(self):
        prompt = torch.randint(VOCABULARY, (BATCH, PROMPT))
        sequence = self.model.generate(prompt)
        logits, value = self.model(sequence)
        log_prob = log_prob_of(shift(logits), sequence)[:, -ANSWER:]
        return Memory(sequence, log_prob, reward_model(sequence), value)

    def losses(self, memory):
        logits, value = self.model(memory.sequence)
        log_prob = log_prob_of(shift(logits), memory.sequence)[:, -ANSWER:]
        advantage = memory.reward - memory.value
        advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-6)).unsqueeze(1)
        ratio = (log_prob - memory.log_prob).exp()
        clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
        policy = -torch.min(ratio * advantage, clipped * advantage).mean()
        places = F.log_softmax(logits[:, PROMPT - 1 : -1], -1)
        entropy = -(places.exp() * places).sum(-1).mean()
        return policy - 0.01 * entropy, F.mse_loss(value, memory.reward)

    def fit(self, rounds):
        for number in range(rounds):
            memory = self.collect()
            for _ in range(self.epochs):
                policy, value = self.losses(memory)
                self.optimizer.zero_grad()
                (policy + 0.5 * value).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            if number % 5 == 0:
                print(number, "reward", round(memory.reward.mean().item(), 3))


Trainer(ActorCritic()).fit(rounds=20)
