"""Learning curves on robots (MuJoCo) and games (Atari), ours and Stable-Baselines3's: `make bench-curves`.

    python benchmarks/rl_curves.py --tasks sac-hopper --steps 20000

Both sides have the same hyperparameters, starts of evaluation episodes, and one thread. Results are added to
benchmarks/results/curves.jsonl; docs/rl-curves.md and its picture are written from all of them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from rich.console import Console
from rl_curves_report import RESULTS, write_report

from gradsan.rl.algorithms import preset
from gradsan.rl.atari import is_game, to_learn_from
from gradsan.rl.evaluate import episode_seeds
from gradsan.rl.make import make_env
from gradsan.rl.runs import Run, read_table
from gradsan.rl.training import train

POINTS, EPISODES = 10, 3
SIDES = ("gradsan", "sb3")


class Curve(NamedTuple):
    algorithm: str
    env: str
    steps: int
    """As many as some ten minutes of one core allow; a real training has ten to a hundred times as many."""


ROBOTS = {"hopper": "Hopper-v5", "halfcheetah": "HalfCheetah-v5"}
LENGTHS = {"ppo": 102_400, "sac": 20_000, "td3": 20_000}
TASKS = {
    f"{algorithm}-{name}": Curve(algorithm, env, steps)
    for name, env in ROBOTS.items()
    for algorithm, steps in LENGTHS.items()
}
TASKS |= {
    "ppo-boxing": Curve("ppo", "ALE/Boxing-v5", 32_768),
    "dqn-boxing": Curve("dqn", "ALE/Boxing-v5", 16_000),
}
# Short runs begin to learn at once, on both sides.
EARLY = {
    "sac": {"learning_starts": 1_000},
    "td3": {"learning_starts": 1_000},
    "dqn": {"learning_starts": 1_000},
}
SMALL_REPLAY = {"sac": 50_000, "td3": 50_000, "dqn": 20_000}


def options(task: Curve, steps: int, seed: int) -> Any:
    own: dict[str, Any] = EARLY.get(task.algorithm, {})
    if task.algorithm in SMALL_REPLAY:
        own = own | {"buffer_size": SMALL_REPLAY[task.algorithm]}
    episodes = 1 if is_game(task.env) else EPISODES
    every = {"eval_every": steps // POINTS, "eval_episodes": episodes, "checkpoint_every": steps}
    return preset(task.algorithm, task.env, steps=steps, seed=seed, **every, **own)


def ours(config: Any) -> list[tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        outcome = train(config, Path(folder) / "run", console=Console(stderr=True, quiet=True))
        if outcome.findings:
            raise SystemExit(f"The sanitizer found something: {outcome.findings}")
        rows = read_table(Run(outcome.folder).evaluations)
    return [(row["step"], row["mean"]) for row in rows]


def theirs(algorithm: str, config: Any) -> list[tuple[float, float]]:
    import stable_baselines3 as sb3
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    env: Any = DummyVecEnv([lambda: to_learn_from(make_env(config.env))] * config.num_envs)
    env.seed(config.seed)
    if getattr(config, "normalize", False):
        env = VecNormalize(env, gamma=config.gamma)
    policy = "CnnPolicy" if is_game(config.env) else "MlpPolicy"
    model = getattr(sb3, algorithm.upper())(
        policy, env, seed=config.seed, device="cpu", **arguments(algorithm, config)
    )
    points: list[tuple[float, float]] = []

    class Evaluate(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps // config.eval_every > len(points):
                points.append((self.num_timesteps, played(model, config)))
            return True

    model.learn(config.steps, callback=Evaluate())
    return points


def arguments(algorithm: str, config: Any) -> dict[str, Any]:
    """Our hyperparameters by their names over there."""
    found = {"learning_rate": config.learning_rate, "gamma": config.gamma, "batch_size": config.batch_size}
    if algorithm == "ppo":
        falling = (lambda start: lambda left: start * left) if config.anneal else (lambda start: start)
        return found | {
            "learning_rate": falling(config.learning_rate),
            "clip_range": falling(config.clip),
            "n_steps": config.rollout,
            "n_epochs": config.epochs,
            "gae_lambda": config.trace,
            "ent_coef": config.entropy_bonus,
        }
    found |= {"buffer_size": config.buffer_size, "learning_starts": config.learning_starts}
    if algorithm == "dqn":
        return found | {
            "train_freq": config.train_every,
            "target_update_interval": config.target_every,
            "exploration_fraction": config.epsilon_fraction,
            "exploration_final_eps": config.epsilon_end,
        }
    return (
        found
        | {"tau": config.target_rate, "policy_kwargs": {"net_arch": list(config.hidden)}}
        | noise(algorithm, config)
    )


def noise(algorithm: str, config: Any) -> dict[str, Any]:
    from stable_baselines3.common.noise import NormalActionNoise

    if algorithm != "td3":
        return {}
    with make_env(config.env) as env:
        size = int(np.prod(env.action_space.shape or ()))
    return {"action_noise": NormalActionNoise(np.zeros(size), config.exploration_noise * np.ones(size))}


def played(model: Any, config: Any) -> float:
    """Greedy episodes from the starts that ours has."""
    normalize = model.get_vec_normalize_env()
    env: gym.Env[Any, Any] = make_env(config.env)
    totals = []
    for start in episode_seeds(config.seed, config.eval_episodes):
        obs, _ = env.reset(seed=start)
        total, ended = 0.0, False
        while not ended:
            seen = np.asarray(obs) if normalize is None else normalize.normalize_obs(np.asarray(obs))
            action, _ = model.predict(seen, deterministic=True)
            obs, reward, terminated, truncated, _ = env.step(action if action.ndim else action.item())
            total, ended = total + float(reward), terminated or truncated
        totals.append(total)
    env.close()
    return float(np.mean(totals))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--steps", type=int, help="instead of each task's own number")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument(
        "--sides", nargs="+", choices=SIDES, default=SIDES, help="the other's results are kept"
    )
    parser.add_argument("--report", action="store_true", help="write the page from the results at hand")
    given = parser.parse_args()
    torch.set_num_threads(1)
    RESULTS.parent.mkdir(exist_ok=True)
    for seed in [] if given.report else range(given.first_seed, given.first_seed + given.seeds):
        for name in given.tasks:
            task = TASKS[name]
            config = options(task, given.steps or task.steps, seed)
            for side in given.sides:
                began = time.process_time()
                points = ours(config) if side == "gradsan" else theirs(task.algorithm, config)
                seconds = time.process_time() - began
                row = {"task": name, "side": side, "seed": seed, "steps": config.steps}
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**row, "cpu_seconds": seconds, "points": points}) + "\n")
                print(f"{name} {side} seed {seed}: {points[-1][1]:.1f} in {seconds:.0f} s of CPU", flush=True)
    write_report()


if __name__ == "__main__":
    main()
