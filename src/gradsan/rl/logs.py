"""What a run writes down while it learns: CSV for people and scripts, TensorBoard for its curves."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from gradsan.rl.agent import Agent
from gradsan.rl.runs import Run, Table

COLUMNS = ["step", "seconds", "steps_per_second", "episodes", "return", "length", "updates"]
METRICS = [
    "td_loss",
    "a2c_loss",
    "ppo_loss",
    "policy_loss",
    "baseline_loss",
    "critic_loss",
    "actor_loss",
    "temperature_loss",
    "temperature",
    "entropy",
    "epsilon",
]
EVALUATION = ["step", "mean", "deviation", "lowest", "highest"]
# Returns are averaged over this many episodes, as is the custom of the field.
WINDOW = 100


class Logs:
    def __init__(self, run: Run, resumed_at: int | None = None) -> None:
        # Slow to import, and not needed to play or compare.
        from tensorboard.compat.proto.summary_pb2 import Summary
        from torch.utils.tensorboard import SummaryWriter

        self._progress = Table(run.progress, COLUMNS + METRICS, keep_until=resumed_at)
        self._evaluations = Table(run.evaluations, EVALUATION, keep_until=resumed_at)
        purge = {} if resumed_at is None else {"purge_step": resumed_at + 1}
        self._board: Any = SummaryWriter(str(run.folder), **purge)
        self._summary: Any = Summary
        self.recent: deque[tuple[float, int]] = deque(maxlen=WINDOW)
        self.episodes = 0

    def take_episodes(self, agent: Agent) -> None:
        self.episodes += len(agent.envs.finished)
        self.recent.extend(agent.envs.finished)
        agent.envs.finished.clear()

    def mean_return(self) -> float | None:
        return float(np.mean([total for total, _ in self.recent])) if self.recent else None

    def progress(self, agent: Agent, seconds: float, rate: float) -> None:
        row = {
            "step": agent.step,
            "seconds": seconds,
            "steps_per_second": rate,
            "episodes": self.episodes,
            "updates": agent.updates,
            **{name: float(value) for name, value in agent.metrics.items()},
        }
        if self.recent:
            row["return"], row["length"] = (float(value) for value in np.mean(self.recent, axis=0))
        self._progress.add(row)
        # All of a row as one event: `add_scalar` would make one of each.
        values = [self._summary.Value(tag=f"train/{name}", simple_value=value) for name, value in row.items()]
        self._board.file_writer.add_summary(self._summary(value=values), agent.step)

    def evaluation(self, step: int, returns: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        row = {
            "step": step,
            "mean": returns.mean(),
            "deviation": returns.std(),
            "lowest": returns.min(),
            "highest": returns.max(),
        }
        self._evaluations.add(row)
        self._board.add_scalar("evaluation/return", row["mean"], step)

    def close(self) -> None:
        self._progress.close()
        self._evaluations.close()
        self._board.close()

    def state_dict(self) -> dict[str, Any]:
        return {"recent": [list(pair) for pair in self.recent], "episodes": self.episodes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.recent.extend((total, length) for total, length in state["recent"])
        self.episodes = state["episodes"]
