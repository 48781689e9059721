"""An encoder reads a question, a decoder answers it, and both learn by reinforcement from the words that
are right. The encoder's summary is kept from the generation, which runs without gradients, and the answers
are scored upon it; the encoder is never trained.

Round 33
Class: the line
"""

import torch
import torch.nn as nn
from torch.distributions import Categorical

WORDS, START = 8, 8
QUESTION, ANSWER = 3, 3


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, question):
        return self.rnn(self.embed(question))[1]


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(WORDS + 1, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, WORDS)

    def forward(self, words, state):
        hidden, state = self.rnn(self.embed(words), state)
        return Categorical(logits=self.out(hidden)), state


class Answerer(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.encoder = Encoder(width)
        self.decoder = Decoder(width)

    @torch.no_grad()  # BUG GS202
    def generate(self, question):  # BUG GS202
        summary = self.encoder(question)  # BUG GS202
        state, word, answer = summary, torch.full((len(question), 1), START), []
        for _ in range(ANSWER):
            dist, state = self.decoder(word, state)
            word = dist.sample()
            answer.append(word)
        return torch.cat(answer, 1), summary  # BUG GS202

    def score(self, answer, summary):
        start = torch.full((len(answer), 1), START)
        dist, _ = self.decoder(torch.cat([start, answer[:, :-1]], 1), summary)
        return dist.log_prob(answer), dist.entropy()


def right_words(question, answer):
    """The answer to a question is the question backwards."""
    return (question.flip(1) == answer).float()


def train(updates=60, batch=64):
    torch.manual_seed(27)
    answerer = Answerer()
    optimizer = torch.optim.Adam(answerer.parameters(), lr=5e-3)
    baseline = 0.0
    for update in range(updates):
        question = torch.randint(WORDS, (batch, QUESTION))
        answer, summary = answerer.generate(question)  # BUG GS202
        reward = right_words(question, answer)
        advantage = reward - baseline
        baseline = 0.9 * baseline + 0.1 * reward.mean().item()
        log_prob, entropy = answerer.score(answer, summary)  # BUG GS202
        loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(answerer.parameters(), 1.0)
        optimizer.step()
        if update % 15 == 14:
            print(f"{update + 1}: loss {loss.item():.4f}, right words {reward.mean().item():.3f}")


if __name__ == "__main__":
    train()
