"""The picture says what was done, not what things are called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradsan.picture import model
from gradsan.picture.charts import POINTS, Thinned, chart
from gradsan.picture.collector import PictureCollector
from gradsan.picture.naming import boxes, folded, networks
from gradsan.record import events as e
from harness import run_code

SAC = (Path(__file__).parents[2] / "examples" / "sac.py").read_text()
TD = """
import torch
q = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(5):
    s, a, r, s2 = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.randn(8, 3)
    target = (r + 0.99 * q(s2).max(1).values).detach()
    loss = (q(s).gather(1, a).squeeze(1) - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def picture_of(code: str, mode: str = "deep") -> model.Picture:
    report = run_code(code, mode)
    assert not report.faults, report.faults[0]["traceback"]
    assert report.picture is not None
    return report.picture


def labelled(loss: model.LossPicture, kind: str = model.NETWORK) -> dict[str, model.Node]:
    return {node.label: node for node in loss.nodes if node.kind == kind}


def test_roles_do_not_come_from_names() -> None:
    code = SAC.replace('if __name__ == "__main__":', "train(6)\nif False:")
    renamed = {
        "actor": "w0",
        "q1": "w1",
        "q2": "w2",
        "slow_w1": "w3",
        "slow_w2": "w4",
        "critic": "w5",
        "target": "w6",
    }
    for old, new in renamed.items():
        code = re.sub(old, new, code, flags=re.IGNORECASE)
    losses = picture_of(code).losses
    roles = {label: node.roles for loss in losses for label, node in labelled(loss).items()}
    assert roles["mean"] == ["actor"]
    assert roles["agent.w1"] == roles["agent.w2"] == ["critic", "online"]
    assert roles["agent.w3"] == roles["agent.w4"] == ["critic", "target"]
    assert roles["agent.log_alpha"] == []


def test_a_deliberate_cut_is_drawn_but_belongs_to_no_finding() -> None:
    (loss,) = picture_of(TD).losses
    (cut,) = [edge for edge in loss.edges if edge.kind == model.CUT]
    nodes = {node.id: node for node in loss.nodes}
    assert nodes[cut.source].kind == model.NETWORK
    assert (nodes[cut.target].label, nodes[cut.target].cut) == ("target", "detach")
    assert loss.findings == cut.findings == []
    assert sorted(node.live for node in loss.nodes if node.kind == model.NETWORK) == [False, True]


def test_without_a_deep_iteration_the_picture_shows_which_networks_a_loss_reaches() -> None:
    (loss,) = picture_of(TD, "light").losses
    assert labelled(loss).keys() == {"q"}
    assert [edge.kind for edge in loss.edges] == [model.GRADIENT]
    assert labelled(loss)["q"].fate == "trained by SGD (line 4)"


def test_the_ledger_begins_with_the_forward_pass_and_knows_what_was_left_over() -> None:
    timeline = picture_of(TD).timeline
    assert [entry.kind for entry in timeline.entries] == ["forward", "zero_grad", "backward", "step"]
    assert timeline.held == [[[10]], [[]], [[10]], [[10]]]
    assert timeline.spent[0] == [True]
    assert timeline.lanes == ["SGD: q"]


def test_what_the_collector_keeps_does_not_grow() -> None:
    collector = PictureCollector()
    collector.feed(e.ParamSeen(1, "parameter", (1,), True, 0, "w"))
    collector.feed(e.OptimizerSeen(1, "SGD", (1,), 0))
    for number in range(5_000):
        collector.feed(e.Backward(number + 1, 0, "backward", (), (1,), (1,), loss=1.0))
        collector.feed(e.Sample(number + 1, 1, ((1, 1.0, 1.0, 1.0),)))
        collector.feed(e.Step(1, 0, (1,)))
        collector.feed(e.StepDone(1))
        collector.feed(e.IterationEnd())
    collector.finish()
    drawn = collector.picture([])
    assert all(len(c.x) <= 2 * POINTS + 1 for c in drawn.charts)
    assert len(drawn.losses) == 1


@pytest.mark.parametrize("count", [10, 999, 1_000, 12_345])
def test_thinning_keeps_the_whole_stretch_evenly(count: int) -> None:
    kept: Thinned[int] = Thinned()
    for number in range(count):
        kept.add(number)
    gaps = {b - a for a, b in zip(kept.items, kept.items[1:], strict=False)}
    assert len(kept.items) < 2 * POINTS
    assert len(gaps) == 1
    assert count - kept.items[-1] <= max(gaps)


def test_what_cannot_be_drawn_is_a_gap() -> None:
    drawn = chart("t", "u", {"a": {1: float("nan"), 2: 1.23456}, "b": {1: 0.0, 2: float("inf")}}, log=True)
    assert drawn.series == {"a": [None, 1.235]}


def test_boxes_follow_modules_and_networks_follow_their_fate() -> None:
    names = dict(enumerate(["agent.q.trunk.0.weight", "agent.q.trunk.2.weight", "agent.q.head.weight",
                            "agent.slow.trunk.0.weight", "agent.log_alpha", "net.0.weight"]))  # fmt: skip
    assert list(boxes(names).values()) == [
        "agent.q.trunk", "agent.q.trunk", "agent.q.head", "agent.slow.trunk", "agent.log_alpha", "net",
    ]  # fmt: skip
    owners = {0: 1, 1: 1, 2: 1, 3: 0, 4: 2, 5: 1}
    assert list(networks(names, owners.get).values()) == [
        "agent.q", "agent.q", "agent.q", "agent.slow", "agent.log_alpha", "net",
    ]  # fmt: skip


def test_a_network_of_many_parts_is_folded_and_a_small_one_is_not() -> None:
    deep = [f"net.{n}.{part}.weight" for n in range(6) for part in ("attention.out", "norm1", "linear1")]
    names = dict(enumerate([*deep, "head.mean.weight", "head.log_std.weight"]))
    found = folded(names, lambda pid: pid < len(deep))
    assert set(found.values()) == {"net", "head.mean", "head.log_std"}


def test_a_loss_that_is_a_leaf_made_of_a_number_is_no_fault() -> None:
    """`picture_of` asserts that there was none."""
    picture_of(
        """
        import torch
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(90):
            if i < 40:
                loss = net(torch.randn(4, 3)).pow(2).mean()
            else:
                total = 0.0
                for j in range(3):
                    total -= net(torch.randn(1, 3)).log_softmax(-1)[0, 1].item() * (j + 0.5)
                loss = torch.tensor(total / 3, requires_grad=True)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        "adaptive",
    )
