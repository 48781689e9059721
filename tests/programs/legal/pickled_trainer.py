"""A trainer that holds functions of PyTorch is pickled in the middle of its training."""

import pickle

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.clip, self.back, self.grad = (
            nn.utils.clip_grad_norm_,
            torch.autograd.backward,
            torch.autograd.grad,
        )

    def update(self):
        x = torch.randn(8, 4)
        loss = (self.net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        self.opt.zero_grad()
        self.back(loss)
        self.clip(self.net.parameters(), 1.0)
        self.opt.step()


torch.manual_seed(0)
trainer = Trainer()
for step in range(30):
    trainer.update()
    if step in (5, 20):
        trainer = pickle.loads(pickle.dumps(trainer))
        trainer.opt = torch.optim.Adam(trainer.net.parameters(), lr=1e-2)
print(float(trainer.net.weight.sum()))
