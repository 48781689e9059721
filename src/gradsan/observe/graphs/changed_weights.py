"""Whether what backward finds changed is a weight that was stepped, where nobody traced the forward that kept it.

The graph itself tells: the error says which form the changed tensor has and how often it was written by now, and behind
the node that kept it lies the leaf, at most through views."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from gradsan.observe.graphs.graph import leaf_of, saved_names
from gradsan.observe.ops.values import Tensor, version_of
from gradsan.observe.registry import Leaves
from gradsan.observe.unseen import is_readable
from gradsan.record.events import NOBODY, ParamId

CHANGED = re.compile(r"\[[\w.]+ \[([\d, ]*)\]\].* is at version (\d+); expected version \d+")
VIEWS = (
    "T",
    "Transpose",
    "Permute",
    "AsStrided",
    "View",
    "Unsqueeze",
    "Squeeze",
    "Expand",
    "Select",
    "Slice",
)


def stepped_weight(node: Any, known: Leaves) -> ParamId:
    """The weight that this node had kept, if the last one who wrote it was a step."""
    changed = [found for error in _refusals(node) if (found := CHANGED.search(error))]
    behind = [leaf for child, _ in node.next_functions for leaf in _behind_views(child)] if changed else []
    for found in changed:
        size, version = math.prod(int(n) for n in found[1].split(",") if n.strip()), int(found[2])
        for leaf in filter(is_readable, behind):
            pid = known.find(leaf) or NOBODY
            if leaf.numel() == size and version == version_of(leaf) == known.version_after_step.get(pid):
                return pid
    return NOBODY


def _refusals(node: Any) -> Iterator[str]:
    for name in saved_names(node)[0]:
        try:
            getattr(node, name)
        except RuntimeError as error:
            yield str(error)


def _behind_views(node: Any) -> Iterator[Tensor]:
    while node is not None and node.next_functions:
        if node.name().removesuffix("0").removesuffix("Backward") not in VIEWS:
            return
        node = node.next_functions[0][0]
    leaf = leaf_of(node) if node is not None else None
    if leaf is not None:
        yield leaf
