"""Reading an autograd graph without running it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from gradsan.observe.training.sharded import is_followed, original_of
from gradsan.record.events import NOTHING, NOWHERE, Site, ValueId

ENOUGH_SHAPES = 8
# Nodes one behind the other. PyTorch frees those that Python has seen by recursion: some 50,000 overflow the stack.
DEEPEST = 15_000
KEY = "gradsan"  # where the operation tap leaves a value's number and line in a node's metadata


class Graph(NamedTuple):
    """The nodes behind some tensors, nearest the loss first, and the leaves that they lead to."""

    nodes: dict[Any, Any]  # each with the one that gradient comes from
    leaves: list[torch.Tensor]
    whole: bool = True  # whether it was followed to its end


def node_of(tensor: torch.Tensor) -> Any:
    """`tensor.grad_fn`, or None where PyTorch refuses to say: a view made under `no_grad` whose base was
    written with gradients on may be looked at, only not used."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def nodes_behind(roots: Iterable[torch.Tensor], shortest: bool = False) -> dict[Any, Any]:
    """Every node that gradient from these would pass, with the one it comes from; where `shortest`, on a
    shortest way. None deeper than `DEEPEST`."""
    return _search(roots, shortest)[0]


def _search(roots: Iterable[torch.Tensor], shortest: bool = False) -> tuple[dict[Any, Any], bool]:
    """The nodes, and whether there are no others."""
    found: dict[Any, Any] = {}
    ahead = [(node, None, 0) for root in roots if (node := node_of(root)) is not None]
    following, whole = 0 if shortest else -1, True
    while ahead:
        node, before, depth = ahead.pop(following)
        if node not in found:
            found[node] = before
            if depth == DEEPEST:
                whole = False
                continue
            for child, _ in node.next_functions:
                if child is not None and child not in found:
                    ahead.append((child, node, depth + 1))
    return found, whole


def walk(roots: Sequence[torch.Tensor]) -> Graph:
    leaves = [root for root in roots if root.requires_grad and node_of(root) is None]
    nodes, whole = _search(roots)
    leaves += [leaf for node in nodes if (leaf := leaf_of(node)) is not None]
    return Graph(nodes, leaves, whole)


def leaf_of(node: Any) -> torch.Tensor | None:
    """The leaf that this node writes to, if it does."""
    leaf = getattr(node, "variable", None)
    if leaf is None or node.next_functions:  # a custom function's own
        return None
    leaf = original_of(leaf)
    return leaf if is_followed(leaf) else None


class Shapes:
    """The graphs that each backward line has had, by size and leaves."""

    def __init__(self) -> None:
        self._seen: dict[int, set[int]] = {}

    def note(self, line: int, graph: Graph) -> None:
        seen = self._seen.setdefault(line, set())
        if len(seen) <= ENOUGH_SHAPES:
            seen.add(_shape(graph))

    def is_new(self, line: int, graph: Graph) -> bool:
        """Never where no two are alike: episodes of any length, leaves that are made every time."""
        seen = self._seen.get(line, set())
        return len(seen) <= ENOUGH_SHAPES and _shape(graph) not in seen


def _shape(graph: Graph) -> int:
    """An input that is made to require grad lies somewhere else every time, and is known by its size."""
    leaves = [id(t) if issubclass(type(t), torch.nn.Parameter) else tuple(t.shape) for t in graph.leaves]
    return hash((len(graph.nodes), frozenset(leaves)))


def is_transforming() -> bool:
    """Inside `vmap`, `torch.func.grad` and their like tensors are stand-ins without value or version."""
    return _innermost_transform() is not None


_innermost_transform: Callable[[], Any] = torch._C._functorch.peek_interpreter_stack


def label(tensor: torch.Tensor, nid: ValueId, site: Site) -> bool:
    """Leave the value's number and its line at the node that computed it. Whether that one keeps its result."""
    node = node_of(tensor)
    if node is None:
        return False
    node.metadata[KEY] = (nid, site)
    kind = type(node)
    keeps = _keeps_result.get(kind)
    if keeps is None:
        keeps = _keeps_result[kind] = any(name.startswith("_saved_result") for name, _ in _names_of(node))
    return keeps


_keeps_result: dict[type, bool] = {}


Label = tuple[ValueId, Site]
UNKNOWN: Label = (NOTHING, NOWHERE)


def node_label(tensor: torch.Tensor) -> Label:
    """What `label` left at the tensor's own node."""
    node = node_of(tensor)
    found: Label = UNKNOWN if node is None else node.metadata.get(KEY, UNKNOWN)
    return found


def traced_before(tensor: torch.Tensor) -> tuple[ValueId, ...]:
    """Of a graph that nobody saw being made, the values that were seen before it: what a transform was given."""
    found: dict[ValueId, None] = {}
    ahead, seen = [node_of(tensor)], set[Any]()
    while ahead:
        node = ahead.pop()
        if node is None or node in seen or len(seen) >= DEEPEST:
            continue
        seen.add(node)
        if nid := node.metadata.get(KEY, UNKNOWN)[0]:
            found[nid] = None
        else:
            ahead += [child for child, _ in node.next_functions]
    return tuple(sorted(found))


def labels(nodes: dict[Any, Any]) -> dict[Any, Label]:
    """For every node the number of the value it computed, and the line. A call that makes several nodes labels
    only the last of them; the others take the label of the node they were made for."""
    found: dict[Any, Label] = {None: UNKNOWN}
    for node, before in nodes.items():
        found[node] = node.metadata.get(KEY, found[before])
    del found[None]
    return found


def operation_of(kind: str) -> str:
    """`LogBackward0` was made by `log`; the names of leaves and custom functions stay as they are."""
    name = kind.rsplit("::", 1)[-1]
    match = re.fullmatch(r"([A-Z]\w*?)Backward\d*", name)
    return match.group(1).lower() if match else name


_saved_names: dict[type, tuple[tuple[str, str], ...]] = {}


def saved_names(node: Any) -> tuple[list[str], bool]:
    """The attributes under which this node keeps tensors for its backward, as far as they may be read, and
    whether there are others: where hooks have packed the tensor (checkpointing, offloading), reading it would
    run them once more than the script expects."""
    names = _names_of(node)
    readable = [name for name, raw in names if not _is_packed(node, raw)]
    return readable, len(readable) < len(names)


def _is_packed(node: Any, raw: str) -> bool:
    try:
        saved = getattr(node, raw)
    except RuntimeError:  # freed: nothing is left to be unpacked
        return False
    if isinstance(saved, tuple):
        return any(getattr(s, "unpack_hook", None) is not None for s in saved)
    return getattr(saved, "unpack_hook", None) is not None


def _names_of(node: Any) -> tuple[tuple[str, str], ...]:
    """What the node calls its saved tensors, and what it calls them as they were packed."""
    names = _saved_names.get(type(node))
    if names is None:
        # Running statistics are kept and, in training, neither used nor counted when the kernel updates them.
        skip = ("_running_mean", "_running_var")
        raw = [n for n in dir(node) if n.startswith("_raw_saved_") and not n.endswith(skip)]
        # `a / b` keeps "other" and "self": first what comes first.
        raw.sort(key=lambda n: n != "_raw_saved_self")
        names = tuple((n[4:] if n != "_raw_saved_tensors" else n[5:], n) for n in raw)
        _saved_names[type(node)] = names
    return names
