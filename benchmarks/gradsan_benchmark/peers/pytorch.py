"""PyTorch itself: its tracebacks and warnings, with and without anomaly mode."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan_benchmark import forks
from gradsan_benchmark.recorder import describe
from gradsan_benchmark.sarif import Finding, relative
from gradsan_benchmark.tools import Said

FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True)
class PyTorch:
    """What a person sees who runs the program: the innermost own line of a traceback or a warning."""

    name: str = "PyTorch"
    anomaly: bool = False
    limit: float = 120.0

    @property
    def settings(self) -> str:
        return "`torch.autograd.set_detect_anomaly(True)`" if self.anomaly else "`python program.py`"

    def run(self, program: Path, original: Path) -> Said:
        with tempfile.TemporaryDirectory() as place:
            result = Path(place, "said.json")
            done = forks.call(lambda: watch(str(program), result, self.anomaly), program.parent, self.limit)
            if not result.exists():
                return Said([], done.seconds, "the program did not end in time, or ended its process")
            said = json.loads(result.read_text(encoding="utf-8"))
        return Said(list(findings(said, program.parent)), done.seconds)


def watch(program: str, result: Path, anomaly: bool) -> None:
    import torch

    warned: list[dict[str, Any]] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        warned.append({"file": filename, "line": lineno, "kind": category.__name__, "text": str(message)})

    warnings.showwarning = show  # type: ignore[assignment]
    if anomaly:
        torch.autograd.set_detect_anomaly(True)
    error: BaseException | None = None
    try:
        forks.script(program)
    except SystemExit:
        pass
    except BaseException as raised:
        error = raised
    result.write_text(json.dumps({"error": describe(error), "warnings": warned}), encoding="utf-8")
    sys.stderr.flush()


def findings(said: dict[str, Any], folder: Path) -> Any:
    error = said["error"]
    if error:
        places = [(frame["file"], frame["line"]) for frame in error["frames"]]
        yield from innermost("error", error["type"], places, folder)
    for warning in said["warnings"]:
        # Anomaly mode prints the forward call's traceback as the text of a warning.
        places = [(file, int(line)) for file, line in FRAME.findall(warning["text"])]
        places = places or [(warning["file"], warning["line"])]
        yield from innermost("warning", warning["kind"], places, folder)


def innermost(level: str, rule: str, places: list[tuple[str, int]], folder: Path) -> Any:
    own = [(relative(file, folder), line) for file, line in places]
    own = [place for place in own if not Path(place[0]).is_absolute() and not place[0].startswith("<")]
    if own:
        file, line = own[-1]
        yield Finding(rule, file, line, level, tuple(own[:-1]))
