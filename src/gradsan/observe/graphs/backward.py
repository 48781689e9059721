"""The tap on `backward` and `autograd.grad`: which leaves a loss reaches, and which it fed."""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Literal, NamedTuple

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FastPath
from gradsan.observe.focus.loss_lines import LossLines, as_tensors, token_of, value_of
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.backward_diagnosis import BackwardDiagnosis, GradientWatcher
from gradsan.observe.graphs.carried_names import names_in_graph
from gradsan.observe.graphs.gradient_sketch import GradientSketch
from gradsan.observe.graphs.graph import Graph, walk
from gradsan.observe.interruptions import is_the_scripts
from gradsan.observe.last_resort import own
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import GradState, Known, grad_state, shape_of
from gradsan.observe.sites import Place
from gradsan.observe.training.magnitudes import Magnitudes
from gradsan.observe.training.sharded import is_sharded
from gradsan.observe.unseen import dispatch_modes, is_dense, is_readable
from gradsan.record.events import (
    NO_FACTS,
    NOBODY,
    NOTHING,
    Backward,
    BackwardFacts,
    BackwardId,
    ParamId,
    Reason,
    Root,
    Site,
    Turn,
    ZeroGrad,
)
from gradsan.record.torch_errors import kind_of

Tensor = torch.Tensor
modes: Callable[[], int] = torch._C._len_torch_function_stack
# In passing, the whole graph and its last operation are looked at in every so many iterations: primes, so that they
# meet every phase of a loop with a rhythm.
GRAPH_EVERY, KIND_EVERY = 61, 3


Call = Literal["backward", "grad"]


class BeforeBackward(NamedTuple):
    """What was true just before backward ran."""

    token: int
    place: Place
    roots: tuple[torch.Tensor, ...]
    shapes: tuple[Root, ...]
    graph: Graph
    states: list[GradState]
    facts: BackwardFacts
    loss: float
    watcher: GradientWatcher | None
    within: list[tuple[torch.Tensor, GradState]]
    """Leaves that only a backward inside of this one leads to, as they were before it."""


