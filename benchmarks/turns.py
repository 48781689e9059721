"""Commands that take turns on one core, and the processor time that each needs.

    python benchmarks/turns.py --runs 2 -- first command -- second command

What else a machine does comes and goes, and slows down all that runs meanwhile: even processor time differs by a
third between two minutes. So all commands run at once, pinned to one core, but only one at a time is let go
(SIGCONT), for half a second, while the others stand still (SIGSTOP): whatever comes falls on all of them. One that ends
is started again, until each has run to its end as often as asked for.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

SLICE = 0.5  # seconds
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Side:
    """One command, started again whenever it ends. `spent` is the processor time of each run that came to its end."""

    def __init__(self, command: Sequence[str], core: int) -> None:
        self._command, self._core = command, core
        self._process: subprocess.Popen[bytes] | None = None
        self.spent: list[float] = []

    def go(self) -> None:
        """For one slice, or to the end of the run."""
        if self._process is None:
            self._process = self._started()
        else:
            os.killpg(self._process.pid, signal.SIGCONT)
        until = time.monotonic() + SLICE
        while time.monotonic() < until:
            if self._has_ended():
                return
            time.sleep(0.01)
        os.killpg(self._process.pid, signal.SIGSTOP)

    def end(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            os.waitpid(self._process.pid, 0)
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,  # a group of its own: what it starts stands still with it
        )
        os.sched_setaffinity(process.pid, {self._core})
        return process

    def _has_ended(self) -> bool:
        assert self._process is not None
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if not pid:
            return False
        self._process = None
        if status:
            raise SystemExit(
                f"{' '.join(self._command)} ended with status {os.waitstatus_to_exitcode(status)}."
            )
        self.spent.append(usage.ru_utime + usage.ru_stime)
        return True


def in_turns(commands: Sequence[Sequence[str]], runs: int) -> list[list[float]]:
    """Seconds of processor time of each command's runs: at least `runs` of each."""
    core = min(os.sched_getaffinity(0))
    sides = [Side(command, core) for command in commands]
    try:
        while any(len(side.spent) < runs for side in sides):
            for side in sides:
                side.go()
    finally:
        for side in sides:
            side.end()
    return [side.spent for side in sides]


def main() -> None:
    given, *commands = split(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=2, help="of each command, at least")
    options = parser.parse_args(given)
    found = in_turns(commands, options.runs)
    for command, spent in zip(commands, found, strict=True):
        ratio = statistics.mean(spent) / statistics.mean(found[0])
        print(f"{statistics.mean(spent):8.2f} s  {ratio:6.3f} ×  {len(spent)} runs  {' '.join(command)}")


def split(arguments: Sequence[str]) -> list[list[str]]:
    """At every `--`."""
    parts: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--":
            parts.append([])
        else:
            parts[-1].append(argument)
    return parts


if __name__ == "__main__":
    main()
