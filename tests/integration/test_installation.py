"""In a PyTorch that gradsan does not know, one tap may not fit: the others do their work."""

from __future__ import annotations

import threading
from typing import Any

import gymnasium  # noqa: F401 - a library that one of the taps follows from the beginning, where it is there
import pytest
import torch
from torch import nn

from gradsan.judge.engine import Engine
from gradsan.observe.graphs.backward import BackwardTap
from gradsan.observe.graphs.checkpoints import CheckpointTap
from gradsan.observe.ops.compiled import Compiled
from gradsan.observe.ops.interop import InteropTap
from gradsan.observe.ops.operations import OperationTap
from gradsan.observe.session import Session
from gradsan.observe.training.clipping import ClipTap
from gradsan.observe.training.loss_scaling import ScalerTap
from gradsan.observe.training.networks import NetworkTap
from gradsan.observe.training.optimizers import OptimizerTap
from gradsan.observe.training.ranks import RankTap
from gradsan.observe.training.sharded import ShardTap
from gradsan.observe.worlds.environments import EnvironmentTap
from gradsan.record.recorder import Recorder

ESSENTIAL = [
    (BackwardTap, "_patch_backward"), (BackwardTap, "_patch_grad"), (OptimizerTap, "_patch_creation"),
    (OptimizerTap, "_patch_clearing"), (OptimizerTap, "_hook_steps"),
]  # fmt: skip
OTHERS = [
    (NetworkTap, "_patch_creation"), (NetworkTap, "_patch_deepcopy"), (NetworkTap, "_patch_load"),
    (NetworkTap, "_patch_freeze"), (InteropTap, "_patch_arrivals"), (InteropTap, "_patch_functions"),
    (InteropTap, "_patch_inference_mode"), (InteropTap, "_patch_grad_switch"),
    (InteropTap, "_patch_scripts"), (InteropTap, "_patch_asking"), (ClipTap, "_patch_clipping"),
    (ScalerTap, "_patch_scale"), (ScalerTap, "_patch_unscale"), (ScalerTap, "_patch_step"),
    (ScalerTap, "_patch_get_scale"), (CheckpointTap, "_patch"), (EnvironmentTap, "_begin"),
    (Compiled, "_patch_compiler"), (RankTap, "_patch_joining"), (RankTap, "_patch_wrapping"),
    (RankTap, "_patch_exchanges"), (ShardTap, "_wait_for_sharding"), (OperationTap, "enter"),
    (Session, "_follow_threads"),
]  # fmt: skip


def train_without_clearing() -> None:
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(12):
        net(torch.ones(4, 3)).pow(2).mean().backward()
        opt.step()


def watched_without(part: tuple[type, str], monkeypatch: pytest.MonkeyPatch) -> tuple[Session, Engine]:
    def does_not_fit(*_: Any) -> None:
        raise AttributeError("no such thing in this PyTorch")

    does_not_fit.__name__ = part[1]
    monkeypatch.setattr(*part, does_not_fit)
    engine = Engine()
    with Session(Recorder([engine])) as session:
        train_without_clearing()
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    return session, engine


def of(parts: list[tuple[type, str]]) -> Any:
    return pytest.mark.parametrize("part", parts, ids=[f"{kind.__name__}{name}" for kind, name in parts])


@of(OTHERS)
def test_the_others_work(part: tuple[type, str], monkeypatch: pytest.MonkeyPatch) -> None:
    session, engine = watched_without(part, monkeypatch)
    (fault,) = engine.history.faults
    assert "no such thing in this PyTorch" in fault.traceback
    assert session.watching
    assert {f.rule for f in engine.report().findings} == {"GS401"}


@of(ESSENTIAL)
def test_what_is_blind_can_be_told(part: tuple[type, str], monkeypatch: pytest.MonkeyPatch) -> None:
    session, engine = watched_without(part, monkeypatch)
    assert [fault.tap for fault in engine.history.faults] == [f"{part[0].__name__}.{part[1]}"]
    assert not session.watching


def test_every_part_is_tried_here() -> None:
    session = Session(Recorder([Engine()]))
    taps = (session._backward, session._optimizers, *session._others)
    parts = {(type(tap), part.__name__) for tap in taps for part in tap.parts}
    assert parts == {*ESSENTIAL, *OTHERS} - {(OperationTap, "enter"), (Session, "_follow_threads")}