class BackwardTap:
    def __init__(
        self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing,
        sketch: GradientSketch, fast_path: FastPath, diagnosis: BackwardDiagnosis,
        magnitudes: Magnitudes, news: Callable[[Reason], None],
    ) -> None:  # fmt: skip
        self._contain, self._emit = containment.contain, outlet.emit
        self._known = known
        self._tracing = tracing
        self._sketch = sketch
        self._fast_path = fast_path
        self._diagnosis = diagnosis
        self._magnitudes = magnitudes
        self._inside = threading.local()
        self._count = 0
        self._lines = LossLines(containment, known.sites, fast_path, news)

    @property
    def parts(self) -> Parts:
        return self._patch_backward, self._patch_grad

    def _patch_backward(self, patches: Patches) -> None:
        tap, fast_path, lines, frame_above = self, self._fast_path, self._lines, sys._getframe
        contain, run = self._contain, self._passage()

        # In passing, a call costs more than what it does: hence all in one piece, `FastPath.passes` included.
        @functools.wraps(torch.autograd.backward)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            # `loss.backward()` comes with three arguments, and from one frame further up.
            frame = frame_above(2 if len(args) == 3 else 1)
            passing = False
            try:
                code, place, node, line = fast_path.node.backward
                if frame.f_code is not code or frame.f_lasti != place or not fast_path.on:
                    frame, line, node = lines.find(frame)
                if node is None:
                    lines.is_ordinary(tensors, line)
                else:
                    try:
                        # Under a mode, or of another class, the value is read where nobody sees it.
                        plain = type(tensors) is Tensor and not (modes() or dispatch_modes())
                        ordinary = plain and -(limit := line.largest) <= tensors.item() <= limit
                        usual = (
                            fast_path.skipped % KIND_EVERY != 0
                            or not plain
                            or type(tensors.grad_fn) in line.kinds
                        )
                    except (AttributeError, RuntimeError, TypeError) as error:
                        if is_the_scripts(error):
                            raise
                        ordinary, usual = False, True  # several losses, or several values
                    ordinary = ordinary or lines.is_ordinary(tensors, line)
                    if ordinary and (
                        (usual and (fast_path.skipped + 1) % GRAPH_EVERY)
                        or lines.has_usual_graph(tensors, line)
                    ):
                        fast_path.node = node
                        passing = True
                        if node is fast_path.root:  # a loop without optimizers
                            fast_path.passed_iteration()
                if not passing:
                    fast_path.end()
                    fast_path.note(line.token)
            except Exception as error:
                own("backward", error)
            if not passing:
                return run("backward", frame, original_backward, tensors, args, kwargs)
            try:
                return original_backward(tensors, *args, **kwargs)
            except BaseException as error:
                contain("backward", tap.failed_in_passing, frame, tensors, error)
                raise

        original_backward = patches.set(torch.autograd, "backward", backward)

    def _patch_grad(self, patches: Patches) -> None:
        tap, passes, contain, run = self, self._fast_path.passes, self._contain, self._passage()
        user_frame = self._known.sites.user_frame

        @functools.wraps(torch.autograd.grad)
        def grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            frame, passing = sys._getframe(1), False
            try:
                frame = user_frame(frame) or frame
                passing = passes(token_of(frame))
            except Exception as error:
                own("backward", error)
            if not passing:
                return run("grad", frame, original_grad, outputs, args, kwargs)
            try:
                return original_grad(outputs, *args, **kwargs)
            except BaseException as error:
                contain("backward", tap.failed_in_passing, frame, outputs, error, "grad")
                raise

        original_grad = patches.set(torch.autograd, "grad", grad)

    def _passage(self) -> Callable[[Call, FrameType, Any, Any, Any, Any], Any]:
        """What goes around a call of backward that is looked at: the call itself, and nothing that can fail."""
        contain, inside, before, after = self._contain, self._inside, self._begin, self._after

        def run(call: Call, frame: FrameType, original: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
            probe = contain("backward", before, call, frame, tensors)
            if probe is None:
                return original(tensors, *args, **kwargs)
            try:
                inside.depth, inside.probe = 1, probe
                result = original(tensors, *args, **kwargs)
            except BaseException as error:
                contain("backward", after, call, probe, args, kwargs, error)
                raise
            finally:
                inside.depth, inside.probe = 0, None
            contain("backward", after, call, probe, args, kwargs, None)
            if call == "grad" and self._tracing.tap is not None:
                contain("backward", self._hand_out, probe.place.site, args, kwargs, result)
            return result

        return run

    def _begin(self, call: Call, frame: FrameType, tensors: Any) -> BeforeBackward | None:
        """Inside: reentrant checkpointing, gradient penalties in hooks, `torch.func.grad`. On the meta device there
        are no gradients, only their shapes."""
        if not _can_be_followed(tensors):
            return None
        if getattr(self._inside, "depth", 0):
            if call == "backward":
                self._before_inner(self._inside.probe, tensors)
            return None
        return self._before(call, frame, tensors)

    def _before_inner(self, outer: BeforeBackward, tensors: Any) -> None:
        """What it feeds, the one around it has fed."""
        graph, leaves = walk(as_tensors(tensors)), self._known.leaves
        self._lines.note_graph(outer.token, (), graph)
        seen = {id(leaf) for leaf in outer.graph.leaves} | {id(leaf) for leaf, _ in outer.within}
        for leaf in graph.leaves:
            # Not the stand-ins for its inputs, which are made anew each time.
            lasting = issubclass(type(leaf), torch.nn.Parameter) or leaves.find(leaf) is not None
            if lasting and id(leaf) not in seen:
                outer.within.append((leaf, grad_state(leaf)))

    def failed_in_passing(
        self, frame: FrameType, tensors: Any, error: BaseException, call: Call = "backward"
    ) -> None:
        self._fast_path.end()
        probe = self._before(call, frame, tensors)
        if probe is not None:
            self._after(call, probe, (), {}, error)

    def _before(self, call: Call, frame: FrameType, tensors: Any) -> BeforeBackward | None:
        self._tracing.step.look()
        roots, place, token = as_tensors(tensors), self._known.sites.place(frame), token_of(frame)
        graph = walk(roots)
        if not graph.whole:
            self._diagnosis.cannot_follow(frame)
            return None
        if call == "backward":
            self._lines.note_graph(token, roots, graph)
            self._notice_clearing_by_hand(graph.leaves)
        has_optimizers = bool(self._known.optimizers.alive())
        # Weights that are made anew by each update are no leaves; but the graph behind them grows.
        size = len(graph.nodes) if call == "grad" else 0
        weights = 0 if has_optimizers else hash((_stamp(graph.leaves), size))
        if self._sketch.manual_loops.comes_round(place.site, has_optimizers, weights):
            self._emit(Turn())
        states = [grad_state(leaf) for leaf in graph.leaves] if call == "backward" else []
        operations = self._tracing.tap  # a turn may have changed that
        shapes: list[Root] = []
        facts, watcher = NO_FACTS, None
        for root in roots:
            nid = operations.values.number(root) if operations is not None else NOTHING
            shapes.append(Root(nid, shape_of(root), root.requires_grad))
        if operations is not None:
            operations.experience.before_backward()
            facts, watcher = self._diagnosis.before_backward(
                operations, roots, graph, token, call == "backward"
            )
        loss = value_of(roots[0]) if roots else 0.0
        if not math.isfinite(loss):
            facts = self._diagnosis.spoiled(facts, graph.leaves)
        return BeforeBackward(token, place, roots, tuple(shapes), graph, states, facts, loss, watcher, [])

    def _after(
        self, call: Call, probe: BeforeBackward, args: Any, kwargs: Any, error: BaseException | None
    ) -> None:
        inner = [leaf for leaf, _ in probe.within] if call == "backward" else []
        leaves = [*probe.graph.leaves, *inner]
        pids = self._known.leaves.pids(leaves)
        left: dict[ParamId, int] = {}
        if call == "backward":
            states = [*probe.states, *(state for _, state in probe.within)]
            for pid, leaf, before in zip(pids, leaves, states, strict=True):
                if (after := grad_state(leaf)) != before or (error is None and is_sharded(leaf)):
                    # A sharded one's may wait in the whole parameter for the ranks to exchange it.
                    left[pid] = after[0] if after is not None else 0
        fed = tuple(left)
        facts = probe.facts
        if probe.watcher is not None:
            probe.watcher.remove()
        if error is not None:
            facts = self._asked(facts, call, args, kwargs)
            facts = self._diagnosis.after_failure(facts, probe.roots, probe.token, error, probe.watcher)
            if kind_of(str(error)) == "graph-freed":
                facts = facts._replace(carried=names_in_graph(self._known.sites, probe.roots))
        elif probe.watcher is not None and call == "backward":
            chosen = set(fed)
            written = [
                leaf for pid, leaf in zip(pids, leaves, strict=True) if pid in chosen and _has_norm(leaf)
            ]
            facts = self._diagnosis.after_backward(facts, probe.watcher, written)
        elif probe.watcher is not None:
            facts = self._diagnosis.after_grad(facts, probe.watcher)
        given = _argument(args, kwargs, 0, "grad_tensors") if call == "backward" else None
        shapes = probe.shapes if given is None else self._weighed(probe.shapes, given)
        first = 1 if call == "backward" else 2  # grad() takes `inputs` before the rest
        retain = _argument(args, kwargs, first, "retain_graph")
        create = _argument(args, kwargs, first + 1, "create_graph")
        self._magnitudes.note_loss(probe.place.site, probe.loss)
        versions = [leaf._version for pid, leaf in zip(pids, leaves, strict=True) if pid in left]
        self._sketch.fed(fed, left.values(), versions)
        self._count += 1
        self._emit(
            Backward(
                BackwardId(self._count),
                probe.place.site,
                call,
                shapes,
                pids,
                fed,
                bool(retain),
                bool(create),
                "" if error is None else f"{type(error).__name__}: {error}",
                len(probe.graph.nodes),
                facts,
                probe.loss,
                probe.place.chain,
                pids[len(pids) - len(inner) :],
            )
        )

    def _weighed(self, roots: tuple[Root, ...], given: Any) -> tuple[Root, ...]:
        """With what backward was given to begin with, where its making was traced."""
        tap, weights = self._tracing.tap, as_tensors(given)
        if tap is None or len(weights) != len(roots):
            return roots
        pairs = zip(roots, weights, strict=True)
        return tuple(root._replace(weight=tap.values.find(weight) or NOTHING) for root, weight in pairs)

    def _hand_out(self, site: Site, args: Any, kwargs: Any, result: Any) -> None:
        """What `autograd.grad` returns is a gradient, though it lies in no `.grad`: what is made of it is followed. One
        with a graph of its own is a value like any other."""
        tap, inputs = self._tracing.tap, as_tensors(_argument(args, kwargs, 0, "inputs"))
        gradients = (result,) if isinstance(result, torch.Tensor) else result
        for leaf, grad in zip(inputs, gradients, strict=False):
            if (
                tap is not None
                and issubclass(type(grad), Tensor)
                and is_readable(grad)
                and not grad.requires_grad
            ):
                pid = self._known.leaves.find(leaf) or NOBODY
                tap.special.gradient(grad, pid, site, BackwardId(self._count))

    def _asked(self, facts: BackwardFacts, call: Call, args: Any, kwargs: Any) -> BackwardFacts:
        """With what `autograd.grad` was to differentiate by."""
        if call != "grad":
            return facts
        inputs, tap = as_tensors(_argument(args, kwargs, 0, "inputs")), self._tracing.tap
        pids = self._known.leaves.pids(t for t in inputs if t.is_leaf)
        values = [tap.values.find(t) for t in inputs] if tap is not None else []
        return facts._replace(asked=pids, asked_values=tuple([nid for nid in values if nid]))

    def _notice_clearing_by_hand(self, leaves: list[torch.Tensor]) -> None:
        """`p.grad = None` and `p.grad.zero_()` pass no tap: see their effect before it is overwritten."""
        sketch, cleared = self._sketch, []
        for leaf in leaves:
            grad = leaf.grad
            pid = self._known.leaves.find(leaf)
            if pid is None or not sketch.holds(pid):
                continue
            if grad is None or (sketch.is_spent(pid) and is_readable(grad) and _is_zero(grad)):
                cleared.append(pid)
        if cleared:
            sketch.cleared(cleared)
            self._emit(ZeroGrad(self._tracing.clearing_site(), "hand", tuple(cleared)))


def _stamp(leaves: list[torch.Tensor]) -> int:
    """A number that changes when the leaves are written, moved or replaced (but for writes through `.data`)."""
    return hash(
        tuple(
            [
                (id(leaf), leaf.data_ptr(), leaf._version)
                for leaf in leaves
                if is_readable(leaf) and is_dense(leaf)
            ]
        )
    )


def _can_be_followed(tensors: Any) -> bool:
    """On the meta device there are no gradients, only their shapes; of a wrapper only its class knows more."""
    if issubclass(type(tensors), Tensor) and not is_readable(tensors):
        return False
    return not any(t.is_meta for t in as_tensors(tensors))


def _has_norm(leaf: Tensor) -> bool:
    return leaf.grad is None or is_readable(leaf.grad)


def _is_zero(grad: Tensor) -> bool:
    if grad.is_sparse:
        return not bool(grad._values().any())
    return grad.layout is torch.strided and not bool(grad.any())


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], index: int, name: str) -> Any:
    return args[index] if len(args) > index else kwargs.get(name)
