"""What the provenance graph may forget in a long run, and what it may not."""

from __future__ import annotations

from gradsan.judge import provenance
from gradsan.record.events import Op, OpFacts


def test_the_weights_that_recent_operations_read_outlive_the_operations_before_them(monkeypatch):
    monkeypatch.setattr(provenance, "KEEP", 4)
    graph = provenance.Provenance()
    graph.add(Op(1, "", 0, (), True, (3,), facts=OpFacts(pid=7), kind="parameter"), 0)
    graph.add(Op(2, "", 0, (), False, (3,), kind="data"), 0)
    for nid in range(3, 30):
        graph.add(Op(nid, "mul", 1, (1, 2), True, (3,)), nid)
    graph.forget_before(25)
    assert sorted(graph.ops) == [1, 2, 25, 26, 27, 28, 29]


def test_a_parameter_that_is_not_read_for_long_is_known_when_it_is_read_again(monkeypatch):
    monkeypatch.setattr(provenance, "KEEP", 4)
    graph = provenance.Provenance()
    for nid in (1, 2):  # the second is what the same parameter held after a write
        graph.add(Op(nid, "", 0, (), True, (3,), facts=OpFacts(pid=7), kind="parameter"), 0)
    for nid in range(3, 30):
        graph.add(Op(nid, "randn", 1, (), False, (3,)), nid)
    graph.forget_before(29)
    assert sorted(graph.ops) == [2, 29]
