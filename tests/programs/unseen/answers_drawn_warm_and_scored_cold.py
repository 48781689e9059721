"""Tokens are drawn from logits divided by a temperature, and scored so; the trained forward does not divide.

Round 13
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1305)
VOCAB, PROMPT, ANSWER, GROUP = 17, 3, 6, 8


class TinyLM(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def log_probs_from_logits(logits, labels, temperature=1.0):
    return (logits / temperature).log_softmax(-1).gather(-1, labels[..., None]).squeeze(-1)


class Actor:
    def __init__(self, model, temperature):
        self.model, self.temperature = model, temperature

    @torch.no_grad()
    def generate(self, prompts):
        tokens, scores = prompts, []
        for _ in range(ANSWER):
            logits = self.model(tokens)[:, -1] / self.temperature
            nxt = torch.multinomial(logits.softmax(-1), 1)
            scores.append(log_probs_from_logits(logits, nxt.squeeze(-1)))  # BUG GS803
            tokens = torch.cat([tokens, nxt], 1)
        return tokens, torch.stack(scores, 1)

    def log_probs(self, tokens):
        logits = self.model(tokens)[:, PROMPT - 1 : -1]
        return log_probs_from_logits(logits, tokens[:, PROMPT:])  # BUG GS803


actor = Actor(TinyLM(), temperature=0.7)
optimizer = torch.optim.AdamW(actor.model.parameters(), lr=3e-3)
for rollout in range(25):
    prompts = torch.randint(VOCAB, (4, PROMPT)).repeat_interleave(GROUP, 0)
    tokens, old = actor.generate(prompts)
    rewards = (tokens[:, PROMPT:] % 3 == 0).float().mean(1).view(4, GROUP)
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).view(
        -1, 1
    )
    for _ in range(2):
        ratio = (actor.log_probs(tokens) - old).exp()
        loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.model.parameters(), 1.0)
        optimizer.step()
