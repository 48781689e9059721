"""What a custom function keeps as plain attributes of its context (`ctx.x = x`): nobody checks that it stays so."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator
from typing import Any

from gradsan.observe.graphs.error_origins import code_of
from gradsan.observe.ops.values import Tensor
from gradsan.observe.ops.writes import Writes, address_of
from gradsan.observe.registry import storage_of
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import NOWHERE, HiddenWrite, ValueId

# What one may ask a tensor without looking at its numbers.
FORM = {
    "shape",
    "size",
    "dim",
    "ndim",
    "numel",
    "device",
    "dtype",
    "requires_grad",
    "is_cuda",
    "is_contiguous",
}


def changed_attributes(seen: Writes, node: Any, nid: ValueId) -> list[HiddenWrite]:
    for name, tensor in _attributes(node):
        kept = [k for k in seen.kept[nid] if (k.where, k.size) == (address_of(tensor), tensor.numel())]
        kept = [k for k in kept if k.storage == storage_of(tensor)]
        if not kept or kept[0].is_content_of(tensor) or not _is_read(node, name):
            continue
        later = seen.after(kept[0].storage, nid)
        if any(write.by_step for write in later):
            return []  # GS102's to say
        alias = seen.shared_with_numpy.get(kept[0].storage, NOWHERE)
        return [HiddenWrite(nid, later[0].site if later else NOWHERE, alias, name)]
    return []


def _attributes(node: Any) -> Iterator[tuple[str, Tensor]]:
    for name, value in list(vars(node).items()):
        if (
            issubclass(type(value), Tensor)
            and is_readable(value)
            and is_dense(value)
            and value.is_floating_point()
        ):
            yield name, value


def _is_read(node: Any, name: str) -> bool:
    """Whether its backward asks for the numbers, not just for their form."""
    code = code_of(getattr(getattr(node, "_forward_cls", None), "backward", None))
    if code is None:
        return False
    instructions = list(dis.get_instructions(code))
    pairs = itertools.pairwise(instructions)
    return any(one.argval == name and two.argval not in FORM for one, two in pairs if "LOAD" in one.opname)
