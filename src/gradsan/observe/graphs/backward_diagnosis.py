"""Looking at a graph around backward: before (hidden writes), during (where a gradient turned bad),
and after a failure (which saved tensor was changed, and by whom)."""

from __future__ import annotations

import math
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import BackwardCFunction

from gradsan.observe.containment import Containment
from gradsan.observe.focus.line_recall import LineRecall, is_traced
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.changed_weights import stepped_weight
from gradsan.observe.graphs.drawn_places import DrawnWatcher
from gradsan.observe.graphs.forward_again import began_here
from gradsan.observe.graphs.function_contexts import changed_attributes
from gradsan.observe.graphs.function_gradients import FunctionWatcher
from gradsan.observe.graphs.gradient_ladder import GradientLadder, GradientLadders
from gradsan.observe.graphs.gradient_shares import GradientShares, ShareWatcher
from gradsan.observe.graphs.graph import Graph, Label, labels, nodes_behind, operation_of, saved_names
from gradsan.observe.graphs.probes import Probes, ProbeWatcher
from gradsan.observe.ops.inspect_op import bad_value
from gradsan.observe.ops.rectifiers import last_rectifiers
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.ops.values import Tensor, version_of
from gradsan.observe.ops.writes import Writes
from gradsan.observe.outlet import BlindSpots
from gradsan.observe.registry import Leaves, storage_of
from gradsan.observe.training.magnitudes import norms_of
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import (
    NOBODY,
    NOWHERE,
    BackwardFacts,
    BadGradient,
    ChangedTensor,
    FlatShare,
    GradientNorm,
    HiddenWrite,
    ParamId,
    ValueId,
)
from gradsan.record.torch_errors import kind_of

if TYPE_CHECKING:
    from gradsan.observe.ops.operations import OperationTap

RISKY = (
    "Log", "Sqrt", "Pow", "Div", "Exp", "Std", "Var", "Norm", "Atanh", "Acos", "Asin", "Rsqrt", "Mul",
    "Reciprocal", "Logsumexp", "Where", "Prod", "Cumprod", "LogSoftmax", "Logit", "Lgamma", "Digamma",
)  # fmt: skip
SQUASHING = ("Sigmoid", "Tanh", "Hardtanh", "Hardsigmoid")
WORTH_A_NOTE = 0.5  # share of a squashing function's elements without gradient
RECTIFIED = 0.1  # the same of a rectifier that actions are chosen from
FADED = 1e-30  # what is smaller before it becomes zero was lost by rounding, not by a flat function
ENOUGH_FADED = 64  # operations; those on the last steps to zero


