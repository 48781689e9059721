"""Compiled code stays compiled, its compiler sees nothing of gradsan, and the report says what was not seen."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import Any

import pytest
import torch
from feature import FEATURES, check_bug, check_correct
from torch.nn.modules import module
from torch.optim import optimizer

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

PLACE = next(place for place in FEATURES if place.name == "compiled")


@pytest.fixture(scope="module", autouse=True)
def settled_compiler() -> None:
    """The compiler puts things of its own into PyTorch when it is first used."""
    torch.compile(torch.nn.Linear(3, 1), backend="eager")(torch.ones(4, 3))


def stance() -> str:
    return sys.modules["torch._dynamo.eval_frame"]._stance.stance


def step(predict, net, opt) -> None:
    opt.zero_grad()
    predict(torch.ones(4, 3)).pow(2).mean().backward()
    opt.step()


def test_correct_code_is_silent_and_trains_bit_for_bit_the_same() -> None:
    check_correct(PLACE)


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
def test_a_bug_is_found_on_its_line(mode: str) -> None:
    check_bug(PLACE, mode)


def coarse(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
    """A backend that computes something a little different: as real kernels do, only more so."""
    seen.append(whats_in_sight())

    def run(*args: Any) -> Any:
        return tuple(out * 1.001 for out in graph(*args))

    return run


seen: list[tuple[int, int, int, bool]] = []
BACKWARD, CLIP = torch.autograd.backward, torch.nn.utils.clip_grad_norm_


def whats_in_sight() -> tuple[int, int, int, bool]:
    """What a compiler would trace together with the user's code."""
    original = torch.autograd.backward is BACKWARD and torch.nn.utils.clip_grad_norm_ is CLIP
    hooks = len(optimizer._global_optimizer_pre_hooks) + len(optimizer._global_optimizer_post_hooks)
    return torch._C._len_torch_function_stack(), hooks, len(module._global_forward_pre_hooks), original


def train(mode: str, steps: int = 40) -> tuple[list[float], Report]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    engine, net = Engine(), torch.nn.Linear(3, 1)
    with Session(Recorder([engine]), mode) if mode else contextlib.nullcontext():
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        predict = torch.compile(net, backend=coarse)
        for _ in range(steps):
            step(predict, net, opt)
            assert not mode or torch.autograd.backward is not BACKWARD  # everything is back
    return net.weight.flatten().tolist(), engine.report()


@pytest.mark.parametrize("mode", ["deep", "adaptive", "light"])
def test_compiled_code_is_what_runs_in_every_iteration(mode: str) -> None:
    assert train(mode)[0] == train("")[0]


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
def test_a_compiler_sees_nothing_of_ours_and_that_is_said(mode: str) -> None:
    seen.clear()
    report = train(mode)[1]
    assert set(seen) == {(0, 0, 0, True)}
    assert not report.faults
    assert "torch.compile" in report.not_evaluated[0]["reason"]


def test_a_network_that_was_compiled_before_the_session_began_is_a_region_too() -> None:
    torch._dynamo.reset()
    seen.clear()
    net = torch.nn.Linear(3, 1)
    predict = torch.compile(net, backend=coarse)
    with Session(Recorder([Engine()]), "deep"):
        step(predict, net, torch.optim.SGD(net.parameters(), lr=0.1))
    assert seen == [(0, 0, 0, True)]


def test_where_nothing_is_compiled_the_compiler_is_left_alone() -> None:
    torch._dynamo.reset()
    compiler = sys.modules["torch._dynamo.eval_frame"]
    before, net = compiler._maybe_set_eval_frame, torch.nn.Linear(3, 1)
    with Session(Recorder([Engine()]), "deep"):
        step(net, net, torch.optim.SGD(net.parameters(), lr=0.1))
        assert compiler._maybe_set_eval_frame is before
        torch.compile(net, backend="eager")
        assert compiler._maybe_set_eval_frame is not before
    assert compiler._maybe_set_eval_frame is before


@pytest.mark.parametrize("mode", ["deep", "adaptive", "light"])
def test_nothing_is_compiled_again_because_it_is_watched(mode: str) -> None:
    counts = []
    for watched in ("", mode):
        seen.clear()
        train(watched)
        counts.append(len(seen))
    assert counts == [1, 1]


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
def test_a_compiled_step_is_a_step(mode: str) -> None:
    torch._dynamo.reset()
    engine, net = Engine(), torch.nn.Linear(3, 1)
    with Session(Recorder([engine]), mode):
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        compiled_step = torch.compile(lambda: opt.step(), backend="eager")
        for _ in range(40):
            opt.zero_grad()
            net(torch.ones(4, 3)).pow(2).mean().backward()
            compiled_step()
    report = engine.report()
    assert not report.faults
    assert not report.findings  # no gradient was wiped
    assert report.iterations == 40


def test_a_stance_of_the_users_own_is_kept() -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    predict = torch.compile(net, backend="eager")
    with torch.compiler.set_stance("eager_on_recompile"), Session(Recorder([Engine()]), "deep"):
        step(predict, net, opt)
        assert stance() == "eager_on_recompile"
    assert stance() == "default"


def test_the_compiler_is_not_imported_for_its_own_sake() -> None:
    code = """
import sys, torch
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder
from gradsan.judge.engine import Engine
with Session(Recorder([Engine()]), "adaptive"):
    net = torch.nn.Linear(3, 1)
    for _ in range(40):
        net(torch.ones(4, 3)).pow(2).mean().backward()
        net.zero_grad()
print("torch._dynamo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
