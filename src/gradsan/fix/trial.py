"""Trial runs: the user's program in a process of its own, with repaired source in place of some files."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsan.judge.report.findings import Finding, Location, RoleSite

BOUNDED = "bounded"
PATIENCE, TIMES = 60.0, 8.0  # seconds; how many times as long as the first run a trial may take


Launch = Callable[[Path, Path, float | None], str]


@dataclass(frozen=True)
class TrialProgram:
    """What to run: words as on a command line."""

    words: tuple[str, ...]
    module: str | None = None
    include: tuple[str, ...] = ()
    mode: str = "adaptive"
    folder: str | None = None  # where it is run; the present one, if none is given

    @property
    def shown(self) -> str:
        return f"-m {self.module}" if self.module is not None else self.words[0]


@dataclass(frozen=True)
class ConsumedStep:
    """What one step of one optimizer took: digests of gradients, by the names of their parameters."""

    optimizer: int
    line: str
    taken: Mapping[str, str]
    waiting: Mapping[str, str]  # held at that moment by what other optimizers own
    directions: Mapping[str, Sequence[float]] = field(default_factory=dict)  # of both


@dataclass(frozen=True)
class ClipSeen:
    """One clip in the program, and all that it was ever given to clip."""

    line: str
    how: str  # by "norm", by "value", or by an operation on `.grad`
    clipped: Sequence[str]


@dataclass(frozen=True)
class LossSeen:
    feeds: Sequence[str]
    made_of: Sequence[str]  # whether gradient flows or not


@dataclass(frozen=True)
class Concerned:
    """What lines have to do with parameters (`runner/concerned.py` says how): by "file:line", `before` by name."""

    behind: Mapping[str, Sequence[str]] = field(default_factory=dict)
    meets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    before: Mapping[str, Sequence[str]] = field(default_factory=dict)
    losses: Sequence[LossSeen] = ()


@dataclass(frozen=True)
class TrialRun:
    """How a trial went. `failure`: why there is nothing to judge by."""

    ending: str = ""
    status: int = 0
    error: str = ""
    updates: int = 0
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    needed: tuple[int, ...] = ()  # updates, until each finding was made
    steps: tuple[ConsumedStep, ...] = ()
    lines: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # parameters fed or stepped, by "file:line"
    loss: float = 0.0  # at the first backward, its size
    clips: tuple[ClipSeen, ...] = ()
    concerned: Concerned = Concerned()
    not_evaluated: frozenset[str] = frozenset()  # rules
    failure: str = ""
    unwatched: str = ""

    @property
    def bounded(self) -> bool:
        return self.ending == BOUNDED


class Trials:
    """`launch` starts a process with a request and waits for its result."""

    def __init__(self, target: TrialProgram, launch: Launch | None = None) -> None:
        self.target = target
        self._launch = launch or in_a_new_process
        self.count = 0
        self._longest = 0.0

    def run(self, sources: Mapping[str, bytes], updates: int | None) -> TrialRun:
        """The first one may take as long as it likes."""
        self.count += 1
        patience = PATIENCE + TIMES * self._longest if self._longest else None
        with tempfile.TemporaryDirectory(prefix="gradsan-fix-") as folder:
            request, result = Path(folder, "request.json"), Path(folder, "result.json")
            request.write_text(json.dumps(self._request(sources, updates, Path(folder))), encoding="utf-8")
            began = time.monotonic()
            with contextlib.chdir(self.target.folder or os.getcwd()):
                ended = self._launch(request, result, patience)
            seconds = time.monotonic() - began
            self._longest = max(self._longest, seconds)
            if not result.exists():
                return TrialRun(failure=ended or "it ended before anything could be judged", seconds=seconds)
            return read(json.loads(result.read_text(encoding="utf-8")), seconds)

    def _request(self, sources: Mapping[str, bytes], updates: int | None, folder: Path) -> dict[str, Any]:
        replaced = {}
        for number, (path, data) in enumerate(sources.items()):
            text = folder / f"{number}.py"
            text.write_bytes(data)
            replaced[os.path.realpath(path)] = str(text)
        target = self.target
        return {
            "words": target.words,
            "module": target.module,
            "include": target.include,
            "mode": target.mode,
            "updates": updates,
            "sources": replaced,
        }


def in_a_new_process(request: Path, result: Path, patience: float | None) -> str:
    """Why there may be no result. The program's output is nobody's, and there is nobody to answer its questions."""
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    command = [sys.executable, *flags, "-m", "gradsan.runner.trial", str(request), str(result)]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdin=nowhere, stdout=nowhere, stderr=nowhere, env=_environment(), start_new_session=True
    )
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return f"it was still running after {patience:.0f} seconds"
    finally:
        _end(process)
    return ""


def _environment() -> dict[str, str]:
    return {"PYTHONHASHSEED": "0", **os.environ}


def _end(process: subprocess.Popen[bytes]) -> None:
    """The program may have left processes of its own behind: they are in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read(data: Mapping[str, Any], seconds: float = 0.0) -> TrialRun:
    if "failure" in data:
        return TrialRun(failure=data["failure"], seconds=seconds)
    return TrialRun(
        ending=data["ending"],
        status=data["status"],
        error=data["error"],
        updates=data["updates"],
        seconds=seconds,
        findings=tuple(finding_of(f) for f in data["findings"]),
        needed=tuple(f["needed"] for f in data["findings"]),
        steps=tuple(ConsumedStep(**step) for step in data["steps"]),
        lines=data["lines"],
        loss=data["loss"],
        clips=tuple(ClipSeen(**clip) for clip in data["clips"]),
        concerned=_concerned(data["concerned"]),
        not_evaluated=frozenset(data["not_evaluated"]),
        unwatched=data["not_watched"],
    )


def _concerned(data: Mapping[str, Any]) -> Concerned:
    losses = tuple(LossSeen(**loss) for loss in data["losses"])
    return Concerned(data["behind"], data["meets"], data["before"], losses)


def finding_of(data: Mapping[str, Any]) -> Finding:
    """The way back from `Finding.as_dict`."""
    culprit = data["culprit"]
    return Finding(
        data["rule"],
        data["name"],
        data["severity"],
        data["message"],
        data["fix"],
        None if culprit is None else _location(culprit),
        tuple(RoleSite(site["role"], _location(site)) for site in data["sites"]),
        tuple(data["subjects"]),
        data["count"],
        data["first_iteration"],
    )


def _location(data: Mapping[str, Any]) -> Location:
    return Location(data["file"], data["line"], data["function"], data["code"])
