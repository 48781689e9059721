"""Taps on optimizers: creation, parameter groups, `step`, `zero_grad`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch.optim import optimizer as optim

from gradsan.observe.context import Context
from gradsan.observe.patches import Patches
from gradsan.observe.registry import GradState, grad_state
from gradsan.record.events import OptimizerSeen, ParamFlag, Step, StepDone, ZeroGrad

CLEAR, STEP = 1, 2  # what happens to the object whose id they are added to
NOTHING: Any = slice  # takes the three arguments of a hook, makes nothing of them, and is no Python function


class OptimizerTap:
    """Sees what each optimizer owns, what it is about to consume, and what is cleared."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._hooks: list[Any] = []
        self._step_site = 0
        self._sampling = False
        self._charting: list[torch.Tensor] = []  # what the step that is running is drawn by
        self._charted_at = 0
        self._after_step: dict[int, GradState] = {}
        self._frozen: set[int] = set()
        self._zeros: dict[int, GradState] = {}

    def install(self, patches: Patches) -> None:
        self._patch_creation(patches)
        self._patch_clearing(patches)
        self._hook_steps()

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    # -- creation ---------------------------------------------------------------------------------

    def _patch_creation(self, patches: Patches) -> None:
        contain = self.context.contain
        add = torch.optim.Optimizer.add_param_group

        @functools.wraps(add)
        def add_param_group(opt: Any, param_group: Any) -> None:
            add(opt, param_group)
            contain("optimizer", self._added, opt, sys._getframe(1))

        patches.set(torch.optim.Optimizer, "add_param_group", add_param_group)

    def _added(self, opt: torch.optim.Optimizer, frame: FrameType) -> None:
        context = self.context
        known = context.optimizers.oid(opt)
        params = opt.param_groups[-1]["params"]
        pids = context.leaves.pids(params)
        if context.operations is not None:  # whatever it was computed from: from here on it is a parameter
            for param in params:
                context.operations.values.forget(param)
        frozen = tuple(pid for pid, p in zip(pids, params, strict=True) if not p.requires_grad)
        in_constructor = _is_constructor(frame)
        added = known is not None and not in_constructor
        site, kind = context.sites.here(frame), type(opt).__name__
        oid = context.optimizers.add(opt, (kind, pids, site))
        seen = OptimizerSeen(oid, kind, pids, site, added, frozen)
        if not context.optimizers.is_told_already(oid, len(opt.param_groups), seen):
            context.emit(seen)

    def ensure_known(self, opt: torch.optim.Optimizer, frame: FrameType) -> int:
        """An optimizer that was made before the session began is met at its first step."""
        context = self.context
        oid = context.optimizers.oid(opt)
        if oid is None:
            oid = context.optimizers.add(opt)
            pids = context.leaves.pids(context.optimizers.params(opt))
            context.emit(OptimizerSeen(oid, type(opt).__name__, pids, 0))
        return oid

    # -- step -------------------------------------------------------------------------------------

    def _hook_steps(self) -> None:
        fast_path, charts = self.context.fast_path, self.context.charts
        in_passing = False  # the step that is running

        def before(opt: Any, args: Any, kwargs: Any) -> None:
            nonlocal in_passing
            node = fast_path.node.get(id(opt) + STEP) if fast_path.on else None
            in_passing = node is not None
            if node is None:
                self._pre_step(opt, _has_closure(args, kwargs), sys._getframe(1))
                return
            fast_path.node = node
            if charts.on:
                self.context.contain("charts", self._before_charted, opt, fast_path.skipped)
            if node is fast_path.root:
                fast_path.skipped += 1
                if fast_path.skipped >= fast_path.due:
                    self._after_steps(after)

        def after(opt: Any, args: Any, kwargs: Any) -> None:
            if not in_passing:
                self.context.contain("step", self._stepped, opt)
                return
            if self._charting:
                self.context.contain("charts", self._after_charted, opt)
            if fast_path.skipped >= fast_path.due:
                fast_path.on_due()

        self._hooks = [
            optim.register_optimizer_step_pre_hook(before),
            optim.register_optimizer_step_post_hook(after),
        ]
        fast_path.on_begin.append(lambda: self._after_steps(after if charts.on else NOTHING))
        fast_path.on_end.append(lambda: self._after_steps(after))

    def _after_steps(self, hook: Callable[..., Any]) -> None:
        """Another function in the same place: PyTorch may be walking through its hooks right now."""
        hooks = self._hooks[1].hooks_dict_ref()
        if hooks is not None:
            hooks[self._hooks[1].id] = hook

    def _pre_step(self, opt: Any, closure: bool, frame: FrameType) -> None:
        self.context.fast_path.end()
        self.context.fast_path.note(id(opt) + STEP)
        try:
            self.context.contain("step", self._stepping, opt, frame, closure)
        except BaseException:  # `raise_on`: the step will not run, so nobody else ends the pause
            if self.context.operations is not None and not closure:
                self.context.operations.resume()
            raise

    def _stepping(self, opt: torch.optim.Optimizer, frame: FrameType, closure: bool) -> None:
        context = self.context
        if context.operations is not None:
            context.operations.recover()
        oid = self.ensure_known(opt, frame)
        held, by_hand, holding = [], [], context.holding
        for param in context.optimizers.params(opt):
            pid = context.leaves.pid(param)
            if param.grad is not None:
                held.append(pid)
                untouched = self._zeros.get(pid) == grad_state(param)
                if (pid not in holding and not untouched) or self._rewritten_by_hand(pid, param):
                    by_hand.append(pid)
            if not param.requires_grad and pid not in self._frozen:
                self._frozen.add(pid)
                context.emit(ParamFlag(pid, False, 0))
        site = self._step_site = context.sites.here(frame)
        lent = self._lenders(by_hand, held) if by_hand else ()
        context.emit(Step(oid, site, tuple(held), tuple(by_hand), lent))
        context.holding.update(by_hand)
        context.spent.update(held)
        context.spent.update(lent)
        context.fresh.difference_update(held)
        self._sampling = bool(held) and context.magnitudes.is_due(oid, context.iteration)
        if self._sampling:
            context.magnitudes.before_step([p for p in context.optimizers.params(opt) if p.grad is not None])
        elif context.charts.on:
            self._before_charted(opt)
        if context.operations is not None and not closure:
            context.operations.pause()

    def _stepped(self, opt: torch.optim.Optimizer) -> None:
        context = self.context
        oid = context.optimizers.oid(opt) or 0
        if context.operations is not None:
            context.operations.resume()
            context.operations.note_step(opt, self._step_site)
        if self._sampling:
            self._sampling = False
            held = [p for p in context.optimizers.params(opt) if p.grad is not None]
            context.emit(context.magnitudes.after_step(oid, held, context.iteration))
            context.charts.losses.clear()
        elif self._charting:
            self._after_charted(opt)
        for param in context.optimizers.params(opt):
            if param.grad is not None:
                self._after_step[context.leaves.pid(param)] = grad_state(param)
        context.optimizers.has_stepped(opt)
        context.manual_loops.stepped()
        context.emit(StepDone(oid))

    def _before_charted(self, opt: torch.optim.Optimizer, skipped: int = 0) -> None:
        context, oid = self.context, self.context.optimizers.oid(opt)
        at = context.iteration + skipped
        if oid is not None and context.charts.is_due(oid, at):
            self._charted_at = at
            self._charting = [p for p in context.optimizers.params(opt) if p.grad is not None]
            context.charts.before_step(self._charting)

    def _after_charted(self, opt: torch.optim.Optimizer) -> None:
        params, self._charting = self._charting, []
        oid = self.context.optimizers.oid(opt) or 0
        self.context.emit(self.context.charts.after_step(oid, params, self._charted_at))

    def _lenders(self, by_hand: list[int], held: list[int]) -> tuple[int, ...]:
        """Parameters whose very `.grad` was handed to one of these, as A3C's workers do: the step consumes theirs."""
        leaves = self.context.leaves
        given = {id(leaf.grad) for pid in by_hand if (leaf := leaves.tensor(pid)) is not None}
        others = ((pid, leaves.tensor(pid)) for pid in sorted(self.context.holding.difference(held)))
        return tuple(
            pid
            for pid, leaf in others
            if leaf is not None and leaf.grad is not None and id(leaf.grad) in given
        )

    def _rewritten_by_hand(self, pid: int, param: torch.Tensor) -> bool:
        """A consumed gradient that no backward fed and no tap cleared, and yet it is another one."""
        context = self.context
        if pid in context.fresh or pid not in context.spent or grad_state(param) == self._after_step.get(pid):
            return False
        context.cleared((pid,))
        context.emit(ZeroGrad(context.clearing_site(), "hand", (pid,)))
        return True

    # -- zero_grad --------------------------------------------------------------------------------

    def _patch_clearing(self, patches: Patches) -> None:
        contain = self.context.contain
        fast_path = self.context.fast_path
        by_optimizer, by_module = torch.optim.Optimizer.zero_grad, torch.nn.Module.zero_grad
        inner = getattr(by_optimizer, "__wrapped__", by_optimizer)

        @functools.wraps(by_optimizer)
        def optimizer_zero_grad(opt: Any, *args: Any, **kwargs: Any) -> None:
            if fast_path.on and (node := fast_path.node.get(id(opt) + CLEAR)) is not None:
                fast_path.node = node
                # What PyTorch's own outermost wrapper does from its second call on: ours takes its place.
                getattr(inner, "__dynamo_disable", by_optimizer)(opt, *args, **kwargs)
                return
            fast_path.end()
            fast_path.note(id(opt) + CLEAR)
            params = self.context.optimizers.params(opt)
            contain("zero_grad", self._clearing, params, "optimizer", sys._getframe(1))
            with self.context.paused():
                by_optimizer(opt, *args, **kwargs)
            contain("zero_grad", self._left_as_zeros, params)

        @functools.wraps(by_module)
        def module_zero_grad(module: Any, *args: Any, **kwargs: Any) -> None:
            token = id(module) + CLEAR
            if fast_path.on and (node := fast_path.node.get(token)) is not None:
                fast_path.node = node
                by_module(module, *args, **kwargs)
                return
            fast_path.end()
            fast_path.note(token)
            contain("zero_grad", self._clearing, module.parameters(), "module", sys._getframe(1))
            with self.context.paused():
                by_module(module, *args, **kwargs)

        patches.set(torch.optim.Optimizer, "zero_grad", optimizer_zero_grad)
        patches.set(torch.nn.Module, "zero_grad", module_zero_grad)

    def _clearing(self, params: Iterable[torch.Tensor], by: str, frame: FrameType) -> None:
        context = self.context
        pids = context.leaves.pids(params)
        unspent = [pid for pid in pids if pid in context.holding and pid not in context.spent]
        finite = not unspent or self._are_finite(unspent)
        context.cleared(pids)
        context.emit(ZeroGrad(context.sites.here(frame), by, pids, finite))

    def _left_as_zeros(self, params: Iterable[torch.Tensor]) -> None:
        """`set_to_none=False` leaves tensors of zeros: there is a gradient, and nobody has put it there."""
        for param in params:
            if param.grad is not None:
                self._zeros[self.context.leaves.pid(param)] = grad_state(param)

    def _are_finite(self, pids: list[int]) -> bool:
        """A skipped step (a loss scaler met an overflow) also clears unused gradient, and is right."""
        grads = [t.grad for pid in pids if (t := self.context.leaves.tensor(pid)) is not None]
        return all(bool(torch.isfinite(g).all()) for g in grads if g is not None and not g.is_sparse)


def _is_constructor(frame: FrameType | None) -> bool:
    """Whether the optimizer's own `__init__` is running (it adds its groups one by one)."""
    while frame is not None and "torch" in frame.f_code.co_filename:
        if frame.f_code.co_name == "__init__":
            return True
        frame = frame.f_back
    return False


def _has_closure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return (len(args) > 1 and args[1] is not None) or kwargs.get("closure") is not None
