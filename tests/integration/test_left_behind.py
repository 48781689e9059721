"""However a session ends, the fixture on every test finds nothing of it. These are the hard cases."""

from __future__ import annotations

import threading

import pytest
import torch

from gradsan.judge.engine import Engine
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder
from gradsan.record.trace import TraceWriter
from gradsan.runner.watch import Watch


class FailingOptimizer(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure: object = None) -> None:
        raise KeyboardInterrupt


def train(optimizer: type[torch.optim.SGD], iterations: int) -> None:
    net = torch.nn.Linear(3, 1)
    opt = optimizer(net.parameters(), lr=0.1)
    for _ in range(iterations):
        opt.zero_grad()
        net(torch.ones(8, 3)).pow(2).mean().backward()
        opt.step()


def test_a_step_that_is_interrupted(session: Session) -> None:
    with pytest.raises(KeyboardInterrupt), session:
        train(FailingOptimizer, 1)


def test_a_run_that_another_thread_made_light(session: Session) -> None:
    with session:
        thread = threading.Thread(target=train, args=(torch.optim.SGD, 20))
        thread.start()
        thread.join()
    assert session.iteration == 20


def test_a_thread_that_ends_while_it_is_traced(session: Session) -> None:
    mine, heights = threading.local(), Heights()
    with session:
        thread = threading.Thread(target=lambda: (train(torch.optim.SGD, 1), heights.note(mine)))
        thread.start()
        thread.join()
    assert heights == [1, 0]


def test_a_traced_thread_that_outlives_its_session(session: Session) -> None:
    mine, heights, begun, over = threading.local(), Heights(), threading.Event(), threading.Event()
    with session:
        thread = threading.Thread(target=lambda: (begun.set(), over.wait(), heights.note(mine)))
        thread.start()
        begun.wait()
    over.set()
    thread.join()
    assert heights == [1, 0]


class Heights(list[int]):
    """How many modes there are on a thread's stack: now, and after its last line.

    What is left by then PyTorch lets go when the thread has ended, and takes the GIL for it: should the
    interpreter be ending just then, the whole process aborts."""

    def note(self, mine: threading.local) -> None:
        self.append(torch._C._len_torch_function_stack())
        mine.last_words = LastWords(self)


class LastWords:
    def __init__(self, heights: Heights) -> None:
        self.heights = heights

    def __del__(self) -> None:  # a thread's own variables go when it has nothing more to run
        self.heights.append(torch._C._len_torch_function_stack())


def test_a_run_that_became_light_inside_a_mode_of_the_users(session: Session) -> None:
    with session:
        with torch.device("meta"):
            train(torch.optim.SGD, 20)
            assert torch.empty(1).is_meta
        assert not torch.empty(1).is_meta


def test_an_error_that_backward_raises(session: Session) -> None:
    with pytest.raises(RuntimeError, match="scalar"), session:
        torch.nn.Linear(3, 2)(torch.ones(4, 3)).backward()


def test_a_report_in_the_middle_of_a_write_to_the_trace() -> None:
    class Stuck(TraceWriter):
        failed = ""

        def __init__(self) -> None:
            """No file: every write meets the one that the signal interrupted."""

        def _line(self, data: object) -> None:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter>")

    assert Watch(Engine([]), Stuck(), "deep").finish_at_once().faults == []


@pytest.fixture
def session() -> Session:
    return Session(Recorder([Engine()]), "adaptive")
