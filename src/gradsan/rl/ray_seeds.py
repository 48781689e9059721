"""Seeds as tasks of Ray, on whatever cluster there is.

A task writes into the folder of its seed where it sees that folder (this machine, or a shared disk), as a local process
would. Elsewhere it trains in a temporary one, and sends what is in it when it has ended.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray

from gradsan.rl.errors import ConfigError, in_a_line
from gradsan.rl.runs import Run
from gradsan.rl.seed_worker import RemoteView, carried_out
from gradsan.rl.seeds import SeedJob, SeedOutcome
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.signals import StopRequest

# How often news are asked for, in seconds.
PERIOD = 0.5
# How long a cluster may take to answer at all.
PATIENCE = 10.0


@dataclass(frozen=True)
class RayTasks:
    """A `SeedRunner`: one task for each seed, with one processor each, at most `at_once` of them at a time."""

    address: str | None = None
    at_once: int | None = None

    def __call__(
        self, jobs: Sequence[SeedJob], display: SeedsDisplay, stop: StopRequest
    ) -> Iterator[SeedOutcome]:
        mine = not ray.is_initialized()
        self._connect()
        board = ray.remote(num_cpus=0)(_Board).remote()
        waiting, running = list(jobs), dict[Any, SeedJob]()
        task = ray.remote(num_cpus=1, max_retries=0)(_train)
        try:
            with _token(jobs) as token:
                while running or (waiting and not stop.requested):
                    while waiting and len(running) < (self.at_once or len(jobs)) and not stop.requested:
                        job = waiting.pop(0)
                        absolute = replace(job, folder=job.folder.resolve())
                        running[task.remote(absolute, board, str(token), os.getcwd())] = job
                    if stop.requested:
                        ray.get(board.stop.remote())
                    ready, _ = ray.wait(list(running), timeout=PERIOD)
                    _show(ray.get(board.take.remote()), display)
                    for reference in ready:
                        yield _outcome(running.pop(reference), reference)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if mine:
                ray.shutdown()

    def _connect(self) -> None:
        if ray.is_initialized():
            return
        _require_answer(self.address)
        try:
            local = {"include_dashboard": False} if self.address is None else {}
            ray.init(address=self.address, log_to_driver=False, logging_level="error", **local)
        except ConnectionError as error:
            raise ConfigError(f"There is no Ray at {self.address}: {in_a_line(error)}") from error


def _require_answer(address: str | None) -> None:
    """Ray itself would go on asking for minutes."""
    found = re.fullmatch(r"(?:ray://)?([\w.-]+):(\d+)", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"There is no Ray at {address}: {in_a_line(error)}") from error


@contextlib.contextmanager
def _token(jobs: Sequence[SeedJob]) -> Iterator[Path]:
    """A file that a task sees just where it sees our folders."""
    above = jobs[0].folder.resolve().parent
    above.mkdir(parents=True, exist_ok=True)
    token = above / f".ray-{uuid.uuid4().hex}"
    token.touch()
    try:
        yield token
    finally:
        token.unlink(missing_ok=True)


def _outcome(job: SeedJob, reference: Any) -> SeedOutcome:
    try:
        outcome, files = ray.get(reference)
    except ray.exceptions.RayError as error:
        return SeedOutcome(job, error=f"Its task was lost ({type(error).__name__}): {in_a_line(error)}")
    if files is not None:
        unpack(files, job.folder)
    training = outcome.training
    if training is not None:
        training.folder = job.folder
    return SeedOutcome(job, training, outcome.error)


def _show(news: dict[int, tuple[Any, list[str]]], display: SeedsDisplay) -> None:
    for seed, (progress, said) in news.items():
        for message in said:
            display.say_of(seed, message)
        if progress is not None:
            display.update(seed, *progress)


class _Board:
    """Where the tasks say how far they are, and hear that they should stop."""

    def __init__(self) -> None:
        self._news: dict[int, tuple[Any, list[str]]] = {}
        self._stopped = False

    def tell(self, seed: int, progress: Any, said: list[str]) -> bool:
        at, before = self._news.get(seed, (None, []))
        self._news[seed] = (progress or at, [*before, *said])
        return self._stopped

    def take(self) -> dict[int, tuple[Any, list[str]]]:
        news, self._news = self._news, {}
        return news

    def stop(self) -> None:
        self._stopped = True


def _train(job: SeedJob, board: Any, token: str, folder: str) -> tuple[SeedOutcome, bytes | None]:
    """The task. A module of the user's own with the environment is found as on the command line."""
    if folder not in sys.path:
        sys.path.append(folder)
    with contextlib.ExitStack() as stack:
        own = job
        if not os.path.exists(token):
            temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            own = replace(job, folder=temporary / job.folder.name)
        outcome = carried_out(own, _Told(job.seed, board))
        return replace(outcome, job=job), None if own is job else _packed(own.folder, bool(outcome.error))


class _Told(RemoteView):
    """Tells the board, and asks it whether to stop."""

    def __init__(self, seed: int, board: Any) -> None:
        self._seed, self._board = seed, board
        self._answer: Any = None
        self._told = 0.0

    def update(self, step: int, mean_return: float | None) -> None:
        now = time.monotonic()
        if now - self._told < PERIOD:
            return
        self._told = now
        if self._answer is not None and ray.wait([self._answer], timeout=0)[0]:
            answer, self._answer = self._answer, None
            if ray.get(answer):
                self.ask_for_an_end()
        tell = self._board.tell.remote(self._seed, (step, mean_return), [])
        self._answer = self._answer or tell

    def say(self, message: str) -> None:
        self._board.tell.remote(self._seed, None, [message])


def _packed(folder: Path, failed: bool) -> bytes | None:
    """Of an attempt that failed without its checkpoint: nobody could take it up there."""
    if not folder.is_dir():
        return None
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if not (failed and path == Run(folder).checkpoint):
                archive.write(path, path.relative_to(folder))
    return packed.getvalue()


def unpack(files: bytes, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(files)) as archive:
        archive.extractall(folder)
