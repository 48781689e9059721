"""A two-turn token policy: the loss mask of the second turn starts after its answer, so the adapter that is
used in that turn alone gets a gradient of zero.

Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(57)
VOCAB, WIDTH, TURN = 12, 16, 5


class TwoTurnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        x = self.embed(tokens)
        turns = [torch.tanh(self.first(x[:, :TURN])), torch.tanh(self.second(x[:, TURN:]))]
        return self.head(torch.cat(turns, 1))


def answer_mask(batch):
    """One where the model spoke: the last three tokens of each turn."""
    mask = torch.zeros(batch, 2 * TURN)
    mask[:, TURN - 3 : TURN] = 1
    mask[:, 2 * TURN :] = 1  # BUG GS208
    return mask


model = TwoTurnModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for update in range(120):
    dialogue = torch.randint(0, VOCAB, (16, 2 * TURN))
    answer = (dialogue + 3) % VOCAB
    advantage = torch.ones(16, 1) + 0.1 * torch.randn(16, 1)
    logp = F.log_softmax(model(dialogue), -1).gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    mask = answer_mask(16)
    loss = -(logp * advantage * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("log-prob of the second turn", logp[:, TURN:].mean().item())