class BackwardDiagnosis:
    def __init__(
        self, containment: Containment, leaves: Leaves, tracing: Tracing, switches: GradientSwitches,
        blind_spots: BlindSpots,
    ) -> None:  # fmt: skip
        self._containment = containment
        self._leaves = leaves
        self._tracing = tracing
        self._switches = switches
        self._blind_spots = blind_spots
        self._line_recall = LineRecall()
        self._ladders = GradientLadders()
        self._zero: set[ParamId] = set()  # gradients that were zero when they were last written
        self._probes = Probes(containment)
        self._shares = GradientShares(containment)

    def before_backward(
        self,
        tap: OperationTap,
        roots: tuple[Tensor, ...],
        graph: Graph,
        token: int,
        accumulates: bool,
    ) -> tuple[BackwardFacts, GradientWatcher]:
        """`token` stands for the call of backward."""
        writes, draws, paddings = tap.writes, tap.draws, tap.paddings
        named = self._line_recall.know(token, labels(graph.nodes))
        hidden: list[HiddenWrite] = []
        for node, (nid, _) in named.items() if writes.compares_contents else ():
            names, packed = saved_names(node)
            if names and nid in writes.kept:
                hidden += _hidden_write(writes, _saved_tensors(node, names), nid)
            if nid in writes.kept and isinstance(node, BackwardCFunction):
                hidden += changed_attributes(writes, node, nid)
            if packed:
                self._blind_spots.add("packed", None)
        ladder = self._ladders.of(token, named)
        # The next backward may be another loss's, and one after that this one's again.
        hunting = bool(self._zero) and any(self._leaves.find(leaf) in self._zero for leaf in graph.leaves)
        lost = any(_is_bad(root) for root in roots)
        watcher = GradientWatcher(self._containment, named, hunting, ladder, lost)
        watcher.probes = self._probes.watch(roots, named, tap.marks)
        if draws.scored or paddings.scored:
            watcher.drawn = DrawnWatcher(self._containment, named, draws, paddings)
        leaves = graph.leaves if accumulates else []
        watcher.shares = self._shares.watch(token, named, leaves) if is_traced(named) else None
        return BackwardFacts(hidden=tuple(hidden), untraced=not is_traced(named)), watcher

    def cannot_follow(self, frame: FrameType) -> None:
        self._blind_spots.add("deep graph", frame)

    def spoiled(self, facts: BackwardFacts, leaves: list[Tensor]) -> BackwardFacts:
        """The loss is not finite; are the weights? Then an earlier gradient was not, and its graph is gone."""
        leaves = list(filter(is_readable, leaves))
        norms = norms_of(list(leaves))
        pids = self._leaves.pids(leaves)
        broken = tuple(pid for pid, norm in zip(pids, norms, strict=True) if not math.isfinite(norm))
        return facts._replace(spoiled=broken, suspects=self._line_recall.suspects()) if broken else facts

    def after_backward(
        self, facts: BackwardFacts, watcher: GradientWatcher, fed: list[Tensor]
    ) -> BackwardFacts:
        """Norms of the gradients that were just written, and what the watcher saw."""
        pids = self._leaves.pids(fed)
        norms = norms_of([leaf.grad for leaf in fed])
        bad = None
        if any(not math.isfinite(n) for n in norms):
            bad = watcher.origin or watcher.bad or BadGradient()
        zero = {pid for pid, norm in zip(pids, norms, strict=True) if norm == 0.0}
        self._zero = (self._zero - set(pids)) | zero
        probes, pairs = watcher.probes.results() if watcher.probes is not None else ((), ())
        junctions, overlaps = watcher.shares.results(self._leaves) if watcher.shares is not None else ((), ())
        return facts._replace(
            junctions=junctions,
            overlaps=overlaps,
            probes=probes,
            probe_pairs=pairs,
            drawn=tuple(watcher.drawn.found) if watcher.drawn is not None else (),
            padded=tuple(watcher.drawn.padded) if watcher.drawn is not None else (),
            norms=tuple(map(GradientNorm, pids, norms)),
            bad_gradient=bad,
            zeroed_by=tuple(watcher.zeroed.values()) if zero else (),
            functions=watcher.functions.passes(self._leaves),
            flat=tuple(watcher.flat),
            faded=tuple(watcher.faded),
            growth=watcher.ladder.growth() if watcher.ladder is not None else None,
        )

    def after_grad(self, facts: BackwardFacts, watcher: GradientWatcher) -> BackwardFacts:
        """`autograd.grad` writes no gradient; what met on the way is known all the same."""
        facts = facts._replace(functions=watcher.functions.passes(self._leaves))
        if watcher.shares is None:
            return facts
        return facts._replace(junctions=watcher.shares.results(self._leaves)[0])

    def after_failure(
        self, facts: BackwardFacts, roots: tuple[Tensor, ...], token: int, error: BaseException,
        watcher: GradientWatcher | None,
    ) -> BackwardFacts:  # fmt: skip
        """The graph still knows which of its saved tensors were changed: reading those raises."""
        kind = kind_of(str(error))
        if kind == "no-graph" and not torch.is_grad_enabled():
            return facts._replace(gradients_off=self._switches.line())
        if kind == "saved-tensor-changed":
            return self._changed(facts, roots, token)
        if kind == "graph-freed":
            return facts._replace(freed=_freed(roots))
        if kind == "anomaly":
            return facts._replace(bad_gradient=(watcher.bad if watcher else None) or BadGradient())
        return facts

    def _changed(self, facts: BackwardFacts, roots: tuple[Tensor, ...], token: int) -> BackwardFacts:
        writes_seen = self._tracing.tap.writes if self._tracing.tap is not None else None
        kept_at, weight = NOWHERE, NOBODY
        for node, (nid, site) in self._line_recall.know(token, labels(nodes_behind(roots))).items():
            if not _raises(node, "saved-tensor-changed"):
                continue
            kept_at = kept_at or site
            if not weight and (weight := stepped_weight(node, self._leaves)):
                kept_at = site
            if writes_seen is None:
                break
            for item in writes_seen.kept.get(nid, ()):
                writes = [w for w in writes_seen.after(item.storage, nid) if not w.hidden]
                if writes:
                    owner, first = self._leaves.peek_storage(item.storage) or NOBODY, writes[0]
                    changed = ChangedTensor(nid, first.site, first.name, first.by_step, owner)
                    return facts._replace(changed=changed)
        return facts._replace(forward_unseen=True, kept_at=kept_at, stepped_weight=weight)


