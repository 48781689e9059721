"""What measuring the effect of a leak costs: the beginning of a run with and without it, in turns in one process.

    make bench-effect

The first backwards of each line are looked at closely, and only those: so a run of a few updates pays most, and a long
one nothing. CPU time, medians over the rounds of the ratio between two neighbours.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import torch
from workloads import WORKLOADS

from gradsan.judge.engine import Engine
from gradsan.observe.graphs.gradient_shares import GradientShares
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

ROUNDS = int(os.environ.get("ROUNDS", "9"))
LENGTHS = (12, 200)  # updates: the first look, and a short run
watch = GradientShares.watch


def seconds(name: str, updates: int, measured: bool) -> float:
    GradientShares.watch = watch if measured else (lambda *_: None)  # type: ignore[method-assign]
    torch.manual_seed(0)
    with Session(Recorder([Engine()]), "adaptive"):
        update = WORKLOADS[name]()
        began = time.process_time()
        for _ in range(updates):
            update()
        return time.process_time() - began


def main() -> int:
    torch.set_num_threads(1)
    print("| workload | updates | with / without effect |\n| --- | --- | --- |")
    for name in WORKLOADS:
        for updates in LENGTHS:
            seconds(name, updates, True)  # compiled, and in the caches
            ratios = []
            for turn in range(ROUNDS):
                first, second = (seconds(name, updates, bool(turn % 2) == flag) for flag in (True, False))
                ratios.append(first / second if turn % 2 else second / first)
            print(f"| {name} | {updates} | {statistics.median(ratios):.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
