"""Adam (Kingma and Ba 2015) with one kernel for all parameters, for networks so small that the way to the kernel
costs more than the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Slots(NamedTuple):
    """What one parameter group has beside its parameters, in their order."""

    first: list[Tensor]
    second: list[Tensor]
    steps: list[Tensor]


class FusedAdam(torch.optim.Adam):
    """The results of `torch.optim.Adam(fused=True)`, bit for bit. That one gathers its state anew at each step;
    here it is gathered once, for as long as every parameter has gradient."""

    def __init__(self, parameters: Iterable[Tensor], learning_rate: float, eps: float = 1e-8) -> None:
        super().__init__(parameters, lr=learning_rate, eps=eps, fused=True)
        self._slots: dict[int, Slots] = {}

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        if closure is not None:
            raise ValueError("FusedAdam takes no closure: call backward first, then step.")
        for index, group in enumerate(self.param_groups):
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if len(parameters) < len(group["params"]):
                self._update(group, parameters, self._gather(parameters))
            else:
                if index not in self._slots:
                    self._slots[index] = self._gather(parameters)
                self._update(group, parameters, self._slots[index])

    def _gather(self, parameters: list[Tensor]) -> Slots:
        for parameter in parameters:
            state = self.state[parameter]
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
        states = [self.state[parameter] for parameter in parameters]
        return Slots(*([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step")))

    def _update(self, group: dict[str, Any], parameters: list[Tensor], slots: Slots) -> None:
        if not parameters:
            return
        first_rate, second_rate = group["betas"]
        torch._foreach_add_(slots.steps, 1)
        torch._fused_adam_(
            parameters, [p.grad for p in parameters if p.grad is not None], slots.first, slots.second, [], slots.steps,
            lr=group["lr"], beta1=first_rate, beta2=second_rate, eps=group["eps"],
            weight_decay=0.0, amsgrad=False, maximize=False,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._slots = {}
