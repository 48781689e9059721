"""Compiled code is run eagerly while gradsan looks deeply, and compiled again after that."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from feature import FEATURES, check_bug, check_correct

from gradsan.judge.engine import Engine
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


def test_only_deep_iterations_run_eagerly() -> None:
    seen = []
    with Session(Recorder([Engine()]), "adaptive") as session:
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        predict = torch.compile(net, backend="eager")
        for _ in range(40):
            step(predict, net, opt)
            seen.append((session.tracing.tap is not None, stance()))
    assert set(seen) == {(True, "force_eager"), (False, "default")}
    assert stance() == "default"


def test_a_stance_of_the_users_own_is_kept() -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    predict = torch.compile(net, backend="eager")
    with torch.compiler.set_stance("eager_on_recompile"):
        with Session(Recorder([Engine()]), "deep"):
            step(predict, net, opt)
            assert stance() == "force_eager"
        assert stance() == "eager_on_recompile"
        engine = Engine()
        with Session(Recorder([engine]), "deep"):
            torch.compiler.set_stance("default")
        assert stance() == "default"
        assert "torch.compile" in engine.report().not_evaluated[0]["reason"]
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
