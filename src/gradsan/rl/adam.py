"""Adam (Kingma and Ba 2015) with one kernel for all parameters, for networks so small that the way to the kernel
costs more than the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks


class Slots(NamedTuple):
    """What one parameter group has beside its parameters, in their order."""

    first: list[Tensor]
    second: list[Tensor]
    steps: list[Tensor]
    counters: list[Tensor]
    """The tensors that `steps` consists of: a single one where all parameters have stepped equally often."""


class FusedAdam(torch.optim.Adam):
    """The results of `torch.optim.Adam(fused=True)`, bit for bit. That one gathers its state anew at each step and
    counts the steps of each parameter; here that is done once, for as long as every parameter has gradient. And marks
    for the profiler, which cost PyTorch's own about as much as the step itself, are left out."""

    def __init__(self, parameters: Iterable[Tensor], learning_rate: float, eps: float = 1e-8) -> None:
        super().__init__(parameters, lr=learning_rate, eps=eps, fused=True)
        self._slots: dict[int, Slots] = {}

    def zero_grad(self, set_to_none: bool = True) -> None:
        if not set_to_none:
            super().zero_grad(set_to_none=False)
            return
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        if closure is not None:
            raise ValueError("FusedAdam takes no closure: call backward first, then step.")
        for hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            hook(self, (self,), {})
        self._step()
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
            hook(self, (self,), {})

    # So PyTorch knows that it need not wrap this one, to call the hooks.
    step.hooked = True  # type: ignore[attr-defined]

    @torch.no_grad()
    def _step(self) -> None:
        for index, group in enumerate(self.param_groups):
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if len(parameters) < len(group["params"]):
                self._slots.pop(index, None)
                self._update(group, parameters, self._gather(parameters))
            else:
                if index not in self._slots:
                    self._slots[index] = self._gather_together(parameters)
                self._update(group, parameters, self._slots[index])

    def _gather(self, parameters: list[Tensor]) -> Slots:
        for parameter in parameters:
            state = self.state[parameter]
            if state:
                state["step"] = state["step"].clone()  # it may have counted for several
            else:
                state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
        states = [self.state[parameter] for parameter in parameters]
        first, second, steps = (
            [state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step")
        )
        return Slots(first, second, steps, steps)

    def _gather_together(self, parameters: list[Tensor]) -> Slots:
        slots = self._gather(parameters)
        one = slots.steps[0]
        if any(not torch.equal(one, other) for other in slots.steps):
            return slots
        for parameter in parameters:
            self.state[parameter]["step"] = one
        return slots._replace(steps=[one] * len(parameters), counters=[one])

    def _update(self, group: dict[str, Any], parameters: list[Tensor], slots: Slots) -> None:
        if not parameters:
            return
        first_rate, second_rate = group["betas"]
        torch._foreach_add_(slots.counters, 1)
        torch._fused_adam_(
            parameters, [p.grad for p in parameters if p.grad is not None], slots.first, slots.second, [], slots.steps,
            lr=group["lr"], beta1=first_rate, beta2=second_rate, eps=group["eps"],
            weight_decay=0.0, amsgrad=False, maximize=False,
        )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """With a count of its own for each parameter, as PyTorch's Adam expects it."""
        for index in self._slots:
            self._gather(self.param_groups[index]["params"])
        self._slots.clear()
        return super().state_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._slots = {}