def _hidden_write(seen: Writes, tensors: list[Tensor], nid: ValueId) -> list[HiddenWrite]:
    for saved in tensors:
        where, size = saved.data_ptr(), saved.numel()
        for item in seen.kept[nid]:
            if item.where == where and item.size == size and item.storage == storage_of(saved):
                if item.version == version_of(saved) and not item.is_content_of(saved):
                    later = seen.after(item.storage, nid)
                    if any(w.by_step for w in later):
                        return []  # a fused step does not count its write: that is GS102's to say
                    writes = [w for w in later if w.hidden]
                    write = writes[0].site if writes else NOWHERE
                    alias = seen.shared_with_numpy.get(item.storage, NOWHERE)
                    return [HiddenWrite(nid, write, alias)]
                break
    return []


def _saved_tensors(node: Any, names: list[str]) -> list[Tensor]:
    found = []
    for name in names:
        try:
            value = getattr(node, name)
        except RuntimeError:  # changed in place, or freed: PyTorch will say so itself
            continue
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, tuple | list):
            found.extend(v for v in value if isinstance(v, Tensor))
    return [t for t in found if is_readable(t) and is_dense(t)]


class GradientWatcher:
    """Hooks on graph nodes for the length of one backward: which one first made a gradient non-finite,
    and, when asked to, which one turned it to zero."""

    def __init__(
        self,
        containment: Containment,
        named: dict[Any, Label],
        hunting_zeros: bool,
        ladder: GradientLadder | None,
        lost: bool,
    ) -> None:
        self._containment = containment
        self._lost = lost  # the loss is not finite
        self.ladder = ladder
        self.bad: BadGradient | None = None
        self.origin: BadGradient | None = None  # of a loss that was not finite to begin with
        self.zeroed: dict[int, ValueId] = {}
        self.flat: list[FlatShare] = []
        self.faded: list[ValueId] = []
        self.functions = FunctionWatcher(containment, named)
        self.probes: ProbeWatcher | None = None
        self.drawn: DrawnWatcher | None = None
        self.shares: ShareWatcher | None = None
        self._handles = []
        for node, note in ladder.hooks() if ladder is not None else ():
            self._handles.append(node.register_prehook(self._contained(note)))
        rectifiers = last_rectifiers(named)
        for order, (node, label) in enumerate(named.items()):
            kind = node.name()
            if hunting_zeros:
                self._handles.append(node.register_hook(self._contained(self._zero_hook(label[0], order))))
            if kind.startswith(SQUASHING) and label[0]:
                self._handles.append(node.register_hook(self._contained(self._flat_hook(label[0]))))
            elif node in rectifiers and label[0]:
                look = self._flat_hook(label[0], RECTIFIED)
                self._handles.append(node.register_hook(self._contained(look)))
            if kind.startswith(RISKY) or isinstance(node, BackwardCFunction):
                self._handles.append(node.register_hook(self._contained(self._bad_hook(node, label, kind))))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self.functions.remove()
        if self.probes is not None:
            self.probes.remove()
        if self.drawn is not None:
            self.drawn.remove()
        if self.shares is not None:
            self.shares.remove()

    def _contained(self, look: Any) -> Any:
        """PyTorch calls hooks from inside backward: what they raise would be the script's error."""

        def hook(*gradients: Any) -> None:
            if all(is_readable(g) and is_dense(g) for group in gradients for g in group if g is not None):
                self._containment.contain("gradients", look, *gradients)

        return hook

    def _bad_hook(self, node: Any, label: Label, kind: str) -> Any:
        nid, site = label

        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            if not _any_bad(grad_inputs):
                return
            if self._lost and (first := began_here(operation_of(kind), *_saved_by(node))):
                self.origin = BadGradient(nid, site, first)  # what runs later was computed earlier
            if not self.bad and not _any_bad(grad_outputs):
                bad = next(g for g in grad_inputs if g is not None and _any_bad((g,)))
                inputs, results = _saved_by(node)  # PyTorch frees them after the hooks
                what = bad_value(operation_of(kind), inputs, ~torch.isfinite(bad), results)
                self.bad = BadGradient(nid, site, what)

        return hook

    def _zero_hook(self, nid: ValueId, order: int) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            into = [g for g in grad_inputs if g is not None]
            given = [g for g in grad_outputs if g is not None and bool(g.any())]
            without = [g for g in into if not bool(g.any())] if given else []
            if not without:
                return
            # A sum over the batch may still be there where each of its rows is gone.
            if max(float(g.abs().max()) for g in given) < FADED:
                if len(self.faded) < ENOUGH_FADED:
                    self.faded.append(nid)
            elif len(without) == len(into):
                self.zeroed[order] = nid

        return hook

    def _flat_hook(self, nid: ValueId, least: float = WORTH_A_NOTE) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            into, arriving = grad_inputs[0], grad_outputs[0]
            if into is None or arriving is None or into.shape != arriving.shape:
                return
            left = int(into.count_nonzero())
            if left > into.numel() * (1 - least):
                return
            given = int(arriving.count_nonzero())
            ended = 1 - left / given if given else 0.0
            if ended >= least:
                self.flat.append(FlatShare(nid, round(ended, 4)))

        return hook


