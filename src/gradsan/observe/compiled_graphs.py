"""What happens inside a compiled region, as its compiler has written it down.

The kernel runs as ever: nothing is run twice, or eagerly, or compiled again, so that training stays bit for bit what it
was. The compiler's own record names every operation, its line, its shape and whether it requires grad; whenever the
kernel has run in a traced iteration, the operations are told from that record, between the real values that went in and
came out. Numbers inside are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from gradsan.observe import inspect_op
from gradsan.observe.axes import WITH_AXES, axes_of
from gradsan.observe.operations import OperationTap
from gradsan.observe.opnames import IGNORE, classify
from gradsan.observe.sites import Place, Sites
from gradsan.record.events import DRAWING, Op, OpFacts, ValueId

FRAME = re.compile(r'^\s*File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
WITHOUT_VALUES = inspect_op.DROPOUTS | inspect_op.COUNTING.keys()


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
    arguments, steps, results, off = list[str](), list[CompiledOp](), tuple[str, ...](), False
    for node in module.graph.nodes:
        if node.op == "placeholder":
            arguments.append(node.name)
        elif node.op == "output":
            returned = node.args[0] if isinstance(node.args[0], tuple | list) else [node.args[0]]
            results = tuple(getattr(value, "name", "") for value in returned)
        elif node.target is torch._C._set_grad_enabled:
            off = not node.args[0]
        elif node.op in ("call_function", "call_method"):
            steps += _steps(node, sites, off)
    return CompiledGraph(tuple(arguments), tuple(steps), results)


def _steps(node: torch.fx.Node, sites: Sites, off: bool) -> Iterator[CompiledOp]:
    source = node.args[0] if node.args else None
    if _is_part(node) and isinstance(source, torch.fx.Node):
        yield from _one(source, node, int(node.args[1]), sites, off)  # type: ignore[arg-type]
    else:
        yield from _one(node, node, 0, sites, off)


def _is_part(node: torch.fx.Node) -> bool:
    """`torch.max(x, 1)[0]`: one of several results."""
    source = node.args[0] if node.args else None
    several = isinstance(source, torch.fx.Node) and isinstance(source.meta.get("example_value"), tuple | list)
    return several and getattr(node.target, "__name__", "") == "getitem" and isinstance(node.args[1], int)


def _one(
    node: torch.fx.Node, named: torch.fx.Node, part: int, sites: Sites, off: bool
) -> Iterator[CompiledOp]:
    function = getattr(torch.Tensor, node.target, None) if node.op == "call_method" else node.target  # type: ignore[arg-type]
    kind, name = classify(function)
    result, raw = _ghost(named.meta.get("example_value")), getattr(function, "__name__", "")
    if result is None or kind == IGNORE:
        return
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: _ghost(n.meta.get("example_value")))
    sources = [n for n in node.all_input_nodes if _ghost(n.meta.get("example_value")) is not None]
    if name == "broadcast_tensors" and part < len(sources):
        sources = [sources[part]]
    ghosts = [g for n in sources if (g := _ghost(n.meta.get("example_value"))) is not None]
    in_place = (raw.endswith("_") and not raw.endswith("__")) or raw in (
        "iadd",
        "isub",
        "imul",
        "itruediv",
        "setitem",
    )
    yield CompiledOp(
        name, named.name, tuple(n.name for n in sources), result, _place(node.stack_trace or "", sites),
        _facts(name, args, kwargs, ghosts, part), off, sources[0].name if in_place and sources else "",
    )  # fmt: skip


def _ghost(value: Any) -> torch.Tensor | None:
    """Without content, and of sizes that nobody can ask about: comparing those of the compiler would be remembered."""
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


class Retelling:
    """Tells the operations of a region that has just run."""

    def __init__(self, tap: OperationTap) -> None:
        self._tap = tap
        self._values: dict[str, ValueId] = {}

    def __call__(self, graph: CompiledGraph, args: tuple[Any, ...], result: Any) -> None:
        tap, values = self._tap, self._values
        given = dict(zip(graph.arguments, args, strict=False))
        values.update(
            {name: tap.values.number(a) for name, a in given.items() if isinstance(a, torch.Tensor)}
        )
        for step in graph.steps:
            nid = values[step.result] = self._tell(step)
            if step.writes:
                values[step.writes] = nid
                if isinstance(written := given.get(step.writes), torch.Tensor):
                    tap.values.wrote(written, nid)
        returned = result if isinstance(result, tuple | list) else [result]
        for name, real in zip(graph.results, returned, strict=False):
            known = isinstance(real, torch.Tensor) and not any(real is a for a in args)
            if known and name in values:
                tap.values.define(real, values[name])

    def _tell(self, step: CompiledOp) -> ValueId:
        tap, ghost, facts = self._tap, step.ghost, step.facts
        nid = tap.values.fresh()
        inputs = tuple(self._values[name] for name in step.inputs if name in self._values)
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
