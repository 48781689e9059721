"""A trainer class: the reference it is given is the model that it trains; the KL is written with kl_div."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Trainer:
    def __init__(self, model, ref_model, beta=0.1):
        self.model, self.ref_model, self.beta = model, ref_model, beta
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self, tokens, advantage):
        x, y = tokens[:, :-1], tokens[:, 1:]
        log_probs = F.log_softmax(self.model(x), -1)
        with torch.no_grad():
            ref_log_probs = F.log_softmax(self.ref_model(x), -1)  # BUG GS808
        kl = F.kl_div(log_probs, ref_log_probs, log_target=True, reduction="none").sum(-1)
        picked = log_probs.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        loss = (-picked * advantage + self.beta * kl).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


model = nn.Sequential(nn.Embedding(10, 16), nn.ReLU(), nn.Linear(16, 10))
trainer = Trainer(model, model)  # BUG GS808
for _ in range(14):
    trainer.step(torch.randint(10, (8, 7)), torch.randn(8, 1))
