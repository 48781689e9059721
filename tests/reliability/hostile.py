"""Damaged and hostile traces, progress files and checkpoints: read without a crash, without running anything that
is in them, and without writing a file outside of their folder.

    python tests/reliability/hostile.py [--files N] [--seed S]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 30  # seconds for one file; none is expected to come near it
TRAP = "hostile-trap"
NESTED = "[" * 100_000 + "]" * 100_000
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**30, -(10**18), 0.5, float("nan"), float("inf"), "", "x" * 10_000,
    "<script>trap()</script>", "\x1b]0;trap\x07\x1b[2J", "../../../../etc/passwd", "/dev/zero", "\ud800", "\x00",
    [], {}, [[]], [1] * 1000, {"a": 1}, "operation", "backward", "parameter",
)  # fmt: skip


class Ran(BaseException):
    """Something that stood in a file was run, or wrote where it must not."""


class Guard:
    """Listens to what the interpreter does while a file is read."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.on = str(folder), False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in (
            "os.system",
            "os.exec",
            "os.posix_spawn",
            "os.fork",
            "subprocess.Popen",
            "socket.connect",
        ):
            raise Ran(f"{event} {args}")
        if event == "open" and isinstance(args[0], str | bytes) and _writes(args):
            path = os.path.abspath(os.fsdecode(args[0]))
            if not path.startswith((self._folder, "/dev/null")):
                raise Ran(f"wrote {path}")


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = args[1], args[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


# -- damage -------------------------------------------------------------------------------------------------------


def damage_bytes(data: bytes, dice: random.Random) -> bytes:
    """As a bad disk or a broken transfer does it."""
    data = bytearray(data)
    how = dice.randrange(5)
    if how == 0:
        return bytes(data[: dice.randrange(len(data))])
    if how == 1:
        for _ in range(dice.randrange(1, 20)):
            data[dice.randrange(len(data))] = dice.randrange(256)
    elif how == 2:
        at = dice.randrange(len(data))
        del data[at : at + dice.randrange(1, 200)]
    elif how == 3:
        at = dice.randrange(len(data))
        data[at:at] = dice.randbytes(dice.randrange(1, 50))
    else:
        at, to = dice.randrange(len(data)), dice.randrange(len(data))
        data[at:at] = data[to : to + 300]
    return bytes(data)


def damage_json(value: Any, dice: random.Random) -> Any:
    """One thing somewhere inside becomes another."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        return {**value, key: damage_json(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        how = dice.randrange(6)
        if how == 0:
            return value[:at] + value[at + 1 :]
        if how == 1:
            return [*value[:at], value[at], *value[at:]]
        return [*value[:at], damage_json(value[at], dice), *value[at + 1 :]]
    if type(value) is int and dice.random() < 0.5:
        return value + dice.choice((-1, 1, 7))  # refers to something else
    return dice.choice(VALUES)


UNREADABLE = (NESTED, "1" * 5000, '["Ops",' + NESTED + "]")


def damage_lines(data: bytes, dice: random.Random) -> bytes:
    """What is valid line by line, and makes no sense as a whole."""
    lines = data.decode().splitlines()
    for _ in range(dice.randrange(1, 5)):
        at, to = dice.randrange(1, len(lines)), dice.randrange(1, len(lines))
        how = dice.randrange(5)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines[at], lines[to] = lines[to], lines[at]
        elif how == 2:
            lines.insert(at, lines[to])
        elif how == 3 and dice.random() < 0.1:
            lines[at] = dice.choice((*UNREADABLE, "", "{}", "null"))
        elif lines[at] not in UNREADABLE:  # by us, either
            changed = damage_json(json.loads(lines[at] or "null"), dice)
            lines[at] = json.dumps(changed)
        if len(lines) < 3:
            break
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, (f"touch {TRAP}",)


def hostile_checkpoint(good: bytes, dice: random.Random) -> bytes:
    """A pickle that would run something, in a file that looks like a checkpoint; or just damage."""
    if dice.random() < 0.8:
        return damage_bytes(good, dice)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(file, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("data.pkl"):
                data = pickle.dumps(Bomb(), protocol=2)
            name = entry.filename if dice.random() < 0.9 else f"../../{TRAP}"
            new.writestr(name, data)
    return file.getvalue() if dice.random() < 0.7 else pickle.dumps({"format": 1, "agent": Bomb()})


# -- reading ------------------------------------------------------------------------------------------------------


def read_trace(path: Path) -> str:
    """As `gradsan report --html` does. Faults of ours are told in the report: that is no crash, and yet counted."""
    from gradsan.cli.report import judge
    from gradsan.record.trace import TraceError
    from gradsan.render import FORMATS, render
    from gradsan.render.html import render as html
    from gradsan.render.page import Page

    try:
        report = judge(path, None, draws=True)
    except TraceError:
        return "refused"
    for format_ in FORMATS:
        text = render(format_, report, Page(width=80))
        text.encode(errors="surrogatepass")
        assert "\x1b]0;trap" not in text, format_
    assert "<script>trap()" not in html(report)
    return "fault" if report.faults else "read"


def read_progress(path: Path) -> str:
    from gradsan.learn import progress
    from gradsan.learn.errors import CourseError

    try:
        found = progress.load(path.parent)
        assert found.exercise is None or found.exercise.name
    except CourseError:
        return "refused"
    return "read"


def read_checkpoint(path: Path) -> str:
    from gradsan.rl import checkpoint
    from gradsan.rl.errors import CheckpointError

    try:
        checkpoint.load(path)
    except CheckpointError:
        return "refused"
    return "read"


# -- what to damage -------------------------------------------------------------------------------------------------


def good_traces(folder: Path) -> list[bytes]:
    from gradsan.record.trace import TraceWriter
    from gradsan.rules import catalogue
    from harness import record_code

    found = []
    for code in ("GS101", "GS202", "GS301", "GS306", "GS401", "GS503", "GS604"):
        path = folder / "good.trace"
        writer = TraceWriter(path, script="train.py", mode="deep")
        for event in record_code(catalogue()[code].bad[0]):
            writer.feed(event)
        writer.finish()
        found.append(path.read_bytes())
    return found


def good_progress() -> bytes:
    state = {"schema": 1, "current": "1_02_slope", "done": ["1_01_requires_grad"], "hints": {"1_02_slope": 1}}
    return json.dumps(state).encode()


def good_checkpoint(folder: Path) -> bytes:
    import torch

    from gradsan.rl import checkpoint

    path = folder / "good.pt"
    checkpoint.save(path, {"algorithm": "dqn", "config": {"env": "x"}, "agent": {"w": torch.zeros(4, 4)}})
    return path.read_bytes()


class Attack:
    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.dice = random.Random(seed)
        self.folder = folder
        os.chdir(folder)
        self._traces, self._checkpoint = good_traces(folder), good_checkpoint(folder)
        self._guard = Guard(folder)

    def one(self, number: int) -> str:
        """Attack once: what became of it. Whatever else is raised is a crash."""
        kind = ("trace", "trace", "trace", "progress", "checkpoint")[number % 5]
        dice = self.dice
        if kind == "trace":
            good = dice.choice(self._traces)
            data = dice.choice((damage_bytes, damage_lines, damage_lines))(good, dice)
            return f"{kind} {self._read('hostile.trace', data, read_trace)}"
        if kind == "progress":
            data = good_progress()
            if dice.random() < 0.5:
                data = damage_bytes(data, dice)
            elif dice.random() < 0.9:
                data = json.dumps(damage_json(json.loads(data), dice)).encode(errors="surrogatepass")
            else:
                data = dice.choice((NESTED, '{"schema": 1, "done": ' + NESTED + "}", "1" * 5000)).encode()
            return f"{kind} {self._read('.gradsan-learn.json', data, read_progress)}"
        data = hostile_checkpoint(self._checkpoint, dice)
        return f"{kind} {self._read('hostile.pt', data, read_checkpoint)}"

    def _read(self, name: str, data: bytes, read: Callable[[Path], str]) -> str:
        path = self.folder / name
        path.write_bytes(data)
        before = set(os.listdir(self.folder))
        signal.alarm(PATIENCE)
        self._guard.on = True
        try:
            became = read(path)
        finally:
            self._guard.on = False
            signal.alarm(0)
        assert set(os.listdir(self.folder)) == before, "a file was written"
        return became


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts: dict[str, int] = {}
    crashed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        attack = Attack(folder, given.seed)
        for number in range(given.files):
            try:
                became = attack.one(number)
            except (Exception, Ran) as error:
                crashed += 1
                became = "crashed"
                import traceback

                text = "".join(traceback.format_exception(error)[-4:])
                print(f"file {number}: {text}", flush=True)
            counts[became] = counts.get(became, 0) + 1
        os.chdir("/")
    told = ", ".join(f"{count} {became}" for became, count in sorted(counts.items()))
    print(f"{given.files} files: {told}; {crashed} crashes, nothing run, nothing written outside")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
