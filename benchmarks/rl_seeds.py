"""PPO of many seeds as one batched update: what it costs against one seed, and whether returns are the same.

    python benchmarks/rl_seeds.py --steps 30000

Time is that of the processor: of the commands as a user gives them, in turns of half a second (`turns.py`), and of
collecting and updating alone, in turns of a few rollouts. The returns are those of the seeds trained alone and trained
together, compared by a permutation test. Writes docs/rl-seeds.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from kept import Kept, add_options
from turns import in_turns

from gradsan.rl.algorithms import build, preset
from gradsan.rl.comparing import bootstrap
from gradsan.rl.evaluate import evaluate
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.ppo_seeds import SeedsPPO
from gradsan.rl.seeds_together import play_together

ENV = "CartPole-v1"
PAGE = Path(__file__).parent.parent / "docs" / "rl-seeds.md"
TURN = 2  # rollouts
WHOLE = 100_000  # steps of the commands: the default of PPO


def commands(count: int, runs: int) -> list[list[float]]:
    """Processor time of each run of `gradsan train ppo` with one seed, and with `count` of them."""
    with tempfile.TemporaryDirectory() as folder:
        # A run wants a folder of its own, and the commands are given many times.
        train = f"exec {sys.executable} -m gradsan train ppo --env {ENV} --steps {WHOLE}"
        where = f'--out "$(mktemp -d -p {folder})/run" 2> {folder}/said'
        seeds = ("--seed 1", f"--seeds {count}")
        return in_turns([["sh", "-c", f"{train} {each} {where}"] for each in seeds], runs)


def alone(seed: int, steps: int) -> Any:
    config = preset("ppo", ENV, seed=seed, steps=steps)
    return build(config, make_envs(ENV, config.num_envs))


def together(seeds: Sequence[int], steps: int) -> SeedsPPO:
    agents = [alone(seed, steps) for seed in seeds]
    return SeedsPPO(agents, make_envs(ENV, agents[0].config.num_envs * len(agents)))


def cost(count: int, turns: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How many times the processor time of one seed `count` of them take, turn by turn."""
    one, many = alone(1, 10**6), together(range(1, count + 1), 10**6)
    seconds: list[list[float]] = [[], []]
    for _ in range(turns + 1):
        for side, agent in enumerate((one, many)):
            began = time.process_time()
            for _ in range(TURN):
                agent.advance()
            seconds[side].append(time.process_time() - began)
    spent = np.array(seconds)[:, 1:]  # the first turn warms up
    return spent[1] / spent[0]


def returns_alone(seeds: Sequence[int], steps: int, episodes: int) -> list[float]:
    found = []
    for seed in seeds:
        agent = alone(seed, steps)
        while agent.step < steps:
            agent.advance()
        with make_env(ENV) as env:
            found.append(float(evaluate(agent, env, episodes, seed).mean()))
    return found


def returns_together(seeds: Sequence[int], steps: int, episodes: int) -> list[float]:
    group = together(seeds, steps)
    while group.step < steps:
        group.advance()
    return [float(value) for value in play_together(group, episodes).mean(axis=1)]


def permutation(one: Sequence[float], other: Sequence[float]) -> float:
    """Share of random splits whose means lie at least as far apart: small where the two are not the same."""
    rng, pooled = np.random.default_rng(0), np.array([*one, *other])
    found = abs(np.mean(one) - np.mean(other))
    drawn = np.array([rng.permutation(pooled) for _ in range(5_000)])
    apart = np.abs(drawn[:, : len(one)].mean(axis=1) - drawn[:, len(one) :].mean(axis=1))
    return float((apart >= found - 1e-9).mean())


def said_of_commands(spent: list[list[float]], count: int) -> str:
    one, many = spent
    mean, low, high = (sum(many) / len(many) / base for base in (sum(one) / len(one), max(one), min(one)))
    return (
        f"**Time.** `gradsan train ppo --env {ENV} --seeds {count}` takes {mean:.2f} times the processor time of the "
        f"same command with one seed ({low:.2f} … {high:.2f} by the slowest and the quickest of {len(one)} runs of one "
        f"seed; {len(many)} of {count}), both as given: from start to last plot, with evaluations and the sanitizer."
    )


def write_page(
    spent: list[list[float]],
    ratios: Any,
    count: int,
    mine: list[float],
    others: list[float],
    steps: int,
    episodes: int,
) -> None:
    mean, low, high = (float(value[0]) for value in bootstrap(ratios[:, None]))
    rows = [("alone", mine), ("together", others)]
    lines = [
        "# Many seeds as one update",
        "",
        f'Written by `make bench-seeds BENCH="{" ".join(sys.argv[1:])}"`; do not edit. PPO on CartPole-v1 with its '
        "defaults, one thread.",
        "",
        said_of_commands(spent, count),
        "",
        f"Collecting and updating alone, with the sanitizer off on both sides: {mean:.2f} times "
        f"({low:.2f} … {high:.2f}, 95 % bootstrap interval over {len(ratios)} turns of {TURN} rollouts; median "
        f"{np.median(ratios):.2f}).",
        "",
        f"**Returns.** {len(mine)} seeds, {steps:,} steps each, {episodes} greedy episodes per seed afterwards:",
        "",
        "| trained | mean | deviation over seeds | lowest | median | highest |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {np.mean(v):.1f} | {np.std(v):.1f} | {min(v):.1f} | {np.median(v):.1f} | {max(v):.1f} |"
            for name, v in rows
        ),
        "",
        f"If both were draws from one distribution, means at least this far apart would come up in "
        f"{100 * permutation(mine, others):.0f} % of all splits (permutation test). The seeds do not give the same "
        "numbers as alone: chance is drawn for all of them at once. That one update is the same as alone, number by "
        "number, is a test (`tests/rl/test_rl_seeds_together.py`).",
        "",
    ]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=10, help="seeds whose time is measured")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--runs", type=int, default=2, help="of each command")
    parser.add_argument("--seeds", type=int, default=20, help="seeds whose returns are compared")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--episodes", type=int, default=20)
    add_options(parser)
    given = parser.parse_args()
    torch.set_num_threads(1)
    seeds, kept = range(1, given.seeds + 1), Kept(given)
    parts: dict[str, Callable[[], list[Any]]] = {
        "commands": lambda: commands(given.count, given.runs),
        "update": lambda: cost(given.count, given.turns).tolist(),
        "together": lambda: returns_together(seeds, given.steps, given.episodes),
        "alone": lambda: returns_alone(seeds, given.steps, given.episodes),
    }
    for name, measure in parts.items():
        if name not in kept.results and not kept.is_time_up:
            kept.add(name, measure())
            print(f"{name}: {kept.results[name]}", flush=True)
    if parts.keys() <= kept.results.keys():
        spent, ratios, others, mine = (kept.results[name] for name in parts)
        write_page(spent, np.array(ratios), given.count, mine, others, given.steps, given.episodes)
        print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
