"""What is done for a seed where it is trained, whoever runs it."""

from __future__ import annotations

import os
import shutil
import signal
import traceback
from types import TracebackType

import torch

from gradsan.rl.display import ProgressView
from gradsan.rl.errors import RlError, in_a_line
from gradsan.rl.seeds import SeedJob, SeedOutcome
from gradsan.rl.training import TrainingOutcome, train


def carried_out(job: SeedJob, view: ProgressView) -> SeedOutcome:
    """Every end as an outcome; the traceback of one that nobody foresaw is printed."""
    torch.set_num_threads(1)  # as `train` does: the same seed gives the same result
    try:
        return SeedOutcome(job, train_seed(job, view))
    except RlError as error:
        return SeedOutcome(job, error=str(error))
    except Exception as error:
        traceback.print_exc()
        return SeedOutcome(job, error=f"{type(error).__name__}: {in_a_line(error)}")


def train_seed(job: SeedJob, view: ProgressView) -> TrainingOutcome:
    """Begin it, or take it up where an earlier attempt saved it."""
    if job.saved:
        return train(job.config, resume=job.folder, display=view)
    if job.folder.exists():  # it held nothing before the attempt that failed here
        shutil.rmtree(job.folder)
    return train(job.config, job.folder, display=view)


class RemoteView:
    """A `ProgressView` for a run that is shown in another process."""

    def evaluated(self, step: int, mean: float, spread: float) -> None:
        """Each seed's evaluations are in its folder; together they are compared at the end."""

    def ask_for_an_end(self) -> None:
        """As a signal would: the state is saved first."""
        os.kill(os.getpid(), signal.SIGTERM)

    def __enter__(self) -> RemoteView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, step: int, mean_return: float | None) -> None:
        raise NotImplementedError

    def say(self, message: str) -> None:
        raise NotImplementedError
