"""One side of a benchmark, in a process of its own: trains in turns, and reports its time and its return.

    python benchmarks/rl_worker.py gradsan|sb3 TASK SANITIZE SEED STEPS EPISODES

After each turn it writes a line and waits for one, so that both sides are measured under the same load. Time is that of
the processor: what others do on the machine does not count, and waiting costs nothing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rl_tasks import TASKS, Task

TURNS = 40


class Turns:
    def __init__(self, steps: int) -> None:
        self.size = steps / TURNS
        self.taken = 0
        self.marks: list[tuple[int, float]] = []
        """Steps and time at the end of each turn."""

    def wait(self) -> None:
        print(json.dumps({"turn": self.taken}), flush=True)
        sys.stdin.readline()

    def at(self, step: int) -> None:
        if step >= (self.taken + 1) * self.size and self.taken + 1 < TURNS:
            self.taken += 1
            self.marks.append((step, time.process_time()))
            self.wait()

    def result(self, began: float, ended: float, steps: int) -> dict[str, Any]:
        marks = [(step, at - began) for step, at in self.marks]
        return {"seconds": ended - began, "steps": steps, "marks": marks}


def run_gradsan(task: Task, seed: int, sanitize: str, episodes: int) -> dict[str, Any]:
    from rich.console import Console

    from gradsan.rl.algorithms import preset
    from gradsan.rl.training import Trainer

    import_sanitizer()
    common = {"steps": task.steps, "num_envs": task.num_envs, "seed": seed, "sanitize": sanitize}
    config = preset(
        task.algorithm,
        task.env,
        **common,
        eval_every=0,
        eval_episodes=max(episodes, 1),
        checkpoint_every=task.steps,
        **task.ours,
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder), None, Console(stderr=True, quiet=True))
        turns, advance = Turns(task.steps), trainer.agent.advance

        def in_turns() -> None:
            turns.at(trainer.agent.step)
            advance()

        ended: list[float] = []
        stop_clock = trainer.stop_clock

        def at_the_end() -> None:  # before the last evaluation, which is not timed
            ended.append(time.process_time())
            stop_clock()

        trainer.agent.advance = in_turns  # type: ignore[method-assign]
        trainer.stop_clock = at_the_end  # type: ignore[method-assign]
        turns.wait()
        began = time.process_time()
        outcome = trainer.run()
        trainer.close()
    returns = outcome.returns if episodes else []
    return turns.result(began, ended[0], outcome.step) | {"returns": returns, "sanitizer": sanitize}


def import_sanitizer() -> None:
    """Its modules are imported when it is first needed: before the clock starts here, as Stable-Baselines3's are."""
    from gradsan.api import check, watch  # noqa: F401
    from gradsan.observe import session  # noqa: F401
    from gradsan.rules import catalogue

    catalogue()


def run_sb3(task: Task, seed: int, episodes: int) -> dict[str, Any]:
    import stable_baselines3 as sb3
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.vec_env import VecNormalize

    turns = Turns(task.steps)

    class InTurns(BaseCallback):
        def _on_step(self) -> bool:
            turns.at(self.num_timesteps)
            return True

    env: Any = make_vec_env(task.env, n_envs=task.num_envs, seed=seed)
    options = {name: falling(value) if name in task.anneal else value for name, value in task.theirs.items()}
    if task.normalize:
        env = VecNormalize(env, gamma=options["gamma"])
    if task.algorithm == "td3":
        options["action_noise"] = NormalActionNoise(np.zeros(1), 0.1 * np.ones(1))
    model = getattr(sb3, task.algorithm.upper())("MlpPolicy", env, seed=seed, device="cpu", **options)
    turns.wait()
    began = time.process_time()
    model.learn(task.steps, callback=InTurns())
    ended = time.process_time()
    returns = play(model, task, seed, episodes, env.normalize_obs if task.normalize else None)
    return turns.result(began, ended, model.num_timesteps) | {"returns": returns}


def play(model: Any, task: Task, seed: int, episodes: int, normalize: Any) -> list[float]:
    """Greedy episodes from the same starts as gradsan's: half of Pendulum's return is where it begins."""
    import gymnasium as gym

    from gradsan.rl.evaluate import episode_seeds

    env, returns = gym.make(task.env), []
    for start in episode_seeds(seed, episodes):
        obs, _ = env.reset(seed=start)
        total, ended = 0.0, False
        while not ended:
            seen = obs if normalize is None else normalize(obs)
            action, _ = model.predict(seen, deterministic=True)
            obs, reward, terminated, truncated, _ = env.step(action if action.ndim else action.item())
            total, ended = total + float(reward), terminated or truncated
        returns.append(total)
    return returns


def falling(start: float) -> Any:
    return lambda remaining: start * remaining


def main() -> None:
    side, name, sanitize, *numbers = sys.argv[1:]
    seed, steps, episodes = map(int, numbers)
    torch.set_num_threads(1)
    task = replace(TASKS[name], steps=steps)
    ours = side == "gradsan"
    result = run_gradsan(task, seed, sanitize, episodes) if ours else run_sb3(task, seed, episodes)
    print(json.dumps({"result": result}), flush=True)


if __name__ == "__main__":
    main()
