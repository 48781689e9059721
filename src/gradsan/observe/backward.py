"""The tap on `backward` and `autograd.grad`: which leaves a loss reaches, and which it fed."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

import torch

from gradsan.observe import backward_diagnosis
from gradsan.observe.context import Context
from gradsan.observe.graph import Graph, Shapes, is_transforming, walk
from gradsan.observe.patches import Patches
from gradsan.observe.registry import GradState, grad_state
from gradsan.record.events import Backward, Root, Turn, ZeroGrad

ENOUGH_LOSSES = 16  # before a loss can be out of its history
OUTLIER = 10.0  # times the largest one so far
GRAPH_EVERY = 31  # iterations in passing; a prime, so that it meets every phase of a loop with a rhythm


class Probe(NamedTuple):
    """What was true just before backward ran."""

    token: int
    site: int
    roots: tuple[torch.Tensor, ...]
    shapes: tuple[Root, ...]
    graph: Graph
    states: list[GradState]
    clues: tuple[tuple[str, Any], ...]
    loss: float


class BackwardTap:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.inside = threading.local()
        self._losses: dict[int, int] = {}  # how many each line has had
        self._largest: dict[int, float] = {}
        self._shapes = Shapes()
        self._sites: dict[int, int] = {}  # the line of each call

    def install(self, patches: Patches) -> None:
        tap, fast_path, sites, largest = self, self.context.fast_path, self.context.sites, self._largest
        users, is_user, frame_above = sites.users, sites.is_user, sys._getframe
        charts, contain = self.context.charts, self.context.contain

        # In passing, a call costs more than what it does: hence all in one piece.
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            # `loss.backward()` comes with three arguments, and from one frame further up.
            frame = frame_above(2 if len(args) == 3 else 1)
            code = frame.f_code
            while id(code) not in users and frame.f_back is not None and not is_user(code):
                frame = frame.f_back
                code = frame.f_code
            token = id(code) * 31 + frame.f_lasti  # `_token`, written out
            if fast_path.on and (node := fast_path.node.get(token)) is not None:
                try:
                    ordinary = -(limit := largest[token]) <= tensors.item() <= limit
                except Exception:  # several losses, or several values
                    ordinary = False
                ordinary = ordinary or tap.is_ordinary(tensors, token)
                if ordinary and (
                    (fast_path.skipped + 1) % GRAPH_EVERY or tap.has_usual_graph(tensors, token)
                ):
                    fast_path.node = node
                    if charts.on:
                        contain("charts", tap.note_loss, tensors, token)
                    if node is fast_path.root:  # a loop without optimizers
                        fast_path.passed_iteration()
                    try:
                        return original_backward(tensors, *args, **kwargs)
                    except BaseException as error:
                        tap.failed_in_passing(frame, tensors, error)
                        raise
            else:
                tap.is_ordinary(tensors, token)
            fast_path.end()
            fast_path.note(token)
            return tap.run("backward", frame, original_backward, tensors, args, kwargs)

        def grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            frame = sites.user_frame(sys._getframe(1)) or sys._getframe(1)
            token = _token(frame)
            if fast_path.on and (node := fast_path.node.get(token)) is not None:
                fast_path.node = node
                if node is fast_path.root:
                    fast_path.passed_iteration()
                try:
                    return original_grad(outputs, *args, **kwargs)
                except BaseException as error:
                    tap.failed_in_passing(frame, outputs, error, "grad")
                    raise
            fast_path.end()
            fast_path.note(token)
            return tap.run("grad", frame, original_grad, outputs, args, kwargs)

        original_backward = patches.set(torch.autograd, "backward", backward)
        original_grad = patches.set(torch.autograd, "grad", grad)

    def is_ordinary(self, loss: Any, token: int) -> bool:
        """The one look at numbers that is taken even in passing: one value, no gradient tensors. A loss far
        above all that this line has had so far often comes before one that is not finite."""
        value = abs(value_of(loss))
        seen, largest = self._losses.get(token, 0), self._largest.get(token, 0.0)
        self._losses[token] = seen + 1
        self._largest[token] = max(largest, value)
        # Those that were ordinary in passing are not counted one by one.
        enough = seen + self.context.fast_path.skipped >= ENOUGH_LOSSES
        outlier = enough and value > OUTLIER * largest > 0.0
        if outlier or not math.isfinite(value):
            self.context.contain("attention", self.context.on_news, "a loss out of its history")
            return False
        return True

    def note_loss(self, loss: Any, token: int) -> None:
        if token in self._sites:
            self.context.charts.losses[self._sites[token]] = value_of(loss)

    def has_usual_graph(self, loss: Any, token: int) -> bool:
        """The one look at a graph that is taken in passing, every so often."""
        graph = self.context.contain("graph", lambda: walk(_as_tensors(loss)))
        if graph is None or not self._shapes.is_new(token, graph):
            return True
        self.context.contain("attention", self.context.on_news, "a graph of another shape")
        return False

    def failed_in_passing(
        self, frame: FrameType, tensors: Any, error: BaseException, call: str = "backward"
    ) -> None:
        self.context.fast_path.end()
        probe = self.context.contain("backward", self._before, call, frame, tensors)
        if probe is not None:
            self.context.contain("backward", self._after, call, probe, (), {}, error)

    def run(self, call: str, frame: FrameType, original: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        # Inside: reentrant checkpointing, gradient penalties in hooks, `torch.func.grad`. On the meta device
        # there are no gradients, only their shapes.
        if getattr(self.inside, "depth", 0) or is_transforming() or _is_meta(tensors):
            return original(tensors, *args, **kwargs)
        context = self.context
        probe = context.contain("backward", self._before, call, frame, tensors)
        self.inside.depth = 1
        try:
            result = original(tensors, *args, **kwargs)
        except BaseException as error:
            if probe is not None:
                context.contain("backward", self._after, call, probe, args, kwargs, error)
            raise
        finally:
            self.inside.depth = 0
        if probe is not None:
            context.contain("backward", self._after, call, probe, args, kwargs, None)
        return result

    def _before(self, call: str, frame: FrameType, tensors: Any) -> Probe:
        context = self.context
        roots, site, token = _as_tensors(tensors), context.sites.here(frame), _token(frame)
        graph = walk(roots)
        if call == "backward":
            self._shapes.note(token, graph)
            self._notice_clearing_by_hand(graph.leaves)
        if context.manual_loops.comes_round(site, bool(context.optimizers.alive())):
            context.emit(Turn())
        states = [grad_state(leaf) for leaf in graph.leaves] if call == "backward" else []
        operations = context.operations  # a turn may have changed that
        shapes: list[Root] = []
        clues: tuple[tuple[str, Any], ...] = ()
        for root in roots:
            nid = operations.values.number(root) if operations is not None else 0
            shapes.append(Root(nid, tuple(root.shape), root.requires_grad))
        if operations is not None:
            clues = backward_diagnosis.before_backward(context, roots, token)
        loss = value_of(roots[0]) if roots else 0.0
        if not math.isfinite(loss):
            clues += backward_diagnosis.spoiled(context, graph.leaves)
        return Probe(token, site, roots, tuple(shapes), graph, states, clues, loss)

    def _after(self, call: str, probe: Probe, args: Any, kwargs: Any, error: BaseException | None) -> None:
        context, leaves = self.context, probe.graph.leaves
        pids = context.leaves.pids(leaves)
        fed: tuple[int, ...] = ()
        if call == "backward":
            fed = tuple(
                [
                    pid
                    for pid, leaf, before in zip(pids, leaves, probe.states, strict=True)
                    if grad_state(leaf) != before
                ]
            )
        clues = probe.clues
        if context.watcher is not None:
            context.watcher.remove()
        if error is not None:
            clues += self._asked(call, args, kwargs)
            clues += backward_diagnosis.after_failure(context, probe.roots, probe.token, error)
        elif context.watcher is not None and call == "backward":
            chosen = set(fed)
            written = [leaf for pid, leaf in zip(pids, leaves, strict=True) if pid in chosen]
            clues += backward_diagnosis.after_backward(context, context.watcher, written)
        context.watcher = None
        first = 1 if call == "backward" else 2  # grad() takes `inputs` before the rest
        retain = _argument(args, kwargs, first, "retain_graph")
        create = _argument(args, kwargs, first + 1, "create_graph")
        context.magnitudes.losses[probe.site] = context.charts.losses[probe.site] = probe.loss
        self._sites[probe.token] = probe.site
        context.holding.update(fed)
        context.fresh.update(fed)
        context.ever_fed.update(fed)
        context.emit(
            Backward(
                context.next_backward(),
                probe.site,
                call,
                probe.shapes,
                pids,
                fed,
                bool(retain),
                bool(create),
                "" if error is None else f"{type(error).__name__}: {error}",
                len(probe.graph.nodes),
                clues,
                probe.loss,
            )
        )

    def _asked(self, call: str, args: Any, kwargs: Any) -> tuple[tuple[str, Any], ...]:
        """The parameters that `autograd.grad` was to differentiate by."""
        if call != "grad":
            return ()
        inputs = _as_tensors(_argument(args, kwargs, 0, "inputs"))
        return (("asked", self.context.leaves.pids(t for t in inputs if t.is_leaf)),)

    def _notice_clearing_by_hand(self, leaves: list[torch.Tensor]) -> None:
        """`p.grad = None` and `p.grad.zero_()` pass no tap: see their effect before it is overwritten."""
        context = self.context
        cleared = []
        for leaf in leaves:
            grad = leaf.grad
            pid = context.leaves.find(leaf)
            if pid is None or pid not in context.holding:
                continue
            if grad is None or (pid in context.spent and not bool(grad.any())):
                cleared.append(pid)
        if cleared:
            context.cleared(cleared)
            context.emit(ZeroGrad(context.clearing_site(), "hand", tuple(cleared)))


def _token(frame: FrameType) -> int:
    """A number for the call that is running: the same in every mode."""
    return id(frame.f_code) * 31 + frame.f_lasti


def _as_tensors(tensors: Any) -> tuple[torch.Tensor, ...]:
    if isinstance(tensors, torch.Tensor):
        return (tensors,)
    if isinstance(tensors, Sequence):
        return tuple(t for t in tensors if isinstance(t, torch.Tensor))
    return tuple(t for t in getattr(tensors, "roots", ()) if isinstance(t, torch.Tensor))


def _is_meta(tensors: Any) -> bool:
    return any(t.is_meta for t in _as_tensors(tensors))


def value_of(loss: Any) -> float:
    """The value of a loss that has just one."""
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or loss.is_meta:
        return 0.0
    value = loss.item()
    return abs(value) if isinstance(value, complex) else float(value)


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], index: int, name: str) -> Any:
    return args[index] if len(args) > index else kwargs.get(name)
