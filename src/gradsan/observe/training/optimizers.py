"""Taps on optimizers: creation, parameter groups, `step`, `zero_grad`."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterable
from threading import get_ident
from types import FrameType
from typing import Any, Literal

import torch
from torch.optim import optimizer as optim

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FastPath
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.gradient_sketch import GradientSketch
from gradsan.observe.last_resort import attempt, own
from gradsan.observe.ops.values import version_of
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import GradState, Known, grad_state
from gradsan.observe.slots import attributes_of, parameters_of
from gradsan.observe.training.earlier_copies import earlier_copies
from gradsan.observe.training.low_precision import LowPrecision
from gradsan.observe.training.magnitudes import Magnitudes, StepReading, has_dense_gradient
from gradsan.observe.training.ranks import RankTap
from gradsan.observe.training.sharded import is_followed
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import (
    NO_OPTIMIZER,
    NOWHERE,
    Copy,
    OptimizerGone,
    OptimizerId,
    OptimizerSeen,
    ParamFlag,
    ParamId,
    Site,
    Step,
    StepDone,
    Sync,
    ZeroGrad,
)

CLEAR, STEP = 1, 2  # what happens to the object whose id they are added to
NOTHING: Any = slice  # takes the three arguments of a hook, makes nothing of them, and is no Python function


class OptimizerTap:
    """Sees what each optimizer owns, what it is about to consume, and what is cleared."""

    def __init__(
        self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing,
        sketch: GradientSketch, fast_path: FastPath, magnitudes: Magnitudes,
    ) -> None:  # fmt: skip
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves, self._optimizers = known
        self._tracing = tracing
        self._sketch = sketch
        self._fast_path = fast_path
        self._magnitudes = magnitudes
        self._low_precision = LowPrecision(known.leaves)
        self.ranks = RankTap(containment, outlet, known, tracing)
        self._hooks: list[Any] = []
        self._withdrawn: list[tuple[Any, Any]] = []
        self._before: Callable[..., None] = NOTHING  # a step, whoever says that it runs
        self._after: Callable[..., None] = NOTHING
        self._compiled_steps: dict[int, list[weakref.ref[Any]]] = {}  # by the function that was compiled
        self._running: dict[
            tuple[int, int], tuple[Site, StepReading | None]
        ] = {}  # steps, by thread and optimizer
        self._after_step: dict[ParamId, GradState] = {}
        self._frozen: set[ParamId] = set()
        self._zeros: dict[ParamId, GradState] = {}

    @property
    def parts(self) -> Parts:
        return self._patch_creation, self._patch_clearing, self._hook_steps

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    # -- creation ---------------------------------------------------------------------------------

    def _patch_creation(self, patches: Patches) -> None:
        contain, add = self._contain, torch.optim.Optimizer.add_param_group

        @functools.wraps(add)
        def add_param_group(opt: Any, param_group: Any) -> None:
            add(opt, param_group)
            contain("optimizer", self._added, opt, sys._getframe(1))

        patches.set(torch.optim.Optimizer, "add_param_group", add_param_group)

    def _added(self, opt: torch.optim.Optimizer, frame: FrameType) -> None:
        known = self._optimizers.oid(opt)
        params = [p for p in opt.param_groups[-1]["params"] if is_followed(p)]
        pids = self._leaves.pids(params)
        for param in params:  # whatever it was computed from: from here on it is a parameter
            self._tracing.forget(param)
        frozen = tuple(pid for pid, p in zip(pids, params, strict=True) if not p.requires_grad)
        in_constructor = _is_constructor(frame)
        added = known is not None and not in_constructor
        (site, _, chain), kind = self._sites.place(frame), type(opt).__name__
        oid = self._optimizers.add(opt, (kind, pids, site))
        maximize = any(bool(group.get("maximize")) for group in opt.param_groups)
        seen = OptimizerSeen(oid, kind, pids, site, added, frozen, maximize, chain)
        if not self._optimizers.is_told_already(oid, len(opt.param_groups), seen):
            self._emit(seen)

    def ensure_known(self, opt: torch.optim.Optimizer, frame: FrameType) -> OptimizerId:
        """An optimizer that was made before the session began is met at its first step."""
        oid = self._optimizers.oid(opt)
        if oid is None:
            oid = self._optimizers.add(opt)
            pids = self._leaves.pids(self._optimizers.params(opt))
            maximize = any(bool(group.get("maximize")) for group in opt.param_groups)
            self._emit(OptimizerSeen(oid, type(opt).__name__, pids, NOWHERE, maximize=maximize))
            self._contain("earlier copies", self._find_copies, opt, frame)
        return oid

    def _find_copies(self, opt: torch.optim.Optimizer, frame: FrameType) -> None:
        """A target network may be as old as the optimizer."""
        others = [o for o in self._optimizers.alive() if o is not opt]
        elsewhere = [p for other in others for p in self._optimizers.readable(other)]
        pairs = earlier_copies(self._optimizers.readable(opt), elsewhere, frame, self._sites)
        if pairs:
            copies = tuple(Copy(self._leaves.pid(copy), self._leaves.pid(source)) for copy, source in pairs)
            self._emit(Sync(NOWHERE, "found", copies))

    # -- step -------------------------------------------------------------------------------------

    def _hook_steps(self, patches: Patches) -> None:
        contain, fast_path, running = self._contain, self._fast_path, self._running

        # In passing, a call costs more than what it does: hence `FastPath.passes` written out.
        def before(opt: Any, args: Any, kwargs: Any, frame: FrameType | None = None) -> None:
            node = fast_path.node.get(id(opt) + STEP) if fast_path.on else None
            if node is None:
                try:
                    contain("step", self._stepping, opt, frame or sys._getframe(1), args, kwargs)
                except BaseException:
                    # `raise_on`, a timeout: the step will not run, so nobody else ends the pause
                    contain("step", self._tracing.step.give_up)
                    raise
                return
            fast_path.node = node
            if node is fast_path.root:
                fast_path.skipped += 1
                if fast_path.skipped >= fast_path.due:  # the iteration is over when the step is, not before
                    contain("step", self._after_steps, after)

        def after(opt: Any, args: Any, kwargs: Any) -> None:
            if (get_ident(), id(opt)) in running:
                contain("step", self._stepped, opt)
            elif fast_path.skipped >= fast_path.due:
                contain("step", fast_path.on_due)

        self._before, self._after = before, after
        self._hooks = [
            optim.register_optimizer_step_pre_hook(before),
            optim.register_optimizer_step_post_hook(after),
        ]
        fast_path.follow(lambda on: self._after_steps(NOTHING if on else after))

    # -- steps inside compiled regions --------------------------------------------------------------

    def withdraw(self) -> None:
        """A compiler would trace our hooks together with the step."""
        self._withdrawn = [(hook, hook.hooks_dict_ref().pop(hook.id, None)) for hook in self._hooks]

    def come_back(self) -> None:
        for hook, function in self._withdrawn:
            if function is not None:
                hook.hooks_dict_ref()[hook.id] = function
        self._withdrawn = []

    def note_compiled_steps(self, frame: FrameType) -> None:
        """A compiled region has ended: whose weights are not what they were when backward fed them?"""
        region = id(frame.f_locals.get("fn"))
        known = self._compiled_steps.get(region)
        if known is not None and self._fast_path.on:
            stepped = [opt for ref in known if (opt := ref()) is not None]
        else:
            stepped = self._moved()
            if stepped:
                self._compiled_steps[region] = [weakref.ref(opt) for opt in stepped]
        for opt in stepped:
            self._before(opt, (), {}, frame)
            self._after(opt, (), {})

    def _moved(self) -> list[torch.optim.Optimizer]:
        moved: set[int] = set()
        for pid, version in self._sketch.waiting():
            if (leaf := self._leaves.tensor(pid)) is not None and leaf._version != version:
                moved.add(id(leaf))
        if not moved:
            return []
        return [
            o for o in self._optimizers.alive() if any(id(p) in moved for p in self._optimizers.params(o))
        ]

    def _after_steps(self, hook: Callable[..., Any]) -> None:
        """Another function in the same place: PyTorch may be walking through its hooks right now."""
        hooks = self._hooks[1].hooks_dict_ref()
        if hooks is not None:
            hooks[self._hooks[1].id] = hook

    def _stepping(self, opt: torch.optim.Optimizer, frame: FrameType, args: Any, kwargs: Any) -> None:
        self._fast_path.end()
        self._fast_path.note(id(opt) + STEP)
        self._tracing.step.give_up()
        params = self._optimizers.params(opt)
        # Where some answer by code of their own, what they hold changes unseen.
        unseen = not params or not all(map(is_readable, params))
        if unseen and self._tracing.tap is not None:
            self._tracing.tap.writes.forget_contents()
        if not params:
            return
        if _is_skipped(opt):
            return
        oid = self.ensure_known(opt, frame)
        for gone in self._optimizers.newly_gone():
            self._emit(OptimizerGone(gone))
        held, by_hand, replaced, sketch = [], [], [], self._sketch
        for param, pid in zip(params, self._leaves.pids(params), strict=True):
            grad = param.grad
            if grad is not None:
                held.append(pid)
                untouched = self._zeros.get(pid) == (id(grad), grad._version) if self._zeros else False
                if (not sketch.holds(pid) and not untouched) or self._rewritten_by_hand(pid, param):
                    by_hand.append(pid)
                elif sketch.is_another(pid, id(grad)):
                    replaced.append(pid)
            self._note_flag(pid, param)
        place = self._sites.place(frame)
        site, taken = place.site, None
        lent = self._lenders(by_hand, held) if by_hand else ()
        due = bool(held) and self._magnitudes.is_due(oid)
        self.ranks.before_step(oid, opt, self._optimizers.readable(opt), site, self._magnitudes.now(), due)
        self._emit(Step(oid, site, tuple(held), tuple(by_hand), lent, place.chain, tuple(replaced)))
        sketch.consumed(held, by_hand, lent)
        if due:
            taken = self._magnitudes.before_step([p for p in params if has_dense_gradient(p)])
            self._low_precision.before_step(opt)
        self._running[get_ident(), id(opt)] = site, taken
        if self._tracing.tap is not None and not _has_closure(args, kwargs):
            self._tracing.step.begin(opt, frame, site, self._tracing.tap)

    def _note_flag(self, pid: ParamId, param: torch.Tensor) -> None:
        if param.requires_grad is (pid in self._frozen):  # changed since the last look
            (self._frozen.discard if param.requires_grad else self._frozen.add)(pid)
            self._emit(ParamFlag(pid, param.requires_grad, NOWHERE))

    def note_flags(self) -> None:
        """At the end: what was frozen or thawed in passing, by an assignment that nobody sees."""
        for opt in self._optimizers.alive():
            params = self._optimizers.params(opt)
            for pid, param in zip(self._leaves.pids(params), params, strict=True):
                self._note_flag(pid, param)

    def _stepped(self, opt: torch.optim.Optimizer) -> None:
        noted = self._tracing.step.end()
        if (running := self._running.pop((get_ident(), id(opt)), None)) is None:
            return  # it began before we looked, or holds nothing that can be read
        oid, (site, taken) = self._optimizers.oid(opt) or NO_OPTIMIZER, running
        if not noted and self._tracing.tap is not None:
            self._tracing.tap.note_step(opt, site)
        if taken is not None:
            sample = self._magnitudes.after_step(oid, taken)
            self._emit(sample._replace(unmoved=self._low_precision.after_step(opt)))
        for param in self._optimizers.params(opt):
            if param.grad is not None:
                self._after_step[pid := self._leaves.pid(param)] = grad_state(param)
                self._leaves.version_after_step[pid] = version_of(param) if is_readable(param) else 0
        self._optimizers.has_stepped(opt)
        self._sketch.manual_loops.stepped()
        self._emit(StepDone(oid))

    def _lenders(self, by_hand: list[ParamId], held: list[ParamId]) -> tuple[ParamId, ...]:
        """Parameters whose `.grad`, or a copy of it, was handed to one of these, as A3C's workers do: the step consumes
        theirs."""
        given = [leaf.grad for pid in by_hand if (leaf := self._leaves.tensor(pid)) is not None]
        others = ((pid, self._leaves.tensor(pid)) for pid in self._sketch.holders_beside(held))
        return tuple(
            pid
            for pid, leaf in others
            if leaf is not None and leaf.grad is not None and any(_is_the_same(leaf.grad, g) for g in given)
        )

    def notice_rewriting(self, pids: Iterable[ParamId], params: Iterable[torch.Tensor]) -> None:
        """Somebody is about to look at these gradients: are they those that a step has left?"""
        for pid, param in zip(pids, params, strict=True):
            if param.grad is not None:
                self._rewritten_by_hand(pid, param)

    def _rewritten_by_hand(self, pid: ParamId, param: torch.Tensor) -> bool:
        """A consumed gradient that no backward fed and no tap cleared, and yet it is another one."""
        spent = self._sketch.is_spent_and_not_fed_again(pid)
        if not spent or grad_state(param) == self._after_step.get(pid):
            return False
        self._sketch.cleared((pid,))
        self._emit(ZeroGrad(self._tracing.clearing_site(), "hand", (pid,)))
        return True

    # -- zero_grad --------------------------------------------------------------------------------

    def _patch_clearing(self, patches: Patches) -> None:
        contain, fast_path, tracing = self._contain, self._fast_path, self._tracing
        passes, passed_iteration = fast_path.passes, fast_path.passed_iteration
        by_optimizer, by_module = torch.optim.Optimizer.zero_grad, torch.nn.Module.zero_grad
        inner = getattr(by_optimizer, "__wrapped__", by_optimizer)

        @functools.wraps(by_optimizer)
        def optimizer_zero_grad(opt: Any, *args: Any, **kwargs: Any) -> None:
            passing = True
            try:
                node = fast_path.node.get(id(opt) + CLEAR) if fast_path.on else None
                if node is None:
                    passing = passes(id(opt) + CLEAR)
                else:  # `FastPath.passes`, written out
                    fast_path.node = node
                    if node is fast_path.root:
                        passed_iteration()
            except Exception as error:
                own("zero_grad", error)
            if passing:
                # What PyTorch's own outermost wrapper does from its second call on: ours takes its place.
                getattr(inner, "__dynamo_disable", by_optimizer)(opt, *args, **kwargs)
                return
            contain("zero_grad", self._clearing_own, opt, sys._getframe(1))
            resume = attempt("zero_grad", tracing.pause)
            try:
                by_optimizer(opt, *args, **kwargs)
            finally:
                if resume is not None:
                    attempt("zero_grad", resume)
            contain("zero_grad", self._left_as_zeros, opt)

        @functools.wraps(by_module)
        def module_zero_grad(module: Any, *args: Any, **kwargs: Any) -> None:
            try:
                passing = passes(id(module) + CLEAR)
            except Exception as error:
                own("zero_grad", error)
                passing = True
            if passing:
                by_module(module, *args, **kwargs)
                return
            contain("zero_grad", self._clearing_whole, module, sys._getframe(1))
            resume = attempt("zero_grad", tracing.pause)
            try:
                by_module(module, *args, **kwargs)
            finally:
                if resume is not None:
                    attempt("zero_grad", resume)

        patches.set(torch.optim.Optimizer, "zero_grad", optimizer_zero_grad)
        patches.set(torch.nn.Module, "zero_grad", module_zero_grad)

    def _clearing_own(self, opt: torch.optim.Optimizer, frame: FrameType) -> None:
        self._clearing(self._optimizers.params(opt), "optimizer", frame)

    def _clearing_whole(self, module: torch.nn.Module, frame: FrameType) -> None:
        self._clearing(parameters_of(module), "module", frame)

    def _clearing(
        self, params: Iterable[torch.Tensor], by: Literal["optimizer", "module"], frame: FrameType
    ) -> None:
        self._tracing.step.look()
        sketch, pids = self._sketch, self._leaves.pids(filter(is_followed, params))
        unspent = [pid for pid in pids if sketch.holds(pid) and not sketch.is_spent(pid)]
        finite = not unspent or self._are_finite(unspent)
        sketch.cleared(pids)
        place = self._sites.place(frame)
        self._emit(ZeroGrad(place.site, by, pids, finite, place.chain))

    def _left_as_zeros(self, opt: torch.optim.Optimizer) -> None:
        """`set_to_none=False` leaves tensors of zeros: there is a gradient, and nobody has put it there."""
        for param in self._optimizers.params(opt):
            if param.grad is not None:
                self._zeros[self._leaves.pid(param)] = grad_state(param)

    def _are_finite(self, pids: list[ParamId]) -> bool:
        """A skipped step (a loss scaler met an overflow) also clears unused gradient, and is right."""
        grads = [t.grad for pid in pids if (t := self._leaves.tensor(pid)) is not None]
        return all(
            bool(torch.isfinite(g).all()) for g in grads if g is not None and is_readable(g) and is_dense(g)
        )


def _is_skipped(opt: torch.optim.Optimizer) -> bool:
    """A loss scaler met an overflow, and tells a fused kernel to do nothing."""
    found: Any = attributes_of(opt).get("found_inf")
    return type(found) is torch.Tensor and bool(found.any())


def _is_constructor(frame: FrameType | None) -> bool:
    """Whether the optimizer's own `__init__` is running (it adds its groups one by one)."""
    while frame is not None and "torch" in frame.f_code.co_filename:
        if frame.f_code.co_name == "__init__":
            return True
        frame = frame.f_back
    return False


def _has_closure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return (len(args) > 1 and args[1] is not None) or kwargs.get("closure") is not None


def _is_the_same(grad: torch.Tensor, given: torch.Tensor | None) -> bool:
    """One tensor, or a copy of it; zeros are like all zeros."""
    if given is None or grad is given:
        return given is not None
    if grad.shape != given.shape or grad.dtype != given.dtype or not (is_dense(grad) and is_dense(given)):
        return False
    return grad.device == given.device and bool(torch.equal(grad, given)) and bool(grad.any())
