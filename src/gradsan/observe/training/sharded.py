"""Parameters that are spread over the ranks: DTensors, and what FSDP2 (`fully_shard`) makes of a network.

Only its class can read such a tensor, and reading may exchange something between the ranks, so its numbers are never
looked at. But its identity, its flags and its `.grad` are PyTorch's own: enough for names and for the ledger. While a
network computes, FSDP2 puts a whole parameter in the place of each spread one; that is the leaf which autograd knows,
and here it counts as the one that it stands for.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.import_hook import ImportHook
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.unseen import is_readable

TENSORS, FSDP = "torch.distributed.tensor", "torch.distributed.fsdp._fully_shard._fsdp_param"
# By `id()` the whole parameters, with the objects of FSDP2 that keep each beside its spread one.
_wholes: dict[int, tuple[weakref.ref[torch.Tensor], weakref.ref[Any]]] = {}
_making: list[object] = []


def is_sharded(tensor: torch.Tensor) -> bool:
    module = sys.modules.get(TENSORS)
    return module is not None and type(tensor) is getattr(module, "DTensor", None)


def is_followed(tensor: torch.Tensor) -> bool:
    """Whether it can have a number, a name and a place in the ledger."""
    return is_readable(tensor) or is_sharded(tensor)


def original_of(leaf: torch.Tensor) -> torch.Tensor:
    """The parameter that an optimizer knows: the spread one where this is its whole."""
    found = _wholes.get(id(leaf)) if _wholes else None
    if found is None or found[0]() is not leaf or (keeper := found[1]()) is None:
        return leaf
    spread: torch.Tensor = keeper.sharded_param
    return spread


def wholes_of(spread: list[torch.Tensor]) -> list[torch.Tensor]:
    """The whole parameters that stand for these."""
    if not _wholes:
        return []
    asked = {id(param) for param in spread}
    pairs = [(whole(), keeper()) for whole, keeper in _wholes.values()]
    return [w for w, k in pairs if w is not None and k is not None and id(k.sharded_param) in asked]


def is_whole_made() -> bool:
    """Whether a parameter that is being made only stands for another."""
    return bool(_making)


class ShardTap:
    def __init__(self, containment: Containment) -> None:
        self._contain = containment.contain
        self._import: ImportHook | None = None

    @property
    def parts(self) -> Parts:
        return (self._wait_for_sharding,)

    def _wait_for_sharding(self, patches: Patches) -> None:
        """It is never imported for that."""
        found = functools.partial(self._contain, "sharding", self._patch, patches)
        self._import = ImportHook(FSDP, found, "sharding")
        self._import.start()

    def _patch(self, patches: Patches) -> None:
        kept: Any = sys.modules[FSDP].FSDPParam
        for name in ("init_unsharded_param", "to_sharded_post_forward"):
            patches.set(kept, name, self._standing_in(getattr(kept, name)))

    def _standing_in(self, original: Any) -> Any:
        contain = self._contain

        @functools.wraps(original)
        def stand_in(keeper: Any, *args: Any, **kwargs: Any) -> Any:
            _making.append(keeper)
            try:
                result = original(keeper, *args, **kwargs)
            finally:
                _making.pop()
            contain("sharding", _note, keeper)
            return result

        return stand_in

    def remove(self) -> None:
        if self._import is not None:
            self._import.stop()
        _wholes.clear()


def _note(keeper: Any) -> None:
    whole = vars(keeper).get("_unsharded_param")
    if issubclass(type(whole), torch.Tensor) and id(whole) not in _wholes:
        key = id(whole)
        _wholes[key] = weakref.ref(whole, lambda _: _wholes.pop(key, None)), weakref.ref(keeper)
