"""The names a user would call parameters by: `agent.q_network.0.weight`, found through their variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

import torch

from gradsan.observe.registry import Known
from gradsan.observe.sites import Sites, variables_of
from gradsan.observe.slots import (
    SEQUENCES,
    answers_for,
    attributes_of,
    items_of,
    items_of_list,
    module_of,
    named_parameters_of,
    pairs_of,
    parts_of,
    shown_key,
    size_of,
)
from gradsan.observe.training.sharded import original_of
from gradsan.record.events import Event, ParamNamed

WRAPPERS = (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)
MAX_DEPTH = 4
MAX_OBJECTS = 20_000
MOST_ITEMS = 200  # of a container; a replay buffer holds no networks
AT_ONCE = 2  # searches that find nothing, one right after the other
MOST_SEARCHES = 64  # a script that makes new leaves all the time gets no names for the later ones
OPAQUE_MODULES = ("torch", "numpy", "builtins", "gradsan.observe", "gradsan.record", "gradsan.judge")


class Namer:
    """Gives the parameters their names while the user's variables are within sight."""

    def __init__(self, known: Known, emit: Callable[[Event], None]) -> None:
        self._sites, self._leaves = known.sites, known.leaves
        self._emit = emit
        self._searches = 0
        self._in_vain = 0  # searches in a row, since somebody new came
        self._passed = 0  # chances, since the last search
        self._newcomers = 0

    def is_due(self) -> bool:
        """Whether to search now. What a checkpoint makes for itself in each iteration has no name: the more searches
        were in vain, the more chances go by before the next."""
        if not self._leaves.some_are_unnamed or self._searches >= MOST_SEARCHES:
            return False
        if self._newcomers != self._leaves.newcomers:
            self._newcomers, self._in_vain = self._leaves.newcomers, 0
        self._passed += 1
        return self._in_vain < AT_ONCE or self._passed > 2**self._in_vain

    def look(self, frame: FrameType) -> None:
        self._searches += 1
        self._passed = 0
        wanted = self._leaves.unnamed()
        found = find_names(set(wanted), frame, self._sites)
        self._in_vain = 0 if found else self._in_vain + 1
        self._leaves.named(wanted[key] for key in found)
        for key, names in found.items():
            self._emit(ParamNamed(wanted[key], names[0], tuple(names[1:8])))


def find_names(wanted: set[int], frame: FrameType | None, sites: Sites) -> dict[int, list[str]]:
    """Names for the tensors whose `id()` is wanted, best first: short, and not through `self`."""
    found: dict[int, dict[str, bool]] = {}  # by name, whether a variable has it in passing only
    holders = list(_walk(list(_roots(frame, sites))))
    passing = _in_passing(holders)
    for path, holder in holders:
        for name, tensor in _tensors_of(holder):
            tensor = original_of(tensor)
            if id(tensor) in wanted:
                full = f"{path}.{name}" if name else path
                found.setdefault(id(tensor), {}).setdefault(full, id(holder) in passing)
    return {key: _best_first(names) for key, names in found.items()}


def _best_first(names: dict[str, bool]) -> list[str]:
    return sorted(names, key=lambda name: (names[name], *_badness(name)))


def _in_passing(holders: list[tuple[str, Any]]) -> set[int]:
    """Networks that a variable holds for the moment, as in `for layer in model.layers`: items of a list of networks
    whose other items have no variable."""
    networks = {id(n): n for _, n in holders if issubclass(type(n), torch.nn.Module)}
    found: set[int] = set()
    for network in networks.values():
        for _, part in parts_of(network):
            items = {id(item) for item in items_of_list(part)}
            if not items <= networks.keys():
                found |= items & networks.keys()
    return found


def networks_in_sight(frame: FrameType | None, sites: Sites) -> Iterator[torch.nn.Module]:
    """Those that the user's variables hold."""
    for _, holder in _walk(list(_roots(frame, sites))):
        if issubclass(type(holder), torch.nn.Module):
            yield holder


def _badness(name: str) -> tuple[bool, bool, int, int]:
    unnamed = name.endswith("]")  # an item of `list(net.parameters())` does not say whose it is
    return name.split(".", 1)[0] in ("self", "cls"), unnamed, name.count(".") + name.count("["), len(name)


def _roots(frame: FrameType | None, sites: Sites) -> Iterator[tuple[str, Any]]:
    """Variables of the user's frames, outermost first: there an agent has its own name, not `self`."""
    frames: list[FrameType] = []
    while frame is not None:
        if sites.is_user(frame.f_code):
            frames.append(frame)
        frame = frame.f_back
    seen_globals: set[int] = set()
    for current in reversed(frames):
        if id(current.f_globals) not in seen_globals:
            seen_globals.add(id(current.f_globals))
            yield from _variables(current.f_globals)
        if current.f_code.co_name != "<module>":
            yield from _variables(variables_of(current))


def _variables(scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in pairs_of(scope):
        if type(name) is str and not name.startswith("__") and not issubclass(type(value), ModuleType | type):
            yield name, value


def _walk(roots: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Breadth first through the user's objects and containers; networks are yielded, not entered."""
    queue = deque((name, value, 0) for name, value in roots)
    entered: set[int] = set()
    budget = MAX_OBJECTS
    while queue and budget:
        path, value, depth = queue.popleft()
        budget -= 1
        kind = type(value)  # never `isinstance`: it asks the object itself, too
        if issubclass(kind, torch.nn.Module | torch.Tensor):
            yield path, value
            if issubclass(kind, torch.Tensor) or module_of(kind).startswith("torch."):
                continue
        if depth >= MAX_DEPTH or id(value) in entered:
            continue
        entered.add(id(value))
        queue.extend((p, v, depth + 1) for p, v in _children(path, value))


def _children(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if issubclass(kind, (dict, *SEQUENCES)):
        if size_of(value) > MOST_ITEMS:
            return
        if issubclass(kind, dict):
            yield from ((f"{path}[{shown_key(key)}]", item) for key, item in pairs_of(value))
        else:
            yield from ((f"{path}[{index}]", item) for index, item in enumerate(list(items_of(value))))
    elif not issubclass(kind, torch.nn.Module) and not module_of(kind).startswith(OPAQUE_MODULES):
        yield from ((f"{path}.{name}", item) for name, item in pairs_of(attributes_of(value)))


def _tensors_of(holder: Any) -> Iterator[tuple[str, torch.Tensor]]:
    if issubclass(type(holder), torch.Tensor):
        yield "", holder
    else:
        wrappers = [(path, word) for path, part in parts_of(holder) if (word := _wraps(part))]
        for name, tensor in named_parameters_of(holder):
            yield _without_wrappers(name, wrappers), tensor


def _wraps(part: torch.nn.Module) -> str:
    return "module" if issubclass(type(part), WRAPPERS) else answers_for(part)


def _without_wrappers(name: str, wrappers: list[tuple[str, str]]) -> str:
    """`model.module.0.weight` → `model.0.weight`: what wraps a network adds a word that says nothing."""
    for path, word in reversed(wrappers):  # the inner ones first
        start = f"{path}." if path else ""
        if name.startswith(f"{start}{word}."):
            name = start + name.removeprefix(f"{start}{word}.")
    return name
