"""Those who follow a run: scalars for TensorBoard, a status line on the terminal."""

from __future__ import annotations

import sys

from gradsan.follow.lastline import is_possible
from gradsan.follow.scalars import Scalars
from gradsan.follow.status import Status
from gradsan.runner.watch import Watch


class Following:
    def __init__(self, watch: Watch, scalars: str | None, live: bool) -> None:
        self._followers: list[Scalars | Status] = []
        if scalars is not None:
            self._followers.append(Scalars(scalars))
        if live and is_possible(sys.stderr):
            status = Status(watch, sys.stderr)
            self._followers.append(status)
            status.start()
        for follower in self._followers:
            watch.recorder.sinks.add(follower)

    def close(self) -> None:
        for follower in self._followers:
            follower.finish()
