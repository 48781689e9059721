"""What happens inside a compiled region, as its compiler has written it down.

The kernel runs as ever: nothing is run twice, or eagerly, or compiled again, so that training stays bit for bit what it
was. The compiler's own record names every operation, its line, its shape and whether it requires grad; whenever the
kernel has run in a traced iteration, the operations are told from that record, between the real values that went in and
came out. Numbers inside are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from gradsan.observe.ops import inspect_op
from gradsan.observe.ops.axes import WITH_AXES, axes_of
from gradsan.observe.ops.operations import OperationTap
from gradsan.observe.ops.opnames import IGNORE, classify
from gradsan.observe.sites import Place, Sites
from gradsan.record.events import DRAWING, Op, OpFacts, ValueId

FRAME = re.compile(r'^\s*File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
WITHOUT_VALUES = inspect_op.DROPOUTS | inspect_op.COUNTING.keys()
IN_PLACE = {"iadd", "isub", "imul", "itruediv"}


class CompiledOp(NamedTuple):
    """One operation. Values are known by the names that the compiler gave them."""

    name: str
    result: str
    inputs: tuple[str, ...]
    ghost: torch.Tensor  # as large as the result, and without content
    place: Place
    facts: OpFacts
    off: bool  # in a `no_grad` of the region's own
    writes: str = ""  # the value that it changes in place


class CompiledGraph(NamedTuple):
    arguments: tuple[str, ...]
    steps: tuple[CompiledOp, ...]
    results: tuple[str, ...]


def read(module: torch.fx.GraphModule, sites: Sites) -> CompiledGraph:
    """Before the backend gets it: some change it."""
    arguments, steps, results, off = list[str](), list[CompiledOp | None](), tuple[str, ...](), False
    for node in module.graph.nodes:
        if node.op == "placeholder":
            arguments.append(node.name)
        elif node.op == "output":
            returned = node.args[0] if isinstance(node.args[0], tuple | list) else [node.args[0]]
            results = tuple(getattr(value, "name", "") for value in returned)
        elif node.target is torch._C._set_grad_enabled:
            off = not node.args[0]
        elif node.op in ("call_function", "call_method"):
            steps.append(_step(node, sites, off))
    return CompiledGraph(tuple(arguments), tuple(filter(None, steps)), results)


def _step(node: torch.fx.Node, sites: Sites, off: bool) -> CompiledOp | None:
    made_by, part = _origin(node)
    function = _function(made_by)
    (kind, name), result = classify(function), _ghost(node)
    if result is None or kind == IGNORE:
        return None
    args, kwargs = torch.fx.map_arg((made_by.args, made_by.kwargs), _ghost)
    sources = [
        (source.name, ghost) for source in made_by.all_input_nodes if (ghost := _ghost(source)) is not None
    ]
    if name == "broadcast_tensors" and part < len(sources):
        sources = [sources[part]]
    names, ghosts = [name for name, _ in sources], [ghost for _, ghost in sources]
    written = names[0] if names and _is_in_place(getattr(function, "__name__", "")) else ""
    place, facts = _place(made_by.stack_trace or "", sites), _facts(name, args, kwargs, ghosts, part)
    return CompiledOp(name, node.name, tuple(names), result, place, facts, off, written)


def _origin(node: torch.fx.Node) -> tuple[torch.fx.Node, int]:
    """What has made a value, and as which of its results: `torch.max(x, 1)[0]` is the first of two."""
    source, at = (*node.args, None, None)[:2]
    several = isinstance(source, torch.fx.Node) and isinstance(source.meta.get("example_value"), tuple | list)
    if several and isinstance(at, int) and getattr(node.target, "__name__", "") == "getitem":
        return source, at  # type: ignore[return-value]
    return node, 0


def _function(node: torch.fx.Node) -> Any:
    return getattr(torch.Tensor, str(node.target), None) if node.op == "call_method" else node.target


def _is_in_place(raw: str) -> bool:
    return raw in IN_PLACE or (raw.endswith("_") and not raw.endswith("__"))


def _ghost(node: torch.fx.Node) -> torch.Tensor | None:
    """Without content, and of sizes that nobody can ask about: comparing those of the compiler would be remembered."""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor):
        return None
    shape = [getattr(getattr(size, "node", None), "hint", None) or size for size in value.shape]
    if not all(type(size) is int for size in shape):
        return None
    ghost = torch.empty(shape, dtype=value.dtype, device="meta")
    return ghost.requires_grad_(value.requires_grad) if value.dtype.is_floating_point else ghost


def _facts(name: str, args: Any, kwargs: Any, inputs: list[torch.Tensor], part: int) -> OpFacts:
    settings = inspect_op.settings(args, kwargs)
    facts = OpFacts(settings=settings, part=part)
    if name in WITHOUT_VALUES:
        facts = inspect_op.facts(name, args, kwargs, inputs, [], settings)
    elif name in inspect_op.WITH_SCALARS:
        scalars, alpha = inspect_op.scalars_of(name, args, kwargs)
        facts = facts._replace(scalars=scalars, alpha=alpha)
    if name in WITH_AXES and (axes := axes_of(name, args, kwargs, inputs)):
        facts = facts._replace(axes=axes)
    return facts


def _place(trace: str, sites: Sites) -> Place:
    return sites.place_in([(file, int(line), name) for file, line, name in FRAME.findall(trace)])


def retell(tap: OperationTap, graph: CompiledGraph, args: tuple[Any, ...], result: Any) -> None:
    """The operations of a region that has just run."""
    given = dict(zip(graph.arguments, args, strict=False))
    values = {name: tap.values.number(a) for name, a in given.items() if isinstance(a, torch.Tensor)}
    for step in graph.steps:
        nid = values[step.result] = _tell(tap, step, values)
        if step.writes:
            values[step.writes] = nid
            if isinstance(written := given.get(step.writes), torch.Tensor):
                tap.values.wrote(written, nid)
    returned = result if isinstance(result, tuple | list) else [result]
    for name, real in zip(graph.results, returned, strict=False):
        known = isinstance(real, torch.Tensor) and not any(real is a for a in args)
        if known and name in values:
            tap.values.define(real, values[name])


def _tell(tap: OperationTap, step: CompiledOp, values: dict[str, ValueId]) -> ValueId:
    nid, ghost, facts = tap.values.fresh(), step.ghost, step.facts
    inputs = tuple(values[name] for name in step.inputs if name in values)
    live, tags = ghost.requires_grad and step.name not in DRAWING, step.place.tags
    if not live and step.off:
        tags += ("no_grad",)
    if live and (depth := tap.values.carried(nid, inputs)):
        facts = facts._replace(carried=depth)
    site, chain, shape = step.place.site, step.place.chain, tuple(ghost.shape)
    floating = ghost.dtype.is_floating_point
    tap.record(Op(nid, step.name, site, inputs, live, shape, floating, tags, facts, "operation", chain))
    return nid


def watched(
    run: Callable[..., Any], graph: CompiledGraph, told: Callable[[CompiledGraph, tuple[Any, ...], Any], None]
) -> Any:
    """The kernel, and then what it did."""

    def kernel(*args: Any) -> Any:
        result = run(*args)
        told(graph, args, result)
        return result

    return kernel
