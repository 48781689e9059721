"""Puts faults into gradsan's own functions and looks what becomes of a training script.

Every function of ours that runs in a session gets one in turn: at its first call, at a later one, or at every call.
The script must print what it prints without gradsan (its weights among it) and end with the same status, and the
fault must be told. Each run is a fork of one process that has imported torch, so that a thousand of them are a
matter of minutes.

    python tests/reliability/injector.py [--sample N] [--seed S] [--only PATTERN]
"""

from __future__ import annotations

import argparse
import builtins
import gc
import io
import os
import random
import re
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOMS = ("observe", "record", "judge", "rules", "picture", "render", "follow", "runner", "cli", "fix")
SCRIPT = Path(__file__).with_name("training.py")
MARK = "a fault on purpose"
PATIENCE = 300  # seconds until a run counts as hanging
ERRORS = (RuntimeError, KeyError, TypeError, OSError, ValueError, AttributeError, RecursionError, MemoryError)
WHEN = ("first", "later", "always")

# The frame that everything else is contained by, each with the reason why a fault of its own has nowhere to go.
OUTERMOST = {
    "observe.operations.OperationTap.__torch_function__": "PyTorch calls it in place of the script's operation",
    "observe.last_resort.attempt": "the containment itself: a call inside a try",
    "observe.last_resort.note": "where the containment puts what it caught",
    "observe.last_resort.own": "the same, for a caller that catches by itself",
    "cli.run.command": "it decides between running the script and running it bare",
    "runner.bare.run_bare": "what is left when everything else has failed",
    "runner.bare.say": "the same",
    "runner.bare.fault_of": "the same",
}
# Before there is a script to be run at all: what is typed is taken apart.
COMMAND_LINE = ("cli.LazyGroup.", "cli.main", "cli.run.ProgramCommand")


class Place(NamedTuple):
    name: str
    function: types.FunctionType


class Fault(NamedTuple):
    place: str
    when: str
    error: type[Exception]
    mode: str


class Outcome(NamedTuple):
    status: int
    output: str
    errors: str


# -- places -------------------------------------------------------------------------------------------------


def places() -> dict[str, types.FunctionType]:
    """Every function of ours that was imported, by its name."""
    found: dict[str, types.FunctionType] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType:
            name = name_of(thing.__code__, thing.__module__)
            if name and "<locals>" not in name and thing.__code__.co_filename == _file_of(thing.__module__):
                found.setdefault(name, thing)
    return {
        name: f for name, f in found.items() if name not in OUTERMOST and not name.startswith(COMMAND_LINE)
    }


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


def name_of(code: types.CodeType, module: str | None) -> str:
    """`observe.session.Session._send`; nothing for code that is not ours."""
    parts = (module or "").split(".")
    if parts[0] != "gradsan" or len(parts) < 2 or parts[1] not in ROOMS:
        return ""
    return ".".join([*parts[1:], code.co_qualname])


