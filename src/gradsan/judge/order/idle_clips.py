"""Clips of gradients that were used up before the last backward, which has fed others, or that have just been clipped:
the wrong ones were named."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.record.events import Backward, Clip, ParamId, Step


class IdleClips:
    def __init__(self, history: History) -> None:
        self._history = history
        self._fed: set[ParamId] = set()  # by the last backward
        self._stepped: set[ParamId] = set()  # since then
        self._clipped: dict[tuple[str, tuple[ParamId, ...]], float] = {}  # and to which limit

    def backward(self, event: Backward) -> None:
        self._fed, self._stepped = set(event.fed), set()
        self._clipped.clear()

    def step(self, event: Step) -> None:
        self._stepped.update(event.held)

    def is_idle(self, clip: Clip) -> bool:
        params = set(clip.params)
        waiting = self._fed - self._stepped
        if not params or not waiting or params & (self._fed | self._stepped):
            return False
        return not any(self._history.ledger.fresh(pid) for pid in params)

    def is_repeated(self, clip: Clip) -> bool:
        """The same parameters to the same limit, once more, while others are waiting for theirs."""
        key = (clip.how, clip.params)
        before, self._clipped[key] = self._clipped.get(key), clip.limit
        return before == clip.limit and bool(self._fed - self._stepped - set(clip.params))
