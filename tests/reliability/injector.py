"""Puts faults into gradsan's own functions and looks what becomes of a training script.

Every function of ours that runs in a session gets one in turn: at its first call, at a later one, or at every call.
The script must print what it prints without gradsan (its weights among it) and end with the same status, and the
fault must be told. Each run is a fork of one process that has imported torch, so that a thousand of them are a
matter of minutes.

    python tests/reliability/injector.py [--door watch] [--sample N] [--seed S] [--only PATTERN]

The door is how the script is watched: by `gradsan run`, or by itself, with `gradsan.watch()`.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from faults import MARK, ROOMS, breaks, called_in, inject, places

SCRIPT = Path(__file__).with_name("training.py")
PATIENCE = 300  # seconds until a run counts as hanging
ERRORS = (RuntimeError, KeyError, TypeError, OSError, ValueError, AttributeError, RecursionError, MemoryError)
WHEN = ("first", "later", "always")


class Fault(NamedTuple):
    place: str
    when: str
    error: type[Exception]
    mode: str


class Outcome(NamedTuple):
    status: int
    output: str
    errors: str


# -- running ----------------------------------------------------------------------------------------------------


def in_child(work: Callable[[], int], folder: Path) -> Outcome:
    """In a fork, with its output in files."""
    out, err = folder / "out", folder / "err"
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)  # death by SIGALRM: a status that no run is meant to have
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), line_buffering=True)
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", closefd=False), line_buffering=True)
        status = 70
        try:
            status = work()
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return Outcome(os.waitstatus_to_exitcode(status), out.read_text(), err.read_text())


def arguments(mode: str, folder: Path) -> list[str]:
    reports = ["--output", str(folder / "report.json"), "--format", "json", "--html", str(folder / "r.html")]
    return ["run", "--mode", mode, "--trace", str(folder / "trace"), *reports, str(SCRIPT)]


def gradsan(mode: str, folder: Path) -> int:
    from gradsan.cli import main

    try:
        main(arguments(mode, folder), prog_name="gradsan")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def by_itself(mode: str, folder: Path) -> int:
    """Under `gradsan.watch()`."""
    import gradsan as package

    with package.watch(mode, trace=folder / "trace") as report:
        bare()
    try:
        told = report.faults
    except Exception as fault:  # whoever asks the report a question is given its fault as the answer
        told = [{"asked": str(fault)}]
    (folder / "report.json").write_text(json.dumps(told))
    return 0


def bare() -> int:
    space = {"__name__": "__main__", "__file__": str(SCRIPT)}
    exec(compile(SCRIPT.read_text(), str(SCRIPT), "exec"), space)
    return 0


Door = Callable[[str, Path], int]
DOORS: dict[str, Door] = {"run": gradsan, "watch": by_itself}


def counted(door: Door, mode: str, folder: Path, known: dict[str, types.FunctionType]) -> dict[str, int]:
    """Which of our functions a run calls, and how often; in a fork of its own."""

    def work() -> int:
        counts = called_in(lambda: door(mode, folder), known)
        (folder / "counts").write_text("\n".join(f"{name} {n}" for name, n in counts.items()))
        return 0

    in_child(work, folder)
    lines = (folder / "counts").read_text().splitlines()
    return {name: int(n) for name, n in (line.rsplit(" ", 1) for line in lines)}


def what_is_wrong(seen: Outcome, bare: Outcome, told: str) -> str:
    """Nothing, where the script ran as it does without us and the fault was told."""
    # An OSError at the file that was asked for: whoever gives a name that cannot be written is told before the script.
    if seen.status == 2 and not seen.output and re.search(rf"cannot write '.*': {MARK}$", told.strip()):
        return ""
    if seen.output != bare.output:
        return f"another output: {seen.output[-300:]!r}"
    # Status 3: gradsan could not watch, and says so.
    if seen.status != bare.status and not (seen.status == 3 and "not watched" in told):
        return f"status {seen.status} instead of {bare.status}"
    return "" if MARK in told or "gradsan fault" in told else "the fault was not told"


class Sweep:
    def __init__(self, folder: Path, door: Door = gradsan) -> None:
        self.folder, self._door = folder, door
        self.never = 0  # faults that did not come about
        _import_everything()
        self.known = places()
        gc.collect()
        gc.freeze()  # a fork then shares what it does not change
        modes = ("adaptive", "deep", "light")
        self.counts = {mode: counted(door, mode, folder, self.known) for mode in modes}
        self.bare = in_child(bare, folder)
        assert self.bare.status == 0, self.bare

    def faults(self) -> Iterator[Fault]:
        """Each place under each fault, in the modes in turn."""
        modes = list(self.counts)
        for index, name in enumerate(sorted(set().union(*self.counts.values()))):
            for turn, when in enumerate(WHEN):
                mode = next(m for k in range(3) if name in self.counts[m := modes[(index + turn + k) % 3]])
                if when != "later" or self.counts[mode][name] > 1:
                    yield Fault(name, when, ERRORS[(index + turn) % len(ERRORS)], mode)

    def run(self, fault: Fault) -> str:
        """What is wrong with the run under this fault, if anything."""
        for name in ("report.json", "r.html", "trace", "happened"):
            (self.folder / name).unlink(missing_ok=True)

        def work() -> int:
            calls = self.counts[fault.mode][fault.place]
            happened = (self.folder / "happened").touch
            inject(self.known[fault.place], breaks(fault.when, calls), fault.error, happened)
            return self._door(fault.mode, self.folder)

        seen = in_child(work, self.folder)
        if not (self.folder / "happened").exists():  # a generator counts as called whenever it goes on
            self.never += 1
            return "" if seen.output == self.bare.output else "another output without a fault"
        report = self.folder / "report.json"
        told = seen.errors + (report.read_text() if report.exists() else "")
        wrong = what_is_wrong(seen, self.bare, told)
        return f"{wrong}\n{seen.errors[-1200:]}" if wrong else ""


def _import_everything() -> None:
    """Everything that a run imports late, so that each fork finds it there."""
    import pkgutil

    import torch
    import torch._dynamo  # the first optimizer does: a second of each run

    import gradsan as package

    torch.set_num_threads(1)
    for found in pkgutil.walk_packages(package.__path__, "gradsan."):
        room = found.name.split(".")[1]
        if room in ROOMS:
            __import__(found.name)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0, help="so many of them; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--door", choices=DOORS, default="run")
    parser.add_argument("--only", default="", help="a regular expression for the functions")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(Path(folder), DOORS[given.door])
        faults = [fault for fault in sweep.faults() if re.search(given.only, fault.place)]
        print(f"{len(faults)} faults", flush=True)
        # In no order: whoever ends it early has seen a sample.
        faults = random.Random(given.seed).sample(faults, min(given.sample or len(faults), len(faults)))
        assert faults, given.only
        failed = 0
        for number, fault in enumerate(faults, 1):
            if number % 100 == 0:
                print(f"{number} of {len(faults)}, {failed} not contained so far", flush=True)
            if wrong := sweep.run(fault):
                failed += 1
                print(
                    f"{fault.place} ({fault.when}, {fault.error.__name__}, {fault.mode}): {wrong}", flush=True
                )
        where = len({fault.place for fault in faults})
        print(
            f"{len(faults)} faults in {where} functions, {failed} not contained; {sweep.never} did not come about"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
