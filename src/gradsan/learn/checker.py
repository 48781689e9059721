"""The terminal's side of a check: a process that may crash, hang or exit without taking the course along."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO

from gradsan.learn.catalogue import Exercise
from gradsan.learn.errors import CourseError
from gradsan.learn.verdict import Grade

LIMIT = 60.0  # seconds; a check takes well under one, so this is an endless loop


class Checker:
    """Keeps one checking process ready, because importing torch is most of the wait."""

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
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
        assert process.stdout
        late = threading.Event()

        def expire() -> None:
            late.set()  # before the kill: afterwards, the verdict's reader is already on its way
            process.kill()

        timer = threading.Timer(self._limit, expire)
        timer.start()
        try:
            process.stdin.write(json.dumps([exercise.name, str(path.resolve())]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        return Grade.from_json(line) if line else self._no_answer(late.is_set())

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

    def _no_answer(self, late: bool) -> Grade:
        if late:
            seconds = f"{self._limit:g} seconds"
            return Grade((f"The file was still running after {seconds}. Look for a loop without an end.",))
        assert self._process
        assert self._stderr
        status = self._process.wait()
        self._stderr.seek(0)
        last = self._stderr.read().strip().splitlines()[-1:]
        return Grade((f"Python ended (status {status}) before the check was over. " + " ".join(last),))
