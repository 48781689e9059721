"""A trainer base class whose hooks are called in the wrong order."""

import torch
from torch import nn

torch.manual_seed(0)


class Trainer:
    def __init__(self, module, lr):
        self.module, self.optimizer = module, torch.optim.Adam(module.parameters(), lr=lr)

    def apply(self, loss):
        self.optimizer.zero_grad()
        self.optimizer.step()  # BUG GS404
        loss.backward()


class QTrainer(Trainer):
    def fit(self, obs, action, wanted):
        chosen = self.module(obs).gather(1, action)
        self.apply(nn.functional.smooth_l1_loss(chosen, wanted))


trainer = QTrainer(nn.Linear(4, 3), 1e-3)
for _ in range(12):
    trainer.fit(torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16, 1))
