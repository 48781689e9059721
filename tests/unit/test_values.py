"""Which value a tensor holds: what was written into its memory, and not what was written there before it was its."""

from __future__ import annotations

import torch

from gradsan.observe.ops import values as module
from gradsan.observe.ops.values import Values
from gradsan.observe.registry import Leaves
from gradsan.record.events import Op


def test_writes_into_memory_that_was_somebody_elses_do_not_count(monkeypatch):
    monkeypatch.setattr(module, "storage_of", lambda tensor: 1)  # as after a free: the allocator reuses it
    ops: list[Op] = []
    values = Values(Leaves(lambda event: None, lambda pids: None), ops.append)
    freed, padded = torch.zeros(3), torch.zeros(3)
    before = values.fresh()
    values.wrote(freed, before)
    values.define(padded, values.fresh())
    row = padded[:1]
    row.fill_(1.0)
    written = values.fresh()
    values.wrote(row, written)
    values.number(padded)
    assert ops[-1].name == "alias"
    assert written in ops[-1].inputs
    assert before not in ops[-1].inputs
