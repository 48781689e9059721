"""A training run from first step to last plot: progress, evaluation, checkpoints, and an orderly end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from gradsan.rl import checkpoint
from gradsan.rl.algorithms import build, name_of, to_plain
from gradsan.rl.config import Config
from gradsan.rl.denormals import denormals_flushed
from gradsan.rl.display import Display
from gradsan.rl.errors import CheckpointError, EnvironmentFault
from gradsan.rl.evaluate import evaluate
from gradsan.rl.logs import Logs
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.plots import plot_curve
from gradsan.rl.runs import Run
from gradsan.rl.sanitize import sanitized
from gradsan.rl.signals import StopRequest, stop_requests

# Rows of progress.csv in a whole run.
LOG_ROWS = 100


@dataclass
class Outcome:
    """How a run ended: `returns` are those of the last evaluation."""

    folder: Path
    step: int
    finished: bool
    seconds: float
    returns: list[float]
    findings: list[Any] = field(default_factory=list)


def train(
    config: Config, folder: Path | None = None, *, resume: Path | None = None, console: Console | None = None
) -> Outcome:
    """Train by `config` in a new folder, or continue the run at `resume` as if it had never stopped."""
    state = Run(resume).saved()[1] if resume is not None else None
    trainer = Trainer(
        config, Run(resume) if resume is not None else Run.create(config, folder), state, console
    )
    try:
        return trainer.run()
    finally:
        trainer.close()


class Trainer:
    def __init__(
        self, config: Config, run: Run, saved: dict[str, Any] | None, console: Console | None
    ) -> None:
        self.config, self.run_files = config, run
        envs = make_envs(config.env, config.num_envs, config.vectorization)
        self.agent = build(config, envs)
        self.eval_env = make_env(config.env)
        self.returns: np.ndarray[Any, np.dtype[np.float64]] = np.zeros(0)
        self.best, self.seconds = -np.inf, 0.0
        if saved is not None:
            self._restore(saved)
            run.write_config(config)
        self.logs = Logs(run, resumed_at=None if saved is None else self.agent.step)
        if saved is not None:
            self.logs.load_state_dict(saved["logs"])
        title = f"{name_of(config)} {config.env}"
        self.display = Display(title, config.steps, self.agent.step, console)

    def run(self) -> Outcome:
        watched = sanitized(self.config.sanitize, self.display.say)
        with self.display, stop_requests() as stop:
            try:
                with denormals_flushed(), watched as findings:
                    self._learn(stop)
                    finished = self.agent.step >= self.config.steps
                    if finished:
                        self._evaluate()
            except EnvironmentFault as fault:
                self._save(environments=False)
                where = f"What was learned up to step {self.agent.step} is saved in {self.run_files.folder}."
                raise EnvironmentFault(f"{fault} {where}") from fault
            self._save()
            plot_curve(self.run_files)
        if not finished:
            self.display.say(
                f"Stopped at step {self.agent.step}; continue with --resume {self.run_files.folder}"
            )
        found = [float(value) for value in self.returns]
        return Outcome(self.run_files.folder, self.agent.step, finished, self.seconds, found, findings)

    def _learn(self, stop: StopRequest) -> None:
        config, agent = self.config, self.agent
        log_every = max(1, config.steps // LOG_ROWS)
        spent, began, before = self.seconds, time.monotonic(), agent.step
        drawn = 0.0
        while agent.step < config.steps and not stop.requested:
            at = agent.step
            agent.advance()
            now = time.monotonic()
            if now - drawn > 0.1:
                self.logs.take_episodes(agent)
                self.display.update(agent.step, self.logs.mean_return())
                drawn = now
            if crossed(at, agent.step, log_every):
                self.logs.take_episodes(agent)
                self.seconds = spent + now - began
                self.logs.progress(agent, self.seconds, (agent.step - before) / (now - began))
            if crossed(at, agent.step, config.eval_every) and agent.step < config.steps:
                self._evaluate()
            if crossed(at, agent.step, config.checkpoint_every):
                self._save()
        self.logs.take_episodes(agent)
        self.display.update(agent.step, self.logs.mean_return())
        self.seconds = spent + time.monotonic() - began

    def _evaluate(self) -> None:
        config = self.config
        self.returns = evaluate(self.agent, self.eval_env, config.eval_episodes, config.seed)
        mean = float(self.returns.mean())
        self.logs.evaluation(self.agent.step, self.returns)
        spread = self.returns.std()
        self.display.say(f"step {self.agent.step:,}: evaluation {mean:.1f} ± {spread:.1f}")
        if mean >= self.best:
            self.best = mean
            checkpoint.save(self.run_files.best, self._content(self.agent.policy_state()))

    def _save(self, *, environments: bool = True) -> None:
        self.logs.take_episodes(self.agent)
        checkpoint.save(
            self.run_files.checkpoint, self._content(self.agent.state_dict(environments=environments))
        )

    def _content(self, agent: dict[str, Any]) -> dict[str, Any]:
        return {
            "algorithm": name_of(self.config),
            "config": to_plain(self.config),
            "agent": agent,
            "logs": self.logs.state_dict(),
            "best": float(self.best),
            "seconds": self.seconds,
        }

    def _restore(self, saved: dict[str, Any]) -> None:
        try:
            self.agent.load_state_dict(saved["agent"])
        except (KeyError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise CheckpointError(f"The checkpoint does not fit the configuration: {reason}") from error
        self.best, self.seconds = saved["best"], saved["seconds"]

    def close(self) -> None:
        self.logs.close()
        self.agent.envs.close()
        self.eval_env.close()


def crossed(before: int, after: int, every: int) -> bool:
    """Whether a multiple of `every` lies in (before, after]."""
    return every > 0 and after // every > before // every
