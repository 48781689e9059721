"""The picture of one loss: a simplified reduction with names, roles, the fate of gradients, and findings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gradsan.judge.history import History
from gradsan.judge.lines.source import assigned_name
from gradsan.judge.report.findings import Finding, Location
from gradsan.judge.report.wording import name_of
from gradsan.picture import model
from gradsan.picture.naming import common, relative
from gradsan.picture.reduction import FlowNode, Reduction
from gradsan.picture.simplify import FlowGraph
from gradsan.record.events import OptimizerId, ParamId, Site

Locate = Callable[[Site], Location | None]
CALLED = re.compile(r"(.{1,34})\.backward\(")
CODE = 34  # characters of a line that has no name


@dataclass(slots=True)
class Snapshot:
    """A reduction, and what was known of the backward when it was taken."""

    reduction: Reduction
    site: Site
    home: Site
    call: str
    fed: set[ParamId]
    consumed: dict[OptimizerId, set[ParamId]] = field(default_factory=dict)  # optimizer -> parameters


class FlowBuilder:
    def __init__(
        self,
        history: History,
        locate: Locate,
        findings: list[Finding],
        roles: dict[str, list[str]],
        network_of: dict[str, str],
    ) -> None:
        self.history = history
        self.locate = locate
        self.findings = findings
        self.roles = roles
        self.network_of = network_of

    def paint(self, shot: Snapshot) -> model.LossPicture:
        flow = FlowGraph(shot.reduction)
        flow.simplify(self._is_pinned, lambda node: bool(self._name(node, shot)), self.network_of)
        flows = flow.flows()
        groups = self._groups(flow)
        nodes = {key: self._node(flow, key, key in flows, shot) for key in sorted(flow.nodes)}
        names: dict[int, str] = {}
        for key, number in groups.items():
            nodes[key].group = number
            if paths := flow.boxes.get(key):
                names[number] = self.network_of.get(paths[0], paths[0])
                nodes[key].label = self._box_label(paths, names[number])
        edges = {
            (source, target): model.Edge(source, target, _kind(flow, source, target, flows))
            for target, sources in flow.before.items()
            for source in sorted(sources)
        }
        where = self.locate(shot.site)
        picture = model.LossPicture(
            nodes[flow.root].label, where, shot.call, list(nodes.values()), list(edges.values()),
            names,
        )  # fmt: skip
        for index, finding in enumerate(self.findings):
            self._mark(index, finding, flow, flows, nodes, edges, where)
        on_edges = {i for edge in edges.values() for i in edge.findings}
        picture.findings = sorted(on_edges | {i for node in nodes.values() for i in node.findings})
        return picture

    # -- nodes --------------------------------------------------------------------------------------

    def _node(self, flow: FlowGraph, key: int, flows: bool, shot: Snapshot) -> model.Node:
        node = flow.nodes[key]
        where = self.locate(node.sites[-1]) if node.sites else None
        if key not in flow.boxes:
            kind = model.LOSS if key == flow.root else model.VALUE
            label = self._line_label(node, where) or ("loss" if kind == model.LOSS else "value")
            if any(node.cut and flow.nodes[k].sites[-1:] == node.sites[-1:] for k in flow.after[key]):
                label = node.cut  # the name belongs to what the rest of the line makes of it
            return model.Node(key, kind, label, flows, where, cut=node.cut)
        paths = flow.boxes[key]
        parts = [role for path in paths for role in self.roles.get(path, ())]
        names = sorted(name_of(self.history, pid) for pid in node.pids)
        label = self._box_label(paths)
        cut = (node.cut or ("" if node.live else "frozen")) if not flows else ""
        return model.Node(
            key, model.NETWORK, label, flows, where, 0, list(dict.fromkeys(parts)),
            self._fate(node, flows, shot), cut, node.times, names,
        )  # fmt: skip

    def _box_label(self, paths: list[str], group: str = "") -> str:
        """A box inside of the frame of its network needs only the rest of its name."""
        if len(paths) == 1:
            return relative(paths[0], group)
        network = self.network_of.get(paths[0], "")
        if {path for path, of in self.network_of.items() if of == network} <= set(paths):
            return network
        parent = common(paths)
        return f"{relative(paths[0], group)} … {relative(paths[-1], parent)}"

    def _groups(self, flow: FlowGraph) -> dict[int, int]:
        """Boxes of one network that work together in one use of it."""
        found: dict[int, int] = {}
        for number, key in enumerate(sorted(flow.boxes), 1):
            network = self.network_of.get(flow.boxes[key][0], "")
            onward = flow.after[key]
            through = {k for line in onward if line not in flow.boxes for k in flow.after[line]}
            same = [
                k
                for k in {key} | onward | through
                if k in flow.boxes
                and self.network_of.get(flow.boxes[k][0]) == network
                and flow.nodes[k].live == flow.nodes[key].live
            ]
            if len(same) > 1:
                known = next((found[k] for k in same if k in found), number)
                found.update(dict.fromkeys(same, known))
        inside: dict[int, int] = {}
        for key in flow.nodes.keys() - flow.boxes.keys():
            from_, to = ({found.get(k, 0) for k in side[key]} for side in (flow.before, flow.after))
            if (both := from_ & to) and 0 not in both:
                inside[key] = min(both)
        return found | inside

    def _name(self, node: FlowNode, shot: Snapshot) -> str:
        """The variable that the node's last line gives a value to, if it is the loss's own function."""
        seen = self.history.sites.get(node.sites[-1]) if node.sites else None
        home = self.history.sites.get(shot.home)
        if seen is None or home is None or (seen.file, seen.function) != (home.file, home.function):
            return ""
        return assigned_name(seen.file, seen.line)

    def _line_label(self, node: FlowNode, where: Location | None) -> str:
        seen = self.history.sites.get(node.sites[-1]) if node.sites else None
        called = CALLED.match(where.code) if where is not None else None
        name = called.group(1) if called else ""
        return (assigned_name(seen.file, seen.line) if seen else "") or name or _code(where)

    def _fate(self, node: FlowNode, flows: bool, shot: Snapshot) -> str:
        if not flows:
            return ""
        users = [self.history.optimizers[o] for o, pids in shot.consumed.items() if pids & node.pids]
        lines = [(o.kind, self.history.sites.get(o.site)) for o in users]
        if lines:
            return "trained by " + ", ".join(f"{k} (line {s.line})" if s else k for k, s in lines)
        return "gradient arrives, no step uses it" if node.pids & shot.fed else ""

    # -- findings -----------------------------------------------------------------------------------

    def _is_pinned(self, node: FlowNode) -> bool:
        places = {(w.file, w.line) for s in node.sites if (w := self.locate(s)) is not None}
        return any(f.culprit and (f.culprit.file, f.culprit.line) in places for f in self.findings)

    def _mark(
        self, index: int, finding: Finding, flow: FlowGraph, flows: set[int], nodes: dict[int, model.Node],
        edges: dict[tuple[int, int], model.Edge], where: Location | None,
    ) -> None:  # fmt: skip
        culprits = self._at(finding.culprit, flow)
        about = {
            k for k, node in flow.nodes.items()
            if k in flow.boxes and set(finding.subjects) & {name_of(self.history, p) for p in node.pids}
        }  # fmt: skip
        parts = {s.role for s in finding.sites if where and s.location == where}
        for key in culprits:
            nodes[key].findings.append(index)
            self._paint_way(index, key, flow, flows, about, edges)
        if culprits:
            return
        leaks_here = "other backward" in parts
        if leaks_here:
            self._paint_way(index, flow.root, flow, flows, about, edges)
        if parts or finding.culprit == where:
            nodes[flow.root].findings.append(index)
        if leaks_here or about < set(flow.boxes):
            for key in about if parts else about & flows:  # of another loss: only if its gradient gets here
                nodes[key].findings.append(index)

    def _at(self, culprit: Location | None, flow: FlowGraph) -> list[int]:
        """Lines before boxes: the value is what the finding speaks of, the network only has a part in it."""
        if culprit is None:
            return []
        found = []
        for key, node in flow.nodes.items():
            places = [self.locate(s) for s in (*node.sites, node.cut_at)]
            if any(w and (w.file, w.line) == (culprit.file, culprit.line) for w in places):
                found.append(key)
        return [k for k in found if k not in flow.boxes] or found

    def _paint_way(
        self, index: int, key: int, flow: FlowGraph, flows: set[int], about: set[int],
        edges: dict[tuple[int, int], model.Edge],
    ) -> None:  # fmt: skip
        """A leak is red from the culprit to the networks it reaches; a cut is red where it is."""
        if key not in flows:
            for source in flow.before[key]:
                if edges[source, key].kind == model.CUT:
                    edges[source, key].findings.append(index)
            return
        way = flow.upstream(key, flows)
        to_about = {k for k in way if flow.upstream(k, flows) & about}
        for (source, target), edge in edges.items():
            if source in to_about and target in way:
                edge.findings.append(index)


def _kind(flow: FlowGraph, source: int, target: int, flows: set[int]) -> str:
    if source in flows and target in flows:
        return model.GRADIENT
    if flow.nodes[source].live and not flow.nodes[target].live:
        return model.CUT
    return model.DEAD


def _code(where: Location | None) -> str:
    code = where.code if where is not None else ""
    return code if len(code) <= CODE else code[: CODE - 1] + "…"
