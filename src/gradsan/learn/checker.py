"""The terminal's side of a check: a process that may crash, hang or exit without taking the course along."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from gradsan.learn.catalogue import Exercise
from gradsan.learn.errors import CourseError
from gradsan.learn.verdict import Grade

# In seconds. A check takes well under one, once torch is loaded; loading it may take long on a busy machine.
PATIENCE, LIMIT, LOADING = 3.0, 20.0, 120.0


class Checker:
    """Keeps one checking process ready, because importing torch is most of the wait."""

    def __init__(
        self,
        slow: Callable[[str], None] = lambda sentence: None,
        *,
        patience: float = PATIENCE,
        limit: float = LIMIT,
    ) -> None:
        """`slow` is given a sentence when a check takes longer than `patience`; after `limit` it is stopped."""
        self.slow, self.patience, self.limit = slow, patience, limit
        self._loaded = False
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[str] | None = None

    def __enter__(self) -> Checker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> subprocess.Popen[str]:
        """A running process, started now if there is none: torch loads while the learner reads."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            if importlib.util.find_spec("torch") is None:
                raise CourseError('The exercises need PyTorch: pip install "gradsan[learn]".')
            self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "gradsan.learn.child",
                ],  # -P: a torch.py lying about is not torch
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def check(self, exercise: Exercise, path: Path) -> Grade:
        """The verdict on `path`; a process that ends or hangs meanwhile makes it a wrong one."""
        process = self.warm()
        assert process.stdin
        if not self._loaded:
            line, late = self._answer(process, LOADING)
            if not line:
                return _late("PyTorch was not loaded", LOADING) if late else self._no_answer()
            self._loaded = True
        reminder = threading.Timer(self.patience, self._remind)
        reminder.start()
        try:
            process.stdin.write(json.dumps([exercise.name, str(path.resolve())]) + "\n")
            process.stdin.flush()
            line, late = self._answer(process, self.limit)
        except BrokenPipeError:
            line, late = "", False
        finally:
            reminder.cancel()
        if late and not line:
            return _late("Your code was still running. Look for a loop that never ends", self.limit)
        return Grade.from_json(line) if line else self._no_answer()

    def _answer(self, process: subprocess.Popen[str], limit: float) -> tuple[str, bool]:
        """The next line of the process, which is killed after `limit` seconds: then it is late."""
        assert process.stdout
        late = threading.Event()

        def expire() -> None:
            late.set()  # before the kill: afterwards, the verdict's reader is already on its way
            process.kill()

        timer = threading.Timer(limit, expire)
        timer.start()
        try:
            line = process.stdout.readline()
        finally:
            timer.cancel()
            timer.join()  # it may be at its kill just now
        if late.is_set():
            self.close()  # waits for its end: a killed process that is not gone yet would get the next check
        return line, late.is_set()

    def _remind(self) -> None:
        self.slow(
            f"Your code is still running after {self.patience:g} seconds. Is there a loop that never ends? "
            f"Ctrl-C stops it; after {self.limit:g} seconds the check stops by itself."
        )

    def stop(self) -> None:
        """End the check that another thread waits for: it is told that Python ended."""
        if self._process:
            self._process.kill()

    def renew(self) -> None:
        """A fresh process for the next check: nothing the answer did to torch carries over."""
        self.close()
        self.warm()

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
        if self._stderr:
            self._stderr.close()
        self._process = self._stderr = None
        self._loaded = False

    def _no_answer(self) -> Grade:
        assert self._process
        assert self._stderr
        status = self._process.wait()
        self._stderr.seek(0)
        last = self._stderr.read().strip().splitlines()[-1:]
        return Grade((f"Python ended (status {status}) before the check was over. " + " ".join(last),))


def _late(sentence: str, limit: float) -> Grade:
    return Grade((f"The check was stopped after {limit:g} seconds. {sentence}.",))
