"""Which parameters a line has to do with, read off the traced graphs of the losses it has a part in.

*Behind* a line: the parameters that what it computes is made of, whether gradient flows or not. What it *meets* on its
way to a loss: those, and the parameters behind every value that it is multiplied with, compared with or joined to;
not what is merely added at the end, as one loss is to another. *Before* a parameter: what flows into the operations
that use it, as a trunk does into its heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from gradsan.judge.history import History
from gradsan.judge.provenance import params_of
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId

MOST_TRACES = 32  # of the backwards on one line
ADDED = {"add", "sub", "neg"}  # of single numbers: each has the gradient that it would have alone

Bits = int  # a set of parameters, one bit each


class ConcernedParameters:
    def __init__(self, history: History) -> None:
        self._history = history
        self._bit: dict[ParamId, int] = {}
        self._traces: dict[Site, int] = {}
        self.behind: dict[Site, Bits] = {}
        self.meets: dict[Site, Bits] = {}
        self.before: dict[ParamId, Bits] = {}
        self.losses: set[tuple[frozenset[ParamId], Bits]] = set()  # what it feeds, what it is made of

    def look(self, event: Backward) -> None:
        roots = [root.nid for root in event.roots if root.nid in self._history.graph.ops]
        if not roots or self._traces.get(event.site, 0) >= MOST_TRACES:
            return
        self._traces[event.site] = self._traces.get(event.site, 0) + 1
        graph = self._history.graph.ancestors(roots)
        behind = self._made_of(graph)
        meets = _met(graph, behind)
        for nid, op in graph.items():
            for site in self._sites(op):
                self.behind[site] = self.behind.get(site, 0) | behind[nid]
                self.meets[site] = self.meets.get(site, 0) | meets[nid]
            for pid in (p for i in op.inputs if i in graph for p in params_of(graph[i])):
                self.before[pid] = self.before.get(pid, 0) | behind[nid]
        whole = 0
        for root in roots:
            whole |= behind[root]
        self.losses.add((frozenset(event.fed), whole))

    def params(self, bits: Bits) -> Iterator[ParamId]:
        return (pid for pid, number in self._bit.items() if bits >> number & 1)

    def _made_of(self, graph: Mapping[ValueId, Op]) -> dict[ValueId, Bits]:
        found: dict[ValueId, Bits] = {}
        for nid in sorted(graph):  # values are counted upwards: what one is made of is met first
            op = graph[nid]
            bits = self._bits(params_of(op))
            for source in op.inputs:
                bits |= found.get(source, 0)
            found[nid] = bits
        return found

    def _bits(self, pids: Iterable[ParamId]) -> Bits:
        bits = 0
        for pid in pids:
            bits |= 1 << self._bit.setdefault(pid, len(self._bit))
        return bits

    def _sites(self, op: Op) -> set[Site]:
        """Its own line, those of its callers, and the one that has switched gradients off for it."""
        return {op.site, op.facts.grad_off, *self._history.chains.get(op.chain, ())}


def _met(graph: Mapping[ValueId, Op], behind: Mapping[ValueId, Bits]) -> dict[ValueId, Bits]:
    found: dict[ValueId, Bits] = {}
    for nid in sorted(graph, reverse=True):
        bits = found.get(nid, 0) | (0 if _is_a_sum(graph[nid]) else behind[nid])
        found[nid] = bits
        for source in graph[nid].inputs:
            found[source] = found.get(source, 0) | bits
    return {nid: found[nid] | behind[nid] for nid in graph}


def _is_a_sum(op: Op) -> bool:
    return op.name in ADDED and math.prod(op.shape) == 1
