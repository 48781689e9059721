"""What a change costs or saves: an earlier state of gradsan and this one, in turns, in one process.

    python benchmarks/against.py REF [--modes deep light adaptive] [--only DQN] [--rounds 3]

The earlier state is taken from git and imported under another name. Each figure is the median, over triples of
neighbouring turns, of the CPU time of a watched turn divided by that of the bare one; the last column is the median
of the new time divided by the old one, turn by turn.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import interleaved
import torch
from overhead import PLANS, WARM_UP
from workloads import WORKLOADS

NAME = "gradsan_before"


def bring(ref: str, folder: Path) -> None:
    """The package as it was, under another name."""
    packed = subprocess.run(["git", "archive", ref, "src/gradsan"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    (folder / "src/gradsan").rename(folder / NAME)
    for file in (folder / NAME).rglob("*.py"):
        text = re.sub(r"\b(from|import) gradsan\b", rf"\1 {NAME}", file.read_text())
        file.write_text(text.replace('"gradsan.rules', f'"{NAME}.rules'))
    sys.path.insert(0, str(folder))


class Watched(interleaved.Watched):
    """A session of either package."""

    def __init__(self, package: str, mode: str) -> None:
        self._package = package
        super().__init__(mode)

    def session(self, mode: str) -> Any:
        def of(module: str, name: str) -> Any:
            return getattr(importlib.import_module(f"{self._package}.{module}"), name)

        recorder = of("record.recorder", "Recorder")([of("judge.engine", "Engine")()])
        return of("observe.session", "Session")(recorder, mode)


def triples(workload: str, mode: str, turns: int) -> list[tuple[float, float, float]]:
    """Seconds of the earlier, the present and the bare one, each on a network of its own."""
    make, length = WORKLOADS[workload], PLANS[workload].turn
    sides: list[tuple[Any, Any]] = []
    for package in (NAME, "gradsan", ""):
        side = Watched(package, mode) if package else interleaved.Nothing()
        torch.manual_seed(0)
        update = make()
        interleaved.seconds(update, WARM_UP)
        side.off()
        sides.append((side, update))
    spent = []
    for turn in range(turns):
        seconds = [0.0] * 3
        for place in (*range(turn % 3, 3), *range(turn % 3)):
            side, update = sides[place]
            side.on()
            interleaved.seconds(update, 10)  # Python specialises its code anew
            seconds[place] = interleaved.seconds(update, length)
            side.off()
        spent.append((seconds[0], seconds[1], seconds[2]))
    for side, _ in sides[:2]:
        side.on()
        side.close()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ref")
    parser.add_argument("--modes", nargs="*", default=["deep", "light", "adaptive"])
    parser.add_argument("--only", default="", help="the workloads whose name begins so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=24, help="of each, per round")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| workload | mode | before | now | now / before |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bring(given.ref, Path(folder))
        for name in (name for name in WORKLOADS if name.startswith(given.only)):
            for mode in given.modes:
                spent = []
                for _ in range(given.rounds):
                    gc.collect()
                    spent += triples(name, mode, given.turns)
                before, now, change = (
                    statistics.median(x)
                    for x in zip(*((a / c, b / c, b / a) for a, b, c in spent), strict=True)
                )
                print(f"| {name} | {mode} | {before:.3f} | {now:.3f} | {change:.3f} |", flush=True)


if __name__ == "__main__":
    main()
