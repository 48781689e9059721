"""The flow of one loss, reduced from hundreds of operations to a handful of nodes.

Operations that use a network's parameters become one node per use of the network, with what lies between
them; all others become one node per source line. Knots that do the same for the same purpose (the steps of
a recurrent policy) are one node, with a count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gradsan.judge.flow import culprit_of
from gradsan.judge.provenance import Provenance, params_of
from gradsan.picture.uses import Uses
from gradsan.record.events import NOWHERE, Op, ParamId, Site, ValueId

MOST_OPERATIONS = 8_000
MOST_KNOTS = 300
ALIKE = 4  # more nodes of one label than this are folded into one, whatever they are for

ACTS = {"log_prob", "sample", "rsample", "entropy"}

IsHome = Callable[[Site], bool]  # whether a line is in the function that calls backward
Label = tuple[str, Site, bool, str]


@dataclass(slots=True)
class FlowNode:
    box: str  # "" where it is a line and no network
    live: bool
    cut: str = ""
    cut_at: Site = NOWHERE
    sites: list[Site] = field(default_factory=list)
    pids: set[ParamId] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    uses: dict[int, int] = field(default_factory=dict)
    is_function: bool = False  # something beside parameters goes in

    @property
    def times(self) -> int:
        return max(self.uses.values(), default=1)


@dataclass(slots=True)
class Reduction:
    nodes: dict[int, FlowNode]
    edges: set[tuple[int, int]]
    root: int
    weighing: set[str]  # boxes whose value multiplies a log-probability
    acting: set[str]  # boxes that actions are drawn from


def operations(graph: Provenance, roots: Iterable[ValueId], is_home: IsHome) -> dict[ValueId, Op]:
    """What the loss was made of, as far as parameters had a part in it, oldest first."""

    def follow(op: Op, source: Op) -> bool:
        if not source.floating and ("sample" in source.tags or not is_home(source.site)):
            return False  # an action that was chosen elsewhere, or at random: data like any other
        return not _is_fresh_data(graph, op)

    found = graph.ancestors(roots, follow)
    kept: dict[ValueId, Op] = {}
    for nid in sorted(found)[-MOST_OPERATIONS:]:
        op = found[nid]
        if params_of(op) or any(i in kept for i in op.inputs):
            kept[nid] = op
    return kept


def _is_fresh_data(graph: Provenance, op: Op) -> bool:
    """A chosen action that comes back as a state: to the flow it is data like any other."""
    return op.floating and not op.live and not any(i.floating for i in graph.inputs(op))


def reduce_graph(
    graph: Provenance, roots: tuple[ValueId, ...], box_of: dict[ParamId, str], is_home: IsHome
) -> Reduction | None:
    ops = operations(graph, roots, is_home)
    uses = Uses(graph, ops, box_of, is_home)
    drawn = [root for root in roots if root in uses.unit]
    if not drawn:  # a leaf that was made of a number: nothing leads there
        return None
    classes = _fold(_classes(ops, uses, graph), uses, ALIKE)
    if len(set(classes.values())) > MOST_KNOTS:  # no two lines alike: one node for each is still enough
        classes = _fold(classes, uses, 1)
    nodes: dict[int, FlowNode] = {}
    edges: set[tuple[int, int]] = set()
    for unit, members in uses.members.items():
        known = nodes.setdefault(classes[unit], FlowNode(uses.box.get(unit, ""), members[0].live))
        own = {op.nid for op in members}
        for op in members:
            _describe(known, op, graph, box_of, own)
            for source in op.inputs:
                if (other := uses.unit.get(source)) is not None and classes[other] != classes[unit]:
                    edges.add((classes[other], classes[unit]))
    return Reduction(nodes, edges, classes[uses.unit[drawn[0]]], *_parts(ops, uses))


def _describe(
    node: FlowNode, op: Op, graph: Provenance, box_of: dict[ParamId, str], own: set[ValueId]
) -> None:
    if op.site and op.site not in node.sites:
        node.sites.append(op.site)
    node.tags.update(op.tags)
    if graph.is_cut(op) and not node.cut:
        node.cut, node.cut_at = cut_name(op), culprit_of(op)
    for source in (op, *graph.inputs(op)):
        if pids := params_of(source):
            for pid in pids:
                if box_of.get(pid) == node.box:
                    node.pids.add(pid)
                    node.uses[pid] = node.uses.get(pid, 0) + 1
        elif source.nid not in own:
            node.is_function = True


def cut_name(op: Op) -> str:
    off = next((tag for tag in ("inference_mode", "no_grad") if tag in op.tags), "")
    return off or ("sample" if "sample" in op.tags else op.name)


def _classes(ops: dict[ValueId, Op], uses: Uses, graph: Provenance) -> dict[int, int]:
    """Youngest first: two units are one if they have the same label and feed the same classes."""
    classes: dict[int, int] = {}
    by_key: dict[tuple[Label, frozenset[object]], int] = {}
    labels = {unit: uses.label(unit, graph) for unit in uses.members}
    for unit in sorted(uses.members, key=lambda u: -uses.members[u][-1].nid):
        label = labels[unit]
        consumers = uses.consumers(unit)
        same = [c for c in consumers if c in classes and labels[c] == label and not label[0]]
        if same:
            classes[unit] = classes[same[0]]
            continue
        purpose: frozenset[object] = frozenset(classes.get(c, labels[c]) for c in consumers)
        classes[unit] = by_key.setdefault((label, purpose), unit)
    return classes


def _fold(classes: dict[int, int], uses: Uses, alike_at_most: int) -> dict[int, int]:
    alike: dict[object, set[int]] = {}
    for unit, of in classes.items():
        members = uses.members[unit]
        sites = frozenset(op.site for op in members)
        alike.setdefault((uses.box.get(unit, ""), sites, members[0].live), set()).add(of)
    into = {of: min(group) for group in alike.values() if len(group) > alike_at_most for of in group}
    return {unit: into.get(of, of) for unit, of in classes.items()}


def _parts(ops: dict[ValueId, Op], uses: Uses) -> tuple[set[str], set[str]]:
    """`log_prob * advantage`: the boxes that the advantage was made by, and those that `log_prob` was."""
    origins: dict[int, frozenset[str]] = {}
    scored: set[int] = set()
    weighing: set[str] = set()
    acting: set[str] = set()
    for nid, op in ops.items():
        known = [i for i in op.inputs if i in ops]
        box = uses.box.get(uses.unit.get(nid, -1), "")
        inherited: frozenset[str] = frozenset().union(*(origins[i] for i in known))
        origins[nid] = frozenset({box}) if box else inherited
        if "log_prob" in op.tags or any(i in scored for i in known):
            scored.add(nid)
        if ACTS & set(op.tags):
            acting |= origins[nid]
        elif op.name == "mul" and {i in scored for i in known} == {True, False}:
            weighing.update(*(origins[i] for i in known if i not in scored))
    return weighing, acting
