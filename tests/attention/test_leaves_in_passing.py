"""A leaf that is made anew in every iteration does not make the iterations unlike one another."""

from __future__ import annotations

from gradsan.record.events import Attention, Backward
from harness import record_code

PROGRAM = """
import torch
embed, net = torch.nn.Embedding(9, 4).requires_grad_(False), torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(120):
    tokens = torch.randint(9, (4, 3 + step % 2))
    loss = net(embed(tokens).requires_grad_(True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_inputs_that_are_made_to_require_grad_are_only_counted_after_a_while():
    for _ in range(12):  # where in memory the inputs lie is another matter in every run
        events = record_code(PROGRAM, "adaptive")
        assert sum(isinstance(e, Attention) and e.deep for e in events) == 1
        assert sum(isinstance(e, Backward) for e in events) < 40
