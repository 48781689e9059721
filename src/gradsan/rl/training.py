"""A training run from first step to last plot: progress, evaluation, checkpoints, and an orderly end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from gradsan.rl import checkpoint
from gradsan.rl.algorithms import build, name_of, to_plain
from gradsan.rl.checkpoint import MISFITS
from gradsan.rl.config import Config
from gradsan.rl.denormals import denormals_flushed
from gradsan.rl.display import Display, ProgressView
from gradsan.rl.errors import CheckpointError, Diverged, EnvironmentFault, in_a_line
from gradsan.rl.evaluate import Stopped, evaluate
from gradsan.rl.logs import Logs
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.plots import plot_curve
from gradsan.rl.runs import Run
from gradsan.rl.sanitize import sanitized
from gradsan.rl.signals import StopRequest, stop_requests

# Rows of progress.csv in a whole run.
LOG_ROWS = 100


@dataclass
class TrainingOutcome:
    """How a run ended: `returns` are those of the last evaluation."""

    folder: Path
    step: int
    finished: bool
    seconds: float
    returns: list[float]
    findings: list[Any] = field(default_factory=list)


class Clock:
    """Time at work since the run began, with what it had taken before it was resumed."""

    def __init__(self, spent: float, step: int) -> None:
        self.first_step = step
        self._spent, self._began, self._drawn = spent, time.monotonic(), 0.0

    def seconds(self) -> float:
        return self._spent + time.monotonic() - self._began

    def rate(self, step: int) -> float:
        return (step - self.first_step) / max(1e-9, time.monotonic() - self._began)

    def to_be_drawn(self) -> bool:
        now = time.monotonic()
        due = now - self._drawn > 0.1
        self._drawn = now if due else self._drawn
        return due


def train(
    config: Config,
    folder: Path | None = None,
    *,
    resume: Path | None = None,
    console: Console | None = None,
    display: ProgressView | None = None,
) -> TrainingOutcome:
    """Train by `config` in a new folder, or continue the run at `resume` as if it had never stopped.

    Progress is shown on `console` (standard error), or wherever `display` shows it."""
    state = None
    if resume is not None:
        saved, state = Run(resume).saved()
        config.require_same_run(saved)
    trainer = Trainer(config, resume or folder, state, console, display)
    try:
        return trainer.run()
    finally:
        trainer.close()


class Trainer:
    def __init__(
        self,
        config: Config,
        folder: Path | None,
        saved: dict[str, Any] | None,
        console: Console | None,
        display: ProgressView | None = None,
    ) -> None:
        self.config = config
        envs = make_envs(config.env, config.num_envs, config.vectorization)
        self.agent = build(config, envs)
        self.eval_env = make_env(config.env)
        self.returns: NDArray[np.float64] = np.zeros(0)
        self.best, self.seconds = -np.inf, 0.0
        self.saved_at = 0  # step of the latest checkpoint
        self.evaluation_due = False
        # The folder comes last: what cannot be trained leaves none, and a checkpoint that does not fit is untouched.
        if saved is None or folder is None:
            self.run_files = Run.create(config, folder)
            self.logs = Logs(self.run_files)
        else:
            self.run_files = Run(folder)
            log_state = self._restore(saved)
            self.run_files.write_config(config)
            self.logs = Logs(self.run_files, resumed_at=self.agent.step)
            self.logs.load_state_dict(log_state)
        title = f"{name_of(config)} {config.env}"
        self.display = display or Display(title, config.steps, self.agent.step, console)

    def run(self) -> TrainingOutcome:
        folder, agent = self.run_files.folder, self.agent
        findings: list[Any] = []
        if agent.step >= self.config.steps and not self.evaluation_due:
            self.display.say(f"{folder} has made its {agent.step} steps already; for more, give --steps.")
            return self.outcome(findings)
        watched = sanitized(self.config.sanitize, self.display.say)
        with self.display, stop_requests() as stop:
            try:
                with denormals_flushed(), watched as findings:
                    self._learn(stop)
            except EnvironmentFault as fault:
                raise self._saved_in_spite_of(fault) from fault
            except KeyboardInterrupt:
                kept = (
                    f"the checkpoint of step {self.saved_at} is kept"
                    if self.saved_at
                    else "nothing was saved yet"
                )
                self.display.say(f"Stopped in the middle of step {agent.step}: {kept}.")
                raise
            self.save()
            plot_curve(self.run_files)
        outcome = self.outcome(findings)
        if not outcome.finished:
            self.display.say(f"Stopped at step {agent.step}; continue with --resume {folder}")
        return outcome

    def outcome(self, findings: list[Any]) -> TrainingOutcome:
        finished = self.agent.step >= self.config.steps and not self.evaluation_due
        found = [float(value) for value in self.returns]
        return TrainingOutcome(
            self.run_files.folder, self.agent.step, finished, self.seconds, found, findings
        )

    def _saved_in_spite_of(self, fault: EnvironmentFault) -> EnvironmentFault:
        if not self.agent.step:
            return fault
        self.evaluation_due = False  # else whoever resumes would meet the same fault at once
        self.save(environments=False)
        where = f"What was learned up to step {self.agent.step} is saved in {self.run_files.folder}."
        return EnvironmentFault(f"{fault} {where}")

    def _learn(self, stop: StopRequest) -> None:
        self.begin(stop)
        while self.agent.step < self.config.steps and not stop.requested:
            at = self.agent.step
            self.agent.advance()
            self.after(at, stop)
        self.end(stop)

    def begin(self, stop: StopRequest) -> None:
        self._clock = Clock(self.seconds, self.agent.step)
        if self.evaluation_due:  # the run was stopped in the middle of one
            self._evaluate(stop)

    def after(self, at: int, stop: StopRequest) -> None:
        """What is due now that the agent has gone on from step `at`."""
        config, agent = self.config, self.agent
        self.show(at)
        if crossed(at, agent.step, config.eval_every) and agent.step < config.steps:
            self._evaluate(stop)
        if crossed(at, agent.step, config.checkpoint_every):
            self.save()

    def show(self, at: int) -> None:
        """On the display, and where it is due in the logs."""
        agent, clock = self.agent, self._clock
        if clock.to_be_drawn():
            self.logs.take_episodes(agent)
            self.display.update(agent.step, self.logs.mean_return())
        if crossed(at, agent.step, max(1, self.config.steps // LOG_ROWS)):
            self.logs.take_episodes(agent)
            self.seconds = clock.seconds()
            self.logs.progress(agent, self.seconds, clock.rate(agent.step))

    def end(self, stop: StopRequest) -> None:
        agent = self.agent
        self.stop_clock()
        if agent.step > self._clock.first_step and agent.step >= self.config.steps:
            self._evaluate(stop)

    def stop_clock(self) -> None:
        self.logs.take_episodes(self.agent)
        self.display.update(self.agent.step, self.logs.mean_return())
        self.seconds = self._clock.seconds()

    def _evaluate(self, stop: StopRequest) -> None:
        def stop_if_asked() -> None:
            if stop.requested:
                raise Stopped

        config = self.config
        self.evaluation_due = True
        self._require_finite()
        try:
            found = evaluate(self.agent, self.eval_env, config.eval_episodes, config.seed, stop_if_asked)
        except Stopped:
            return
        self.note_evaluation(found)

    def note_evaluation(self, returns: NDArray[np.float64]) -> None:
        self._require_finite()
        self.returns, self.evaluation_due = returns, False
        mean = float(self.returns.mean())
        self.logs.evaluation(self.agent.step, self.returns)
        self.display.evaluated(self.agent.step, mean, float(self.returns.std()))
        if mean >= self.best:
            self.best = mean
            checkpoint.save(self.run_files.best, self._content(self.agent.policy_state()))

    def _require_finite(self) -> None:
        """Weights that are no numbers are not worth a checkpoint, least of all in the place of a good one."""
        networks = [part for part in self.agent.parts().values() if isinstance(part, torch.nn.Module)]
        if all(bool(torch.isfinite(weight).all()) for net in networks for weight in net.parameters()):
            return
        kept = f"The checkpoint of step {self.saved_at} is kept." if self.saved_at else "Nothing was saved."
        raise Diverged(
            f"The agent's weights are not finite any more at step {self.agent.step}: training has diverged "
            f"(a smaller --learning-rate may help). {kept}"
        )

    def save(self, *, environments: bool = True) -> None:
        self._require_finite()
        self.logs.take_episodes(self.agent)
        checkpoint.save(
            self.run_files.checkpoint, self._content(self.agent.state_dict(environments=environments))
        )
        self.saved_at = self.agent.step

    def _content(self, agent: dict[str, Any]) -> dict[str, Any]:
        return {
            "algorithm": name_of(self.config),
            "config": to_plain(self.config),
            "agent": agent,
            "logs": self.logs.state_dict(),
            "best": float(self.best),
            "seconds": self.seconds,
            "evaluation_due": self.evaluation_due,
        }

    def _restore(self, saved: dict[str, Any]) -> dict[str, Any]:
        """All but the logs, whose state is returned: they are opened when everything fits."""
        try:
            self.agent.load_state_dict(saved["agent"])
            self.best, self.seconds = saved["best"], saved["seconds"]
            self.evaluation_due = saved.get("evaluation_due", False)
            log_state: dict[str, Any] = saved["logs"]
        except MISFITS as error:
            reason = in_a_line(error)
            raise CheckpointError(f"The checkpoint does not fit the configuration: {reason}") from error
        self.saved_at = self.agent.step
        return log_state

    def close(self) -> None:
        self.logs.close()
        self.agent.envs.close()
        self.eval_env.close()


def crossed(before: int, after: int, every: int) -> bool:
    """Whether a multiple of `every` lies in (before, after]."""
    return every > 0 and after // every > before // every
