"""What averaging the weights does to greedy play: `make bench-averaging`.

    python benchmarks/rl_averaging.py ppo Acrobot-v1 --seeds 8 --shares 0 0.2 0.7

Each run is trained once; beside the mean that the agent keeps, others over the given shares of the updates are kept,
and all of them play the same episodes at the end. A share of 0 is the latest weights. With --horizon, episodes may last
longer than in training: that tells policies apart which all hold out until the usual end.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from gradsan.rl.algorithms import preset
from gradsan.rl.evaluate import evaluate
from gradsan.rl.make import make_env
from gradsan.rl.networks import Target
from gradsan.rl.training import Trainer


def play_with_each(
    algorithm: str, env_id: str, seed: int, shares: Sequence[float], episodes: int, horizon: int | None
) -> list[float]:
    config: Any = preset(algorithm, env_id, seed=seed, sanitize="off", eval_every=0, eval_episodes=1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder), None, Console(quiet=True))
        agent: Any = trainer.agent
        own, track = agent.average, agent.average.track
        means = [Target(own.network) for _ in shares]
        for mean in means:
            mean._online = own._online

        def track_all(rate: float) -> None:
            track(rate)
            update = (1 / rate - 1) / config.averaging  # of the agent, whose own rate this is
            for mean, share in zip(means, shares, strict=True):
                mean.track(1 / (1 + share * update))

        own.track = track_all
        trainer.run()
        returns = []
        with make_env(env_id, max_episode_steps=horizon) as env:
            for agent.average in means:
                returns.append(float(evaluate(agent, env, episodes, seed).mean()))
        trainer.close()
    return returns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithm", choices=("a2c", "dqn", "ppo", "sac", "td3"))
    parser.add_argument("env")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 1 on")
    parser.add_argument("--shares", type=float, nargs="+", default=(0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7))
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--horizon", type=int, help="longest episode; the environment's own by default")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print("| seed |" + "".join(f" {share:g} |" for share in options.shares))
    print("|---|" + "---|" * len(options.shares))
    for seed in range(1, options.seeds + 1):
        rows.append(
            play_with_each(
                options.algorithm, options.env, seed, options.shares, options.episodes, options.horizon
            )
        )
        print(f"| {seed} |" + "".join(f" {value:.1f} |" for value in rows[-1]), flush=True)
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    print("| mean |" + "".join(f" {value:.1f} |" for value in means))


if __name__ == "__main__":
    main()
