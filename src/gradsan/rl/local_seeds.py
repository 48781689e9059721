"""Seeds in processes of this machine, as many at once as it has cores: a fault of one leaves the others alone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from gradsan.rl.seed_worker import RemoteView, carried_out
from gradsan.rl.seeds import SeedJob, SeedOutcome
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.signals import StopRequest

# How long a request to stop may go unheard, in seconds.
PATIENCE = 0.2
# What environments and libraries print while a seed is trained, in the folder of the seed.
OUTPUT = "output.txt"


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalProcesses:
    """A `SeedRunner`: one process for each seed, `at_once` of them at a time."""

    at_once: int

    def __call__(
        self, jobs: Sequence[SeedJob], display: SeedsDisplay, stop: StopRequest
    ) -> Iterator[SeedOutcome]:
        waiting, running = deque(jobs), dict[Connection, _Child]()
        context, told = _context(), False
        try:
            while running or (waiting and not stop.requested):
                while waiting and len(running) < self.at_once and not stop.requested:
                    child = _Child(context, waiting.popleft())
                    running[child.connection] = child
                if stop.requested and not told:
                    told = True
                    for child in running.values():
                        child.ask_to_stop()
                for ready in wait(list(running), timeout=PATIENCE):
                    outcome = running[ready].listen(display)  # type: ignore[index]
                    if outcome is not None:
                        del running[ready]  # type: ignore[arg-type]
                        yield outcome
        finally:
            for child in running.values():
                child.end()


def _context() -> BaseContext:
    """Children of a server that has imported torch already begin at once, and share its memory."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gradsan.rl.local_seeds"])
    return context


class _Child:
    """One seed under way, as seen from the parent."""

    def __init__(self, context: Any, job: SeedJob) -> None:
        self.job = job
        self.connection, theirs = context.Pipe(duplex=False)
        self._outcome: SeedOutcome | None = None
        self._asked_to_stop = False
        number, name = tempfile.mkstemp(prefix="gradsan-seed-")
        os.close(number)
        self._output = Path(name)
        self._process = context.Process(target=_train, args=(theirs, job, name), name=f"seed {job.seed}")
        self._process.start()
        theirs.close()

    def listen(self, display: SeedsDisplay) -> SeedOutcome | None:
        """The next thing that it says; the outcome when it has ended."""
        try:
            word, *values = self.connection.recv()
        except (EOFError, OSError):
            return self._ended()
        if word == "outcome":
            self._outcome = values[0]
        elif word == "say":
            display.say_of(self.job.seed, values[0])
        else:
            display.update(self.job.seed, *values)
        return None

    def _ended(self) -> SeedOutcome:
        self.connection.close()
        self._process.join()
        kept = self._keep_output()
        if self._outcome is None and self._asked_to_stop:  # before it could hear that it should save
            return SeedOutcome(self.job)
        if self._outcome is None:
            return SeedOutcome(self.job, error=f"{_how(self._process.exitcode)}{kept}")
        if self._outcome.error:
            return SeedOutcome(self.job, error=f"{self._outcome.error}{kept}")
        return self._outcome

    def _keep_output(self) -> str:
        """A sentence that says where it is, if there is any."""
        printed = self._output.read_bytes() if self._output.exists() else b""
        self._output.unlink(missing_ok=True)
        if not printed or not self.job.folder.is_dir():
            return ""
        with (self.job.folder / OUTPUT).open("ab") as file:
            file.write(printed)
        return f" What it printed is in {self.job.folder / OUTPUT}."

    def ask_to_stop(self) -> None:
        self._asked_to_stop = True
        if self._process.is_alive():
            os.kill(self._process.pid, signal.SIGTERM)

    def end(self) -> None:
        """At once."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        self._output.unlink(missing_ok=True)


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"Its process was ended by {signal.Signals(-status).name}."
    return f"Its process ended with status {status}, and without a result."


def _train(connection: Connection, job: SeedJob, output: str) -> None:
    """The life of a child. A terminal's Ctrl-C is for the parent, which asks its children to stop in its turn."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    outcome = carried_out(job, _Told(connection))
    with contextlib.suppress(OSError):
        connection.send(("outcome", outcome))


class _Told(RemoteView):
    """Tells the parent."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def update(self, step: int, mean_return: float | None) -> None:
        self._send("update", step, mean_return)

    def say(self, message: str) -> None:
        self._send("say", message)

    def _send(self, *message: Any) -> None:
        try:
            self._connection.send(message)
        except OSError:  # the parent is gone: nobody waits for the rest
            self.ask_for_an_end()
