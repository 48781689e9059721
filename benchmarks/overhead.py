"""What watching costs: bare, light, adaptive, deep and PyTorch's anomaly mode, side by side in one run.

    make bench                 # everything, about twenty minutes
    make bench BENCH="--quick" # fewer repetitions

Every figure is a ratio to the bare script just before and just after it: a round runs each mode once on a fresh
network from the same seed, with the bare script in between, and the median over the rounds is reported with the
spread of its middle half. The column `bare` shows what the bare script gives against itself.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from workloads import WORKLOADS, Update

from gradsan.judge.engine import Engine
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

MODES = ("bare", "light", "adaptive", "deep", "anomaly")
# `adaptive` is what its first, deep iterations cost spread over a run of this length.
AMORTISED = 5_000
SHORT = {  # updates per round, about a second of the bare script
    "DQN 4-64-64-2": 1_600,
    "PPO minibatch": 600,
    "SAC 256-256": 120,
    "recurrent policy": 240,
    "conv Q 84×84×4": 24,
}
WHOLE_RUN_SECONDS = 10
WARM_UP = 24
BARS = {"light": 1.03, "adaptive": 1.05, "deep": 3.0}


def watching(mode: str) -> contextlib.AbstractContextManager[Any]:
    if mode == "bare":
        return contextlib.nullcontext()
    if mode == "anomaly":
        return torch.autograd.set_detect_anomaly(True)
    return Session(Recorder(Engine()), mode)


def seconds_per_update(make: Callable[[], Update], mode: str, updates: int, warm_up: int) -> float:
    """CPU time of this thread: other processes on the machine do not count."""
    torch.manual_seed(0)
    with watching(mode):
        update = make()
        for _ in range(warm_up):
            update()
        start = time.thread_time()
        for _ in range(updates):
            update()
        return (time.thread_time() - start) / updates


def start_seconds(make: Callable[[], Update], mode: str, updates: int) -> float:
    """How long the first updates take, the deep ones of the adaptive mode among them."""
    gc.collect()
    torch.manual_seed(0)
    with watching(mode):
        update = make()
        start = time.thread_time()
        for _ in range(updates):
            update()
        return time.thread_time() - start


def whole_run(make: Callable[[], Update], mode: str, updates: int, is_short: bool) -> float:
    """Per update, over a run of 5,000: measured as a whole where that takes seconds, else put together from the
    first 160 updates, which hold all the deep ones but the random, and the speed that the run has after them."""
    if is_short:
        return start_seconds(make, mode, AMORTISED) / AMORTISED
    first = start_seconds(make, mode, 160)
    steady = seconds_per_update(make, mode, updates, 160)
    return (first + steady * (AMORTISED - 160)) / AMORTISED


def measure(name: str, rounds: int) -> dict[str, Any]:
    make, updates = WORKLOADS[name], SHORT[name]
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    bare = seconds_per_update(make, "bare", updates, WARM_UP)
    is_short = bare * AMORTISED <= WHOLE_RUN_SECONDS
    spent: dict[str, list[float]] = {"bare": [bare], "adaptive": [whole_run(make, "bare", updates, is_short)]}
    for _ in range(rounds):
        for mode in ("light", "deep", "anomaly"):
            seconds = seconds_per_update(make, mode, updates, WARM_UP)
            gc.collect()
            spent["bare"].append(seconds_per_update(make, "bare", updates, WARM_UP))
            ratios[mode].append(seconds / statistics.mean(spent["bare"][-2:]))
        # A whole run is compared with whole runs.
        seconds = whole_run(make, "adaptive", updates, is_short)
        spent["adaptive"].append(whole_run(make, "bare", updates, is_short))
        ratios["adaptive"].append(seconds / statistics.mean(spent["adaptive"][-2:]))
    # The bare script against itself: how far two equal measurements lie apart here.
    ratios["bare"] = [b / a for a, b in itertools.pairwise(spent["bare"])]
    return {
        "workload": name,
        "bare_microseconds": round(statistics.median(spent["bare"]) * 1e6, 1),
        "modes": {mode: _summary(ratios[mode]) for mode in MODES},
    }


def _summary(values: list[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def table(results: list[dict[str, Any]]) -> str:
    lines = ["| workload | one update | " + " | ".join(MODES) + " |", "|---|---|" + "---|" * len(MODES)]
    for result in results:
        cells = [
            f"{m['median']:.3f} ({m['low']:.3f}–{m['high']:.3f})"
            for m in (result["modes"][mode] for mode in MODES)
        ]
        lines.append(
            f"| {result['workload']} | {result['bare_microseconds']} µs | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Bars with the middle half of the rounds as whiskers, drawn with matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 4))
    width = 0.8 / (len(MODES) - 1)
    for k, mode in enumerate(MODES[1:]):
        rows = [r["modes"][mode] for r in results]
        heights = [m["median"] for m in rows]
        errors = [[m["median"] - m["low"] for m in rows], [m["high"] - m["median"] for m in rows]]
        places = [i + k * width for i in range(len(results))]
        axis.bar(places, heights, width, yerr=errors, capsize=2, label=mode)
    axis.axhline(1.0, color="black", linewidth=0.8)
    axis.set_xticks([i + 0.3 for i in range(len(results))], [r["workload"] for r in results], fontsize=8)
    axis.set_ylabel("time per update, bare = 1")
    axis.legend(ncols=4, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_const", dest="rounds", const=3, help="3 rounds")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--only", default="", help="the workloads whose name begins so; nothing is written")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = []
    for name in [name for name in WORKLOADS if name.startswith(arguments.only)]:
        results.append(measure(name, arguments.rounds))
        print(table(results[-1:]).splitlines()[-1], flush=True)
    if arguments.only:
        return
    arguments.out.mkdir(exist_ok=True)
    (arguments.out / "overhead.json").write_text(json.dumps(results, indent=1) + "\n")
    (arguments.out / "overhead.md").write_text(table(results) + "\n")
    plot(results, arguments.out / "overhead.png")
    print(table(results))


if __name__ == "__main__":
    main()
