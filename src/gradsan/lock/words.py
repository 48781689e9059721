"""A change in words: "`actor_loss` now also trains `critic`"."""

from __future__ import annotations

from gradsan.lock.compare import FlowChange
from gradsan.lock.text import ordered

MOST = 4  # of each kind in one message


def sentence(change: FlowChange) -> str:
    if change.whole and change.new:
        return f"{change.subject} is new: it {_listed(change.new)}"
    if change.whole:
        return f"{change.subject} is gone; in the lock it {_listed(change.gone)}"
    parts = [f"now also {_listed(change.new)}"] if change.new else []
    parts += [f"no longer {_listed(change.gone)}"] if change.gone else []
    return f"{change.subject} {'; it '.join(parts)}"


def _listed(facts: list[str]) -> str:
    more = [f"{len(facts) - MOST} more"] if len(facts) > MOST else []
    words = [*ordered(facts)[:MOST], *more]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
