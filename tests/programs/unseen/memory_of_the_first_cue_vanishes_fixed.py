"""A recurrent agent must remember a cue over fifty steps with a sigmoid state that it keeps squashing: the
cue's encoder gets a gradient that is as good as none.
Repaired here.

Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(293)
STEPS, WIDTH = 50, 16


class CueMemory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cue = nn.Linear(2, WIDTH)
        self.obs = nn.Linear(1, WIDTH)
        self.rec = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, cue, stream):
        state = self.cue(cue)
        for obs in stream.unbind(1):
            state = state + 0.02 * torch.tanh(self.rec(state) + self.obs(obs))
        return self.out(state)


model = CueMemory()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(60):
    label = torch.randint(0, 2, (32,))
    cue = nn.functional.one_hot(label, 2).float()
    loss = nn.functional.cross_entropy(model(cue, torch.randn(32, STEPS, 1)), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
