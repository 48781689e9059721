"""What the script's signal handlers raise reaches the script, also where it meets us in the middle of our work."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import gradsan
from gradsan.judge.history import History
from gradsan.observe.ops.mode_stack import StackedMode
from gradsan.observe.ops.operations import OperationTap
from gradsan.observe.training.optimizers import OptimizerTap

ALARM = signal.SIGUSR1


class Timeout(RuntimeError):
    """Many a handler raises something that our own code would catch."""


@contextlib.contextmanager
def handled(handler: Any) -> Iterator[None]:
    before = signal.signal(ALARM, handler)
    try:
        yield
    finally:
        signal.signal(ALARM, before)


def time_is_up(number: int, frame: object) -> None:
    raise Timeout("time is up")


def step(net: torch.nn.Module, opt: torch.optim.Optimizer) -> None:
    loss = (net(torch.ones(8, 3)) - 1.0).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def interrupt(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, every: int) -> list[int]:
    """The signal comes in the middle of this function of ours, in every so many calls of it."""
    original, calls, sent = getattr(owner, name), [0], [0]

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] % every == 0:
            sent[0] += 1
            signal.raise_signal(ALARM)
        return original(*args, **kwargs)

    # The function's own code says whose it is.
    interrupted.__code__ = interrupted.__code__.replace(co_filename=original.__code__.co_filename)
    monkeypatch.setattr(owner, name, interrupted)
    return sent


PLACES: list[tuple[type, str, int]] = [
    (History, "apply", 7),
    (OperationTap, "_operation", 5),
    (OptimizerTap, "_stepping", 3),
    (OptimizerTap, "_stepped", 3),
    (OptimizerTap, "_clearing", 3),
    (StackedMode, "resume", 2),
]


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize(("owner", "name", "every"), PLACES)
def test_a_handler_that_raises_in_the_middle_of_our_work(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, every: int, mode: Any
) -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    arrived = 0
    with handled(time_is_up), gradsan.watch(mode) as report:
        sent = interrupt(monkeypatch, owner, name, every)
        for _ in range(30):
            try:
                step(net, opt)
            except Timeout:
                arrived += 1
        monkeypatch.undo()
        for _ in range(3):  # what was interrupted is not half open
            step(net, opt)
            assert torch._C._len_torch_function_stack() <= 1
    assert arrived == sent[0] > 0
    assert report.faults == []
    assert [finding.rule for finding in report.findings] == []


def test_ctrl_c_in_the_middle_of_our_work(monkeypatch: pytest.MonkeyPatch) -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with handled(signal.default_int_handler), gradsan.watch("deep") as report:
        sent = interrupt(monkeypatch, OperationTap, "_operation", 1)
        with pytest.raises(KeyboardInterrupt):
            step(net, opt)
        monkeypatch.undo()
        step(net, opt)
    assert sent == [1]
    assert (report.faults, report.iterations) == ([], 1)


def test_the_script_sees_its_own_handlers_and_gets_them_back() -> None:
    with handled(time_is_up):
        before = [signal.getsignal(number) for number in signal.valid_signals()]
        with gradsan.watch("light"):
            assert [signal.getsignal(number) for number in signal.valid_signals()] == before
            assert signal.signal(ALARM, signal.SIG_IGN) is time_is_up
            assert signal.signal(ALARM, time_is_up) is signal.SIG_IGN
        assert [signal.getsignal(number) for number in signal.valid_signals()] == before


def test_a_handler_without_an_exception_runs_once_and_knows_the_scripts_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    seen: list[Any] = []
    with handled(lambda *given: seen.append(given)), gradsan.watch("light"):
        sent = interrupt(monkeypatch, OptimizerTap, "_stepping", 1)
        step(net, opt)
    assert sent == [1]
    assert [number for number, _ in seen] == [ALARM]


def test_an_exception_that_another_thread_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    """`PyThreadState_SetAsyncExc`: there is no handler to be seen, only the script's own class."""
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    throw, me = ctypes.pythonapi.PyThreadState_SetAsyncExc, ctypes.c_ulong(threading.get_ident())
    thrown = functools.partial(throw, me, ctypes.py_object(Timeout))  # C all the way: no frame of a stranger
    monkeypatch.setattr(signal, "raise_signal", thrown)
    with gradsan.watch("deep") as report:
        interrupt(monkeypatch, OptimizerTap, "_clearing", 1)
        with pytest.raises(Timeout):
            step(net, opt)
        monkeypatch.undo()
        step(net, opt)
    assert report.faults == []
