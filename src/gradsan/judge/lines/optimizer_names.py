"""Which of several optimizers is meant for a network, where only the names that the script gives them can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import optimizer_made_at
from gradsan.judge.lines.source import around
from gradsan.record.events import ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History, Optimizer

SAY_NOTHING = {
    "self",
    "agent",
    "opt",
    "optim",
    "optimizer",
    "optimiser",
    "optimizers",
    "weight",
    "bias",
    "net",
    "network",
}


def named_for(history: History, optimizers: Iterable[Optimizer], pids: Iterable[ParamId]) -> Optimizer | None:
    """The only one that is bound to a name with a word of the network's: `actor_optim` of `self.actor`."""
    wanted = {word for pid in pids for word in _words(history.params[pid].name)}
    found = [o for o in optimizers if wanted & _words_of(history, o)]
    return found[0] if len(found) == 1 else None


def _words_of(history: History, optimizer: Optimizer) -> set[str]:
    seen = history.sites.get(optimizer_made_at(history, optimizer))
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    nodes = [node for target in targets for node in ast.walk(target)]
    names = [n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in nodes]
    return {word for name in names for word in _words(name)}


def _words(name: str) -> set[str]:
    parts = re.split(r"[^a-z]+", name.lower())
    return {part for part in parts if len(part) > 1} - SAY_NOTHING
