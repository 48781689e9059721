"""Along which axes an operation ran is recorded, and what those axes are is told from the layers."""

from __future__ import annotations

import json

import pytest

from gradsan.judge.history import History
from gradsan.judge.shapes.axes import ROWS, UNITS, UNKNOWN, roles, varies_along
from gradsan.record.events import Ops, SiteSeen
from gradsan.record.schema import Decoder, encode
from harness import record_code, run_code

SETUP = """
import torch
import torch.nn.functional as F
x = torch.randn(4, 5, 3)
index = torch.zeros(4, 5, 1, dtype=torch.long)
"""


def operations(code):
    events = record_code(SETUP + code)
    return [op for event in events if isinstance(event, Ops) for op in event.ops]


@pytest.mark.parametrize(
    ("call", "axes"),
    [
        ("x.softmax(-1)", (2,)),
        ("F.log_softmax(x, dim=0)", (0,)),
        ("torch.nn.Softmax(1)(x)", (1,)),
        ("x.sum()", (0, 1, 2)),
        ("x.mean((0, -1))", (0, 2)),
        ("x.mean(axis=1)", (1,)),
        ("x.std(False)", (0, 1, 2)),
        ("x.max(1)", (1,)),
        ("x.max()", (0, 1, 2)),
        ("torch.max(x, x)", ()),
        ("torch.max(x, other=x)", ()),
        ("x.argmax(-2)", (1,)),
        ("x.gather(-1, index)", (2,)),
        ("torch.stack([x, x])", (0,)),
        ("torch.stack([x, x], -1)", (3,)),
        ("torch.cat([x, x], 1)", (1,)),
        ("x.logsumexp(-1, keepdim=True)", (2,)),
        ("x.exp()", ()),
        ("x[:, 0]", (1,)),
        ("x[2]", (0,)),
        ("x[:, None, 0]", ()),
        ("x[:, -2:]", ()),
    ],
)
def test_axes_are_counted_from_the_front(call, axes):
    assert operations(f"y = {call}")[-1].facts.axes == axes


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = net(x)", (ROWS, ROWS, UNITS)),
        ("y = net(x).tanh() * 2", (ROWS, ROWS, UNITS)),
        ("y = x @ net.weight.t()", (UNKNOWN, UNKNOWN, UNKNOWN)),
        ("y = net(x).sum(1)", (ROWS, UNITS)),
        ("y = net(x).sum(-1, keepdim=True)", (ROWS, ROWS, UNKNOWN)),
        ("y = net(x).max(1)[0]", (ROWS, UNITS)),
        ("y = torch.stack([net(x), net(x)], 1)", (ROWS, UNKNOWN, ROWS, UNITS)),
        ("y = net(x)[:, None]", (ROWS, UNKNOWN, ROWS, UNITS)),
        ("y = net(x).view(4, 5, 2, 1)", (ROWS, ROWS, UNITS, UNKNOWN)),
        ("y = net(x)[:, 0]", (ROWS, UNITS)),
        ("y = net(x)[:, 1:]", (ROWS, ROWS, UNITS)),
        ("y = net(x).view(4, 10)", (ROWS, UNKNOWN)),
        ("y = net(x).transpose(0, 1)", (UNKNOWN, UNKNOWN, UNKNOWN)),
        ("y = net(x).gather(2, index)", (ROWS, ROWS, UNKNOWN)),
        ("y = net(x).split(1, -1)[0]", (ROWS, ROWS, UNITS)),
    ],
)
def test_rows_and_units_are_followed_through_operations(code, expected):
    history = History()
    for event in record_code(SETUP + "net = torch.nn.Linear(3, 2)\n" + code):
        history.apply(event)
    graph = history.graph
    assert roles(graph, graph.ops)[graph.newest] == expected


def test_a_value_varies_along_the_axes_on_which_it_is_not_spread():
    assert varies_along((1, 7, 1), (4, 7, 7)) == {1}
    assert varies_along((7,), (4, 7, 7)) == {2}
    assert varies_along((), (4, 7)) == set()


def test_axes_survive_the_trace():
    event = Ops((operations("y = x.softmax(1)")[-1],))
    known = Decoder()
    known.decode(encode(SiteSeen(event.ops[0].site, "train.py", 6, "<module>")))
    assert known.decode(json.loads(json.dumps(encode(event)))) == event


SUM_OF_PAIRS = """
import torch
net = torch.nn.Linear(4, 1)
first, second = net(torch.randn(8, 4)), net(torch.randn(8, 4)).squeeze(-1)
loss = -first.tanh() + 0.5 * second.pow(2)
loss.{end}.backward()
"""


@pytest.mark.parametrize(
    ("end", "severity"), [("mean()", "info"), ("sum()", "error"), ("pow(2).mean()", "error")]
)
def test_pairs_that_are_only_averaged_are_costly_and_not_wrong(end, severity):
    (finding,) = run_code(SUM_OF_PAIRS.format(end=end)).findings
    assert (finding.rule, finding.severity) == ("GS601", severity)
