"""A leaf that a factory makes with `requires_grad=True` is a parameter from its first use on."""

from __future__ import annotations

import pytest

from gradsan.record.events import Ops, ParamSeen
from harness import record_code


@pytest.mark.parametrize("made", ["ones(3", "randn(3", "full((3,), 0.5", "linspace(0, 1, 3"])
def test_the_first_use_reads_a_parameter(made):
    events = record_code(f"""
        import torch
        scale = torch.{made}, requires_grad=True)
        (scale * torch.randn(3)).sum().backward()
    """)
    ops = [op for event in events if isinstance(event, Ops) for op in event.ops]
    leaf = next(event for event in events if isinstance(event, ParamSeen))
    product = next(op for op in ops if op.name == "mul")
    sources = {op.nid: op for op in ops if op.kind == "parameter"}
    assert [sources[nid].facts.pid for nid in product.inputs if nid in sources] == [leaf.pid]


def test_the_line_that_made_it_is_known():
    events = record_code("""
        import torch
        scale = torch.ones(3, requires_grad=True)
        scale.sum().backward()
    """)
    assert next(event for event in events if isinstance(event, ParamSeen)).created
