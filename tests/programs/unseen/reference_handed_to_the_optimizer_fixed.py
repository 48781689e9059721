"""Policy and reference are kept in one module whose parameters all go to the optimizer; the reference is scored live.
Repaired here.

Round 10
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1023)
VOCAB = 12


def language_model():
    return nn.Sequential(nn.Embedding(VOCAB, 16), nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, VOCAB))


class Tuner(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy, self.reference = language_model(), language_model()
        self.reference.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=2e-3)

    def score(self, model, tokens):
        return F.log_softmax(model(tokens[:, :-1]), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)

    def step(self, tokens, advantage):
        logp = self.score(self.policy, tokens)
        with torch.no_grad():
            fixed = self.score(self.reference, tokens)
        gap = fixed - logp
        loss = -((logp - logp.detach()).exp() * advantage - 0.2 * (gap.exp() - gap - 1)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


tuner = Tuner()
for update in range(40):
    tokens = torch.randint(VOCAB, (16, 7))
    reward = (tokens[:, 1:] == 3).float().mean(1)
    tuner.step(tokens, (reward - reward.mean())[:, None])
