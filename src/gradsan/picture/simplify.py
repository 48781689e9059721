"""Makes a reduction small enough to be read: lines that say nothing new disappear into their neighbours, and
the layers of a network that simply follow each other become one box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gradsan.picture.reduction import FlowNode, Reduction

READABLE = 14  # as many nodes as one takes in without effort


class FlowGraph:
    def __init__(self, reduction: Reduction) -> None:
        self.nodes = {k: _copy(node) for k, node in reduction.nodes.items()}
        self.root = reduction.root
        self.boxes = {k: [v.box] for k, v in self.nodes.items() if v.box}
        self.before: dict[int, set[int]] = {k: set() for k in self.nodes}
        self.after: dict[int, set[int]] = {k: set() for k in self.nodes}
        for source, target in reduction.edges:
            self.before[target].add(source)
            self.after[source].add(target)

    def simplify(
        self,
        is_pinned: Callable[[FlowNode], bool],
        is_named: Callable[[FlowNode], bool],
        network_of: dict[str, str],
    ) -> None:
        lines = [k for k in sorted(self.nodes) if k != self.root and k not in self.boxes]
        pinned = {k for k in lines if is_pinned(self.nodes[k])}
        for key in lines:
            node = self.nodes[key]
            if not self._cuts(key):
                named = is_named(node) and not _is_aside(node) and not self._is_cut_on_its_line(key)
                stays = key in pinned or named
                self._absorb(key, only_same_line=stays)
        self._chain(network_of)
        self._twins()
        for key in lines:
            if len(self.nodes) > READABLE and key in self.nodes and not self._cuts(key):
                self._absorb(key, only_same_line=key in pinned)

    def flows(self) -> set[int]:
        """The nodes that gradient of the loss arrives at."""
        found: set[int] = set()
        stack = [self.root] if self.nodes[self.root].live else []
        while stack:
            key = stack.pop()
            if key not in found:
                found.add(key)
                stack.extend(s for s in self.before[key] if self.nodes[s].live)
        return found

    def upstream(self, key: int, within: set[int]) -> set[int]:
        found: set[int] = set()
        stack = [key]
        while stack:
            current = stack.pop()
            if current in within and current not in found:
                found.add(current)
                stack.extend(self.before[current])
        return found

    def _cuts(self, key: int) -> bool:
        return not self.nodes[key].live and any(self.nodes[s].live for s in self.before[key])

    def _is_cut_on_its_line(self, key: int) -> bool:
        """`x = f(y).detach()`: the name belongs to what comes after the cut."""
        line = self.nodes[key].sites[-1:]
        return any(self._cuts(to) and self.nodes[to].sites[:1] == line for to in self.after[key])

    def _absorb(self, key: int, only_same_line: bool) -> None:
        node, before, after = self.nodes[key], self.before[key], self.after[key]
        if len(after) == 1:
            (to,) = after
            other = self.nodes[to]
            same_line = node.sites[-1:] == other.sites[:1] or node.sites[-1:] == other.sites[-1:]
            if same_line and to not in self.boxes and not (node.live and not other.live):
                self._merge(key, to)
                return
        if len(before) == 1:
            (source,) = before
            other = self.nodes[source]
            same_line = source not in self.boxes and other.sites[-1:] == node.sites[-1:]
            if other.live == node.live and (same_line or not only_same_line):
                self._merge(key, source)

    def _merge(self, key: int, into: int) -> None:
        for source in self.before.pop(key):
            self.after[source].discard(key)
            if source != into:
                self.after[source].add(into)
                self.before[into].add(source)
        for target in self.after.pop(key):
            self.before[target].discard(key)
            if target != into:
                self.before[target].add(into)
                self.after[into].add(target)
        gone, kept = self.nodes.pop(key), self.nodes[into]
        kept.tags |= gone.tags
        kept.pids |= gone.pids
        kept.uses = {**gone.uses, **kept.uses}
        kept.sites = list(dict.fromkeys([*gone.sites, *kept.sites] if key in self.boxes else kept.sites))
        if key in self.boxes:
            self.boxes[into] = [*self.boxes.pop(key), *self.boxes[into]]

    def _chain(self, network_of: dict[str, str]) -> None:
        for key in sorted(self.boxes):
            after = self.after[key]
            if len(after) != 1:
                continue
            (to,) = after
            if (
                to not in self.boxes
                or self.before[to] != {key}
                or self.nodes[to].live != self.nodes[key].live
            ):
                continue
            if network_of.get(self.boxes[key][-1]) == network_of.get(self.boxes[to][0], ""):
                self._merge(key, to)

    def _twins(self) -> None:
        """Uses of a network with the same purpose that only their lines told apart."""
        known: dict[object, int] = {}
        for key in sorted(self.boxes):
            purpose = frozenset(self.before[key]), frozenset(self.after[key])
            twin = known.setdefault((*self.boxes[key], self.nodes[key].live, purpose), key)
            if twin != key:
                uses, others = self.nodes[twin].uses, self.nodes[key].uses
                self._merge(key, twin)
                self.boxes[twin] = list(dict.fromkeys(self.boxes[twin]))
                self.nodes[twin].uses = {p: uses.get(p, 0) + others.get(p, 0) for p in uses | others}


def _copy(node: FlowNode) -> FlowNode:
    sites, pids, tags, uses = list(node.sites), set(node.pids), set(node.tags), dict(node.uses)
    return replace(node, sites=sites, pids=pids, tags=tags, uses=uses)


def _is_aside(node: FlowNode) -> bool:
    """The probabilities that a sample was drawn from: not what the line is there for."""
    return node.live and "sample" in node.tags and "rsample" not in node.tags
