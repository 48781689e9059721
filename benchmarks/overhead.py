"""What watching costs: bare, light, adaptive, deep and PyTorch's anomaly mode, side by side in one run.

    make bench                 # everything, about twenty minutes
    make bench BENCH="--quick" # fewer repetitions

Every figure is a ratio to the bare script. Both have their turns in one process, a tenth of a second each
(`interleaved`),
and a figure is the median over all pairs of neighbouring turns, with the spread of their middle half: what the
machine does besides falls on both, and bursts of it fall out. The column `bare` is the bare script against itself.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import torch
from interleaved import stretches
from workloads import WORKLOADS

MODES = ("bare", "light", "adaptive", "deep", "anomaly")
AMORTISED = 5_000  # updates of a run that `adaptive` is about, its first, deep iterations included


class Plan(NamedTuple):
    """How long to measure. A turn takes about a tenth of a second."""

    turn: int
    run: int
    """Updates of an adaptive run; where it is shorter than the one meant, the rest goes on like its second half."""


PLANS = {
    "DQN 4-64-64-2": Plan(100, 5_000),
    "PPO minibatch": Plan(50, 5_000),
    "SAC 256-256": Plan(10, 600),
    "recurrent policy": Plan(20, 1_200),
    "conv Q 84×84×4": Plan(2, 120),
}
WARM_UP = 24
TURNS = 16  # per mode and round

Pairs = list[tuple[float, float]]


def measure(name: str, rounds: int) -> dict[str, Any]:
    make, plan = WORKLOADS[name], PLANS[name]
    pairs: dict[str, Pairs] = {mode: [] for mode in MODES if mode != "adaptive"}
    runs: list[Pairs] = []
    for _ in range(rounds):
        for mode, measured in pairs.items():
            gc.collect()
            measured += stretches(make, mode, [WARM_UP] + [plan.turn] * TURNS)[1:]
        gc.collect()
        runs.append(stretches(make, "adaptive", [plan.turn] * (plan.run // plan.turn)))
    modes = {mode: _summary([a / b for a, b in measured]) for mode, measured in pairs.items()}
    modes["adaptive"] = _whole_run(runs, plan)
    bare = statistics.median(b for _, b in pairs["bare"]) / plan.turn
    return {"workload": name, "bare_microseconds": round(bare * 1e6, 1), "modes": modes}


def _whole_run(runs: list[Pairs], plan: Plan) -> dict[str, float]:
    """The first turns hold the deep iterations and cost more than the later ones: hence the median over the rounds
    for each turn, and the mean of those. The spread is that of the rounds' own means."""
    typical = [statistics.median(a / b for a, b in turns) for turns in zip(*runs, strict=True)]
    whole = _extended(typical, plan)
    spread = _summary([_extended([a / b for a, b in run], plan) for run in runs])
    return {"median": round(whole, 3), "low": spread["low"], "high": spread["high"]}


def _extended(ratios: list[float], plan: Plan) -> float:
    """The mean over a run of 5,000 updates."""
    missing = AMORTISED // plan.turn - len(ratios)
    later = statistics.mean(ratios[len(ratios) // 2 :])
    return (sum(ratios) + missing * later) / (len(ratios) + missing)


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
    parser.add_argument(
        "--only", default="", help="the workloads whose name begins so; others stay as measured"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(exist_ok=True)
    written = arguments.out / "overhead.json"
    known = {row["workload"]: row for row in json.loads(written.read_text())} if written.is_file() else {}
    for name in [name for name in WORKLOADS if name.startswith(arguments.only)]:
        known[name] = measure(name, arguments.rounds)
        print(table([known[name]]).splitlines()[-1], flush=True)
    results = [known[name] for name in WORKLOADS if name in known]
    written.write_text(json.dumps(results, indent=1) + "\n")
    (arguments.out / "overhead.md").write_text(table(results) + "\n")
    plot(results, arguments.out / "overhead.png")
    print(table(results))


if __name__ == "__main__":
    main()
