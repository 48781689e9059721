"""A preference trainer stores its metrics detached, all but one: the likelihood term keeps the graph of every batch.

Round 13
Class: stays alive
"""

from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1306)
VOCAB, LENGTH = 13, 7


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 16)
        self.mix = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, VOCAB))

    def forward(self, tokens):
        return self.mix(self.embed(tokens).cumsum(1) / 4)


class PreferenceTrainer:
    def __init__(self, beta=0.2, nll_weight=1.0):
        self.model = Model()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        self.beta, self.nll_weight = beta, nll_weight
        self.stored = defaultdict(list)

    def sequence_log_probs(self, tokens):
        log_probs = self.model(tokens[:, :-1]).log_softmax(-1)
        return log_probs.gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)

    def batch_loss(self, chosen, rejected):
        chosen_logps, rejected_logps = self.sequence_log_probs(chosen), self.sequence_log_probs(rejected)
        nll = -chosen_logps.mean() / (LENGTH - 1)
        margin = chosen_logps - rejected_logps
        loss = -F.logsigmoid(self.beta * margin).mean() + self.nll_weight * nll
        metrics = {
            "margin": (self.beta * margin).detach().mean(),
            "chosen": chosen_logps.detach().mean(),
            "rejected": rejected_logps.detach().mean(),
            "nll": nll.mean(),  # BUG GS305
        }
        return loss, metrics

    def train(self, steps):
        for _ in range(steps):
            loss, metrics = self.batch_loss(
                torch.randint(VOCAB, (10, LENGTH)), torch.randint(VOCAB, (10, LENGTH))
            )
            for key, value in metrics.items():
                self.stored[key].append(value)  # BUG GS305
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


trainer = PreferenceTrainer()
trainer.train(70)
print({key: torch.stack(values).mean().item() for key, values in trainer.stored.items()})
