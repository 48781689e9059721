"""The picture of one loss: a simplified sketch with names, roles, the fate of gradients, and findings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gradsan.judge.findings import Finding, Location
from gradsan.judge.picture import model
from gradsan.judge.picture.canvas import Canvas
from gradsan.judge.picture.naming import common, relative
from gradsan.judge.picture.sketch import Knot, Sketch
from gradsan.judge.source import assigned_name
from gradsan.judge.wording import name_of
from gradsan.record.events import Site
from gradsan.record.history import History

Locate = Callable[[Site], Location | None]
CALLED = re.compile(r"(.{1,34})\.backward\(")
CODE = 34  # characters of a line that has no name


@dataclass(slots=True)
class Snapshot:
    """A sketch, and what was known of the backward when it was taken."""

    sketch: Sketch
    site: Site
    home: Site
    call: str
    fed: set[int]
    consumed: dict[int, set[int]] = field(default_factory=dict)  # optimizer -> parameters


class Painter:
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
        canvas = Canvas(shot.sketch)
        canvas.simplify(self._is_pinned, lambda knot: bool(self._name(knot, shot)), self.network_of)
        flows = canvas.flows()
        groups = self._groups(canvas)
        nodes = {key: self._node(canvas, key, key in flows, shot) for key in sorted(canvas.knots)}
        names: dict[int, str] = {}
        for key, number in groups.items():
            nodes[key].group = number
            if paths := canvas.boxes.get(key):
                names[number] = self.network_of.get(paths[0], paths[0])
                nodes[key].label = self._box_label(paths, names[number])
        edges = {
            (source, target): model.Edge(source, target, _kind(canvas, source, target, flows))
            for target, sources in canvas.before.items()
            for source in sorted(sources)
        }
        where = self.locate(shot.site)
        picture = model.LossPicture(
            nodes[canvas.root].label, where, shot.call, list(nodes.values()), list(edges.values()),
            names,
        )  # fmt: skip
        for index, finding in enumerate(self.findings):
            self._mark(index, finding, canvas, flows, nodes, edges, where)
        on_edges = {i for edge in edges.values() for i in edge.findings}
        picture.findings = sorted(on_edges | {i for node in nodes.values() for i in node.findings})
        return picture

    # -- nodes --------------------------------------------------------------------------------------

    def _node(self, canvas: Canvas, key: int, flows: bool, shot: Snapshot) -> model.Node:
        knot = canvas.knots[key]
        where = self.locate(knot.sites[-1]) if knot.sites else None
        if key not in canvas.boxes:
            kind = model.LOSS if key == canvas.root else model.VALUE
            label = self._line_label(knot, where) or ("loss" if kind == model.LOSS else "value")
            if any(knot.cut and canvas.knots[k].sites[-1:] == knot.sites[-1:] for k in canvas.after[key]):
                label = knot.cut  # the name belongs to what the rest of the line makes of it
            return model.Node(key, kind, label, flows, where, cut=knot.cut)
        paths = canvas.boxes[key]
        parts = [role for path in paths for role in self.roles.get(path, ())]
        names = sorted(name_of(self.history, pid) for pid in knot.pids)
        label = self._box_label(paths)
        cut = (knot.cut or ("" if knot.live else "frozen")) if not flows else ""
        return model.Node(
            key, model.NETWORK, label, flows, where, 0, list(dict.fromkeys(parts)),
            self._fate(knot, flows, shot), cut, knot.times, names,
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

    def _groups(self, canvas: Canvas) -> dict[int, int]:
        """Boxes of one network that work together in one use of it."""
        found: dict[int, int] = {}
        for number, key in enumerate(sorted(canvas.boxes), 1):
            network = self.network_of.get(canvas.boxes[key][0], "")
            onward = canvas.after[key]
            through = {k for line in onward if line not in canvas.boxes for k in canvas.after[line]}
            same = [
                k
                for k in {key} | onward | through
                if k in canvas.boxes
                and self.network_of.get(canvas.boxes[k][0]) == network
                and canvas.knots[k].live == canvas.knots[key].live
            ]
            if len(same) > 1:
                known = next((found[k] for k in same if k in found), number)
                found.update(dict.fromkeys(same, known))
        inside: dict[int, int] = {}
        for key in canvas.knots.keys() - canvas.boxes.keys():
            from_, to = ({found.get(k, 0) for k in side[key]} for side in (canvas.before, canvas.after))
            if (both := from_ & to) and 0 not in both:
                inside[key] = min(both)
        return found | inside

    def _name(self, knot: Knot, shot: Snapshot) -> str:
        """The variable that the knot's last line gives a value to, if it is the loss's own function."""
        seen = self.history.sites.get(knot.sites[-1]) if knot.sites else None
        home = self.history.sites.get(shot.home)
        if seen is None or home is None or (seen.file, seen.function) != (home.file, home.function):
            return ""
        return assigned_name(seen.file, seen.line)

    def _line_label(self, knot: Knot, where: Location | None) -> str:
        seen = self.history.sites.get(knot.sites[-1]) if knot.sites else None
        called = CALLED.match(where.code) if where is not None else None
        name = called.group(1) if called else ""
        return (assigned_name(seen.file, seen.line) if seen else "") or name or _code(where)

    def _fate(self, knot: Knot, flows: bool, shot: Snapshot) -> str:
        if not flows:
            return ""
        users = [self.history.optimizers[o] for o, pids in shot.consumed.items() if pids & knot.pids]
        lines = [(o.kind, self.history.sites.get(o.site)) for o in users]
        if lines:
            return "trained by " + ", ".join(f"{k} (line {s.line})" if s else k for k, s in lines)
        return "gradient arrives, no step uses it" if knot.pids & shot.fed else ""

    # -- findings -----------------------------------------------------------------------------------

    def _is_pinned(self, knot: Knot) -> bool:
        places = {(w.file, w.line) for s in knot.sites if (w := self.locate(s)) is not None}
        return any(f.culprit and (f.culprit.file, f.culprit.line) in places for f in self.findings)

    def _mark(
        self, index: int, finding: Finding, canvas: Canvas, flows: set[int], nodes: dict[int, model.Node],
        edges: dict[tuple[int, int], model.Edge], where: Location | None,
    ) -> None:  # fmt: skip
        culprits = self._at(finding.culprit, canvas)
        about = {
            k for k, knot in canvas.knots.items()
            if k in canvas.boxes and set(finding.subjects) & {name_of(self.history, p) for p in knot.pids}
        }  # fmt: skip
        parts = {s.role for s in finding.sites if where and s.location == where}
        for key in culprits:
            nodes[key].findings.append(index)
            self._paint_way(index, key, canvas, flows, about, edges)
        if culprits:
            return
        leaks_here = "other backward" in parts
        if leaks_here:
            self._paint_way(index, canvas.root, canvas, flows, about, edges)
        if parts or finding.culprit == where:
            nodes[canvas.root].findings.append(index)
        if leaks_here or about < set(canvas.boxes):
            for key in about if parts else about & flows:  # of another loss: only if its gradient gets here
                nodes[key].findings.append(index)

    def _at(self, culprit: Location | None, canvas: Canvas) -> list[int]:
        """Lines before boxes: the value is what the finding speaks of, the network only has a part in it."""
        if culprit is None:
            return []
        found = []
        for key, knot in canvas.knots.items():
            places = [self.locate(s) for s in (*knot.sites, knot.cut_at)]
            if any(w and (w.file, w.line) == (culprit.file, culprit.line) for w in places):
                found.append(key)
        return [k for k in found if k not in canvas.boxes] or found

    def _paint_way(
        self, index: int, key: int, canvas: Canvas, flows: set[int], about: set[int],
        edges: dict[tuple[int, int], model.Edge],
    ) -> None:  # fmt: skip
        """A leak is red from the culprit to the networks it reaches; a cut is red where it is."""
        if key not in flows:
            for source in canvas.before[key]:
                if edges[source, key].kind == model.CUT:
                    edges[source, key].findings.append(index)
            return
        way = canvas.upstream(key, flows)
        to_about = {k for k in way if canvas.upstream(k, flows) & about}
        for (source, target), edge in edges.items():
            if source in to_about and target in way:
                edge.findings.append(index)


def _kind(canvas: Canvas, source: int, target: int, flows: set[int]) -> str:
    if source in flows and target in flows:
        return model.GRADIENT
    if canvas.knots[source].live and not canvas.knots[target].live:
        return model.CUT
    return model.DEAD


def _code(where: Location | None) -> str:
    code = where.code if where is not None else ""
    return code if len(code) <= CODE else code[: CODE - 1] + "…"
