"""`make bench-rl`: the reference agents against Stable-Baselines3, turn by turn on one machine.

Both sides train the same task with the same hyperparameters, each in a process of its own, both pinned to one core, in
forty alternating turns: whatever else the machine does falls on both. Results are appended to
`benchmarks/results/rl.jsonl` as they come in, and those already there are not measured again (`--again`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rl_report import RESULTS, load, rate, write_report
from rl_tasks import TASKS
from turns import ENVIRONMENT

HERE = Path(__file__).parent
EPISODES = 100
CORE = min(os.sched_getaffinity(0))


class Side:
    """A worker that trains when it is told to."""

    def __init__(self, side: str, task: str, sanitize: str, *numbers: int) -> None:
        command = [sys.executable, str(HERE / "rl_worker.py"), side, task, sanitize, *map(str, numbers)]
        # One thread each: the agents are small, and the comparison is of code, not of cores.
        environment = {**os.environ, **ENVIRONMENT}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        os.sched_setaffinity(self._process.pid, {CORE})
        self.result: dict[str, Any] | None = None
        self._read()  # made and imported: the clock has not started yet

    def turn(self) -> None:
        if self.result is None:
            assert self._process.stdin is not None
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
            self._read()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            if "result" in message:
                self.result = message["result"]
                self._process.wait()
            if message:
                return
        raise SystemExit(f"A worker died with status {self._process.wait()}.")


def measure(task: str, seed: int, sanitize: str, share: float) -> dict[str, Any]:
    """The whole training, or for speed alone a share of it, which is not played with."""
    steps = round(TASKS[task].steps * share)
    sides = {
        name: Side(name, task, sanitize, seed, steps, EPISODES if share == 1 else 0)
        for name in ("gradsan", "sb3")
    }
    while any(side.result is None for side in sides.values()):
        for side in sides.values():
            side.turn()
    row = {"task": task, "seed": seed, "share": share}
    return row | {name: side.result for name, side in sides.items()}


def in_a_line(row: dict[str, Any]) -> str:
    speed = rate(row, "gradsan") / rate(row, "sb3")
    text = f"{row['task']} seed {row['seed']}: {speed:.2f} × the speed"
    if row["share"] < 1:
        return text
    means = [sum(row[side]["returns"]) / len(row[side]["returns"]) for side in ("gradsan", "sb3")]
    return f"{text}, return {means[0]:.1f} (SB3 {means[1]:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first-seed", type=int, default=101)
    parser.add_argument("--sanitize", default="adaptive", choices=("adaptive", "deep", "off"))
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the steps: below 1, speed alone is measured"
    )
    parser.add_argument("--again", action="store_true", help="measure anew what has been measured")
    parser.add_argument("--report", action="store_true", help="write the report from the results at hand")
    options = parser.parse_args()
    share = options.share
    done = set() if options.again else {(row["task"], row["seed"], row["share"]) for row in load()}
    RESULTS.parent.mkdir(exist_ok=True)
    # Seed by seed, so that an interrupted run has measured every task equally often.
    for seed in [] if options.report else range(options.first_seed, options.first_seed + options.seeds):
        for task in options.tasks:
            if (task, seed, share) in done:
                continue
            row = measure(task, seed, options.sanitize, share)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(in_a_line(row), flush=True)
    write_report()


if __name__ == "__main__":
    main()
