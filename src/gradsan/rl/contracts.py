"""What each loss of an agent promises: which networks its gradient reaches, and which it avoids.

The promise is read off the graph (`grad_fn.next_functions`), before backward, so that a broken one is named
before it has trained anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from torch import Tensor, nn

from gradsan.rl.errors import ContractError

Subject = nn.Module | Tensor


@dataclass(frozen=True)
class Contract:
    """`Contract("critic", reaches={"critic": q}, avoids={"target": target_q})`."""

    loss: str
    reaches: Mapping[str, Subject]
    avoids: Mapping[str, Subject] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.loss} loss reaches {' and '.join(self.reaches)}"
        return text + (f", avoids {' and '.join(self.avoids)}" if self.avoids else "")

    def check(self, loss: Tensor) -> None:
        leaves = leaves_of(loss)
        for name, parameter in named_parameters(self.reaches):
            if parameter.requires_grad and id(parameter) not in leaves:
                raise ContractError(f"Contract broken ({self}): no gradient path leads to {name}.")
        for name, parameter in named_parameters(self.avoids):
            if id(parameter) in leaves:
                raise ContractError(f"Contract broken ({self}): gradient flows into {name}.")


class Contracts:
    """Checks each loss at its first backward, or at every one where `always` is set (a deep sanitizer)."""

    def __init__(self, *contracts: Contract, always: bool = False) -> None:
        self._contracts = {contract.loss: contract for contract in contracts}
        self._always = always
        self._seen: set[str] = set()

    def check(self, name: str, loss: Tensor) -> None:
        if self._always or name not in self._seen:
            self._contracts[name].check(loss)
            self._seen.add(name)

    def __str__(self) -> str:
        return "; ".join(str(contract) for contract in self._contracts.values())


def named_parameters(subjects: Mapping[str, Subject]) -> Iterable[tuple[str, Tensor]]:
    for name, subject in subjects.items():
        if isinstance(subject, Tensor):
            yield name, subject
        else:
            yield from ((f"{name}.{path}", parameter) for path, parameter in subject.named_parameters())


def leaves_of(loss: Tensor) -> set[int]:
    """Ids of the leaf tensors that backward from `loss` would write to."""
    if loss.grad_fn is None:
        return {id(loss)} if loss.requires_grad else set()
    leaves: set[int] = set()
    seen = {loss.grad_fn}
    stack = [loss.grad_fn]
    while stack:
        node = stack.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            leaves.add(id(variable))
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                stack.append(following)
    return leaves