def called_in(run: Callable[[], Any], known: dict[str, types.FunctionType]) -> dict[str, int]:
    """How often each of these was called."""
    names = {id(function.__code__): name for name, function in known.items()}
    counts: dict[str, int] = {}

    def profile(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and (name := names.get(id(frame.f_code))) is not None:
            counts[name] = counts.get(name, 0) + 1

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts


# -- putting a fault in ---------------------------------------------------------------------------------------


def inject(function: types.FunctionType, breaks: Callable[[int], bool], error: type[Exception]) -> None:
    """Change the function's code, so that whoever holds it, by whatever name, meets the fault."""
    original = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    original.__kwdefaults__ = function.__kwdefaults__
    calls = 0

    def meet(args: Any, kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if breaks(calls):
            raise error(MARK)
        return original(*args, **kwargs)

    vars(builtins)["__meet_fault__"] = meet
    free = function.__code__.co_freevars
    lines = [f"    {name}" for name in free] + ["    return __meet_fault__(args, kwargs)"]
    source = "def stub(*args, **kwargs):\n" + "\n".join(lines)
    if free:
        inner = "\n".join("    " + line for line in source.splitlines())
        source = f"def outer({', '.join(free)}):\n{inner}\n    return stub"
    space: dict[str, Any] = {}
    exec(source, space)
    stub = space["outer"](*[None] * len(free)) if free else space["stub"]
    old = function.__code__
    function.__code__ = stub.__code__.replace(
        co_filename=old.co_filename, co_name=old.co_name, co_qualname=old.co_qualname
    )


def breaks(when: str, calls: int) -> Callable[[int], bool]:
    chosen = {"first": 1, "later": max(1, calls // 2)}.get(when)
    return (lambda call: True) if chosen is None else (lambda call: call == chosen)


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


def counted(mode: str, folder: Path, known: dict[str, types.FunctionType]) -> dict[str, int]:
    """Which of our functions a run calls, and how often; in a fork of its own."""

    def work() -> int:
        counts = called_in(lambda: gradsan(mode, folder), known)
        (folder / "counts").write_text("\n".join(f"{name} {n}" for name, n in counts.items()))
        return 0

    in_child(work, folder)
    lines = (folder / "counts").read_text().splitlines()
    return {name: int(n) for name, n in (line.rsplit(" ", 1) for line in lines)}


def what_is_wrong(seen: Outcome, bare: Outcome, told: str) -> str:
    """Nothing, where the script ran as it does without us and the fault was told."""
    if seen.output != bare.output:
        return f"another output: {seen.output[-300:]!r}"
    # Status 3: gradsan could not watch, and says so.
    if seen.status != bare.status and not (seen.status == 3 and "not watched" in told):
        return f"status {seen.status} instead of {bare.status}"
    return "" if MARK in told or "gradsan fault" in told else "the fault was not told"


class Sweep:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        _import_everything()
        self.known = places()
        self.counts = {mode: counted(mode, folder, self.known) for mode in ("adaptive", "deep", "light")}
        self.bare = in_child(self._bare, folder)
        assert self.bare.status == 0, self.bare

    def _bare(self) -> int:
        space = {"__name__": "__main__", "__file__": str(SCRIPT)}
        exec(compile(SCRIPT.read_text(), str(SCRIPT), "exec"), space)
        return 0

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
        for name in ("report.json", "r.html", "trace"):
            (self.folder / name).unlink(missing_ok=True)

        def work() -> int:
            calls = self.counts[fault.mode][fault.place]
            inject(self.known[fault.place], breaks(fault.when, calls), fault.error)
            return gradsan(fault.mode, self.folder)

        seen = in_child(work, self.folder)
        report = self.folder / "report.json"
        told = seen.errors + (report.read_text() if report.exists() else "")
        wrong = what_is_wrong(seen, self.bare, told)
        return f"{wrong}\n{seen.errors[-1200:]}" if wrong else ""


def _import_everything() -> None:
    """Everything that a run imports late, so that each fork finds it there."""
    import pkgutil

    import torch

    import gradsan as package

    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()  # a fork then shares what it does not change
    for found in pkgutil.walk_packages(package.__path__, "gradsan."):
        room = found.name.split(".")[1]
        if room in ROOMS:
            __import__(found.name)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a regular expression for the functions")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(Path(folder))
        faults = [fault for fault in sweep.faults() if re.search(given.only, fault.place)]
        print(f"{len(faults)} faults", flush=True)
        if given.sample:
            faults = random.Random(given.seed).sample(faults, given.sample)
        failed = 0
        for number, fault in enumerate(faults, 1):
            if number % 100 == 0:
                print(f"{number} of {len(faults)}, {failed} not contained so far", flush=True)
            if wrong := sweep.run(fault):
                failed += 1
                print(
                    f"{fault.place} ({fault.when}, {fault.error.__name__}, {fault.mode}): {wrong}", flush=True
                )
        print(f"{len(faults)} faults in {len({f.place for f in faults})} functions, {failed} not contained")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