def _saved_by(node: Any) -> tuple[list[Tensor], list[Tensor]]:
    """What the node keeps of its inputs, and of its results."""
    names = saved_names(node)[0]
    results = [name for name in names if name.startswith("_saved_result")]
    return _numbers(node, [n for n in names if n not in results]), _numbers(node, results)


def _numbers(node: Any, names: list[str]) -> list[Tensor]:
    return [t for t in _saved_tensors(node, names) if t.dtype.is_floating_point]


def _any_bad(grads: Any) -> bool:
    return any(_is_bad(g) for g in grads if g is not None)


def _is_bad(grad: Tensor) -> bool:
    if not grad.dtype.is_floating_point:
        return False
    # One reduction settles the usual case; only where the sum is not finite is a closer look needed.
    return not math.isfinite(float(grad.detach().sum())) and not bool(torch.isfinite(grad).all())


def _freed(roots: tuple[Tensor, ...]) -> tuple[ValueId, ...]:
    """The newest values of this graph that an earlier backward has used up."""
    named = labels(nodes_behind(roots))
    freed = [nid for node, (nid, _) in named.items() if nid and _raises(node, "graph-freed")]
    return tuple(sorted(set(freed), reverse=True)[:50])


def _raises(node: Any, kind: str) -> bool:
    for name in saved_names(node)[0]:
        try:
            getattr(node, name)
        except RuntimeError as error:
            if kind_of(str(error)) == kind:
                return True
    return False
