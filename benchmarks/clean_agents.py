"""Every reference agent under its own sanitizer, with the options that a user gets: `make clean-agents`.

    python benchmarks/clean_agents.py --steps 3000
    python benchmarks/clean_agents.py --only sac td3 --mode deep

Prints one line per run, and ends with status 1 where one of them has a finding.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import product
from pathlib import Path

import torch
from rich.console import Console

from gradsan import Finding
from gradsan.rl.algorithms import preset
from gradsan.rl.training import train

MODES = ("adaptive", "deep")
DISCRETE, BOX = "CartPole-v1", "Pendulum-v1"
RUNS = [
    *product(("dqn", "reinforce", "a2c", "ppo"), (DISCRETE,)),
    *product(("reinforce", "a2c", "ppo", "sac", "td3"), (BOX,)),
]


def findings(algorithm: str, env: str, mode: str, steps: int) -> list[Finding]:
    config = preset(algorithm, env, steps=steps, sanitize=mode, eval_every=0, eval_episodes=1)
    with tempfile.TemporaryDirectory() as folder:
        return train(config, Path(folder) / "run", console=Console(quiet=True)).findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--only", nargs="+", choices=sorted({algorithm for algorithm, _ in RUNS}))
    parser.add_argument("--mode", nargs="+", choices=MODES, default=MODES)
    options = parser.parse_args()
    torch.set_num_threads(1)
    clean = True
    picked = [run for run in RUNS if options.only is None or run[0] in options.only]
    for (algorithm, env), mode in product(picked, options.mode):
        found = findings(algorithm, env, mode, options.steps)
        clean = clean and not found
        verdict = "; ".join(f"{f.rule} {f.message}" for f in found) or "clean"
        print(f"{algorithm} {env} {mode}: {verdict}", flush=True)
    raise SystemExit(0 if clean else 1)


if __name__ == "__main__":
    main()
