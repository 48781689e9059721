"""Many seeds in one process: one vector environment, one batched update, and a run folder for each as ever."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray

from gradsan.rl.config import Config
from gradsan.rl.denormals import denormals_flushed
from gradsan.rl.errors import EnvironmentFault, RlError, in_a_line
from gradsan.rl.evaluate import LONGEST, Stopped, episode_seeds
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.plots import plot_curve
from gradsan.rl.ppo import PPO, PPOConfig
from gradsan.rl.ppo_seeds import SeedsPPO
from gradsan.rl.sanitize import sanitized
from gradsan.rl.seeds import SeedJob, SeedOutcome, SeedRunner
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.signals import StopRequest
from gradsan.rl.spaces import Observations
from gradsan.rl.training import Trainer, crossed

# Wider layers keep a core busy one at a time: nothing is left to gain.
WIDEST = 128
# Seeds of one stack; more would not fit into the caches.
MOST = 20


@dataclass(frozen=True)
class Together:
    """A `SeedRunner`. What it cannot do is left to `otherwise`: large networks, images, running statistics, other
    algorithms, and seeds that are taken up from a checkpoint."""

    otherwise: SeedRunner

    def __call__(
        self, jobs: Sequence[SeedJob], display: SeedsDisplay, stop: StopRequest
    ) -> Iterator[SeedOutcome]:
        if len(jobs) < 2 or any(job.folder.exists() for job in jobs) or not suits(jobs[0].config):
            yield from self.otherwise(jobs, display, stop)
            return
        for first in range(0, len(jobs), MOST):
            if not stop.requested:
                yield from _attempt(jobs[first : first + MOST], display, stop)


def suits(config: Config) -> bool:
    plain = isinstance(config, PPOConfig) and not config.normalize and max(config.hidden) <= WIDEST
    if not plain or config.device != "cpu" or config.vectorization == "async":
        return False
    try:
        env = make_env(config.env)
        seen = Observations.of(env.observation_space)
    except RlError:
        return False  # whoever trains it says why
    env.close()
    return not seen.image


def _attempt(jobs: Sequence[SeedJob], display: SeedsDisplay, stop: StopRequest) -> list[SeedOutcome]:
    torch.set_num_threads(1)
    trainers: list[Trainer] = []
    try:
        with contextlib.ExitStack() as opened:
            for job in jobs:
                trainers.append(Trainer(job.config, job.folder, None, None, _Shown(display, job.seed)))
                opened.callback(trainers[-1].close)
            findings = train_together(trainers, display, stop)
            return [
                SeedOutcome(job, trainer.outcome(findings))
                for job, trainer in zip(jobs, trainers, strict=True)
            ]
    except RlError as error:
        return [SeedOutcome(job, error=str(error)) for job in jobs]


def train_together(trainers: Sequence[Trainer], display: SeedsDisplay, stop: StopRequest) -> list[Any]:
    """Until every seed has made its steps; what the sanitizer found concerns all of them."""
    config = trainers[0].config
    agents = [trainer.agent for trainer in trainers if isinstance(trainer.agent, PPO)]
    envs = make_envs(config.env, config.num_envs * len(agents), config.vectorization)
    with contextlib.closing(envs):
        together = SeedsPPO(agents, envs)  # made before the watch begins, as every agent is
        with denormals_flushed(), sanitized(config.sanitize, display.say) as findings:
            _learn(together, trainers, stop)
    for trainer in trainers:
        plot_curve(trainer.run_files)
    return findings


def _learn(together: SeedsPPO, trainers: Sequence[Trainer], stop: StopRequest) -> None:
    config, agents = together.config, together.agents
    for trainer in trainers:
        trainer.begin(stop)
    while together.step < config.steps and not stop.requested:
        at = [agent.step for agent in agents]
        slowest = together.step
        together.advance()
        for trainer, before in zip(trainers, at, strict=True):
            trainer.show(before)
        if crossed(slowest, together.step, config.eval_every) and together.step < config.steps:
            _evaluate(together, trainers, stop)
        if crossed(slowest, together.step, config.checkpoint_every):
            _save(together, trainers)
    for trainer in trainers:
        trainer.stop_clock()
    if together.step >= config.steps:
        _evaluate(together, trainers, stop)
    _save(together, trainers)


def _save(together: SeedsPPO, trainers: Sequence[Trainer]) -> None:
    """A seed that is resumed alone begins with new episodes: its environments are part of a larger whole."""
    together.hand_over()
    for trainer in trainers:
        trainer.save(environments=False)


def _evaluate(together: SeedsPPO, trainers: Sequence[Trainer], stop: StopRequest) -> None:
    """The episodes that each seed would play alone, side by side."""

    def stop_if_asked() -> None:
        if stop.requested:
            raise Stopped

    for trainer in trainers:
        trainer.evaluation_due = True
    try:
        returns = play_together(together, trainers[0].config.eval_episodes, stop_if_asked)
    except Stopped:
        return
    for trainer, own in zip(trainers, returns, strict=True):
        trainer.note_evaluation(own)


def play_together(
    together: SeedsPPO, episodes: int, before_step: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """Returns [S, episodes] of greedy play."""
    name = together.config.env
    starts = [start for agent in together.agents for start in episode_seeds(agent.base.seed, episodes)]
    with contextlib.ExitStack() as opened:
        envs = [opened.enter_context(make_env(name)) for _ in starts]
        try:
            returns = _played(together, envs, starts, before_step)
        except (Stopped, RlError):
            raise
        except Exception as error:
            raise EnvironmentFault(
                f"{name} raised {type(error).__name__} in evaluation: {in_a_line(error)}"
            ) from error
    if not np.isfinite(returns).all():
        raise EnvironmentFault(f"{name} returned a reward that is not finite in evaluation.")
    return returns.reshape(-1, episodes)


def _played(
    together: SeedsPPO, envs: list[gym.Env[Any, Any]], starts: list[int], before_step: Callable[[], None]
) -> NDArray[np.float64]:
    obs = np.stack([np.array(env.reset(seed=start)[0]) for env, start in zip(envs, starts, strict=True)])
    returns, running = np.zeros(len(envs)), np.ones(len(envs), dtype=bool)
    for _ in range(LONGEST):
        before_step()
        seen = obs.reshape(together.seeds, -1, *obs.shape[1:])
        action = together.act(seen)
        action = action.reshape(len(envs), *action.shape[2:])
        for index in np.flatnonzero(running):
            obs[index], reward, terminated, truncated, _ = envs[index].step(action[index])
            returns[index] += float(reward)
            running[index] = not (terminated or truncated) and math.isfinite(returns[index])
        if not running.any():
            break
    return returns


class _Shown:
    """A `ProgressView`: one seed in the display of all."""

    def __init__(self, display: SeedsDisplay, seed: int) -> None:
        self._display, self._seed = display, seed

    def update(self, step: int, mean_return: float | None) -> None:
        self._display.update(self._seed, step, mean_return)

    def evaluated(self, step: int, mean: float, spread: float) -> None:
        """Each seed's evaluations are in its folder; together they are compared at the end."""

    def say(self, message: str) -> None:
        self._display.say_of(self._seed, message)

    def __enter__(self) -> _Shown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
