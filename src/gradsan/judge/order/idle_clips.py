"""Clips of gradients that were used up before the last backward, which has fed others: the wrong ones were named."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.record.events import Backward, Clip, ParamId, Step


class IdleClips:
    def __init__(self, history: History) -> None:
        self._history = history
        self._fed: set[ParamId] = set()  # by the last backward
        self._stepped: set[ParamId] = set()  # since then

    def backward(self, event: Backward) -> None:
        self._fed, self._stepped = set(event.fed), set()

    def step(self, event: Step) -> None:
        self._stepped.update(event.held)

    def is_idle(self, clip: Clip) -> bool:
        params = set(clip.params)
        waiting = self._fed - self._stepped
        if not params or not waiting or params & (self._fed | self._stepped):
            return False
        return not any(self._history.ledger.fresh(pid) for pid in params)
