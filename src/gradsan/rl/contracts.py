"""What each loss of an agent promises: which networks its gradient reaches, and which it avoids.

The promise is read off the graph by `gradsan.check`, before backward, so that a broken one is named
before it has trained anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor, nn

import gradsan
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
        trained = [p for p in parameters(self.reaches) if p.requires_grad]
        try:
            gradsan.check(loss, reaches=trained, avoids=parameters(self.avoids))
        except gradsan.GradientContractError as error:
            raise ContractError(f"Contract broken ({self}): {error}") from error


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


def parameters(subjects: Mapping[str, Subject]) -> list[Tensor]:
    return [
        tensor
        for subject in subjects.values()
        for tensor in ([subject] if isinstance(subject, Tensor) else subject.parameters())
    ]
