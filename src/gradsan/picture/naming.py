"""Which parameters make up a box: read off their names, which follow the module tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradsan.judge.report.wording import module_of, unnumbered
from gradsan.record.events import ParamId

FEW = 6  # parts of one network that are worth telling apart


def boxes(names: dict[ParamId, str]) -> dict[ParamId, str]:
    """The box of each parameter: its module, without layer numbers. A parameter that hangs beside whole
    modules (`agent.log_alpha`, `model.log_std`) is a box of its own."""
    inner = {prefix for name in names.values() for prefix in _prefixes(unnumbered(module_of(name)))[:-1]}
    found = {}
    for pid, name in names.items():
        path = unnumbered(module_of(name))
        found[pid] = name if not path or path in inner else path
    return found


def networks(names: dict[ParamId, str], kind_of: Callable[[ParamId], Any]) -> dict[ParamId, str]:
    """The network of each parameter: the largest part of the module tree whose parameters all have the
    same fate (`kind_of`: the same optimizers, a copy or not)."""
    kinds: dict[str, set[Any]] = {}
    of = boxes(names)
    for pid, path in of.items():
        for prefix in _prefixes(path):
            kinds.setdefault(prefix, set()).add(kind_of(pid))
    return {
        pid: next((prefix for prefix in _prefixes(path) if len(kinds[prefix]) == 1), path)
        for pid, path in of.items()
    }


def folded(names: dict[ParamId, str], kind_of: Callable[[ParamId], Any]) -> dict[ParamId, str]:
    """Boxes, with the deepest modules of a network taken together until it has few enough of them."""
    found, within = boxes(names), networks(names, kind_of)
    for network in set(within.values()):
        mine = [pid for pid, of in within.items() if of == network]
        while len({found[pid] for pid in mine}) > FEW:
            deepest = max(found[pid].count(".") for pid in mine)
            if deepest <= network.count("."):
                break
            for pid in mine:
                if found[pid].count(".") == deepest:
                    found[pid] = unnumbered(module_of(found[pid]))
    return found


def relative(path: str, parent: str) -> str:
    return path[len(parent) + 1 :] if path.startswith(parent + ".") else path


def common(paths: Iterable[str]) -> str:
    """The path that all of these lie below, or ""."""
    split = [path.split(".") for path in paths]
    shared = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared)


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]
