"""The flow of a program as plain data: networks and losses, each with facts that read as sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gradsan.record.events import NOWHERE, Site

REFERENCE = re.compile(r"`([^`]*)`")
LISTED = re.compile(r"`[^`]*`(?:, `[^`]*`)+")


@dataclass(slots=True)
class Network:
    """Parameters that belong together. How many there are tells renamed ones apart; it is no fact of its own."""

    label: str
    tensors: int = 0
    numbers: int = 0
    facts: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Loss:
    """A loss is known by its function and its expression; facts refer to networks in backticks."""

    file: str
    function: str
    expression: str
    facts: set[str] = field(default_factory=set)
    deep: set[str] = field(default_factory=set)  # facts that only traced iterations can show
    traced: bool = False
    # Not part of the file: what the present source calls it, and where it is.
    name: str = ""
    site: Site = NOWHERE

    @property
    def place(self) -> tuple[str, str]:
        return self.file, self.function


@dataclass(slots=True)
class Flow:
    """Everything that one program's entry of a lock file says, and with which arguments it was run."""

    networks: list[Network] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    arguments: str = ""


def renamed(fact: str, names: dict[str, str]) -> str:
    """The fact with other names for networks; where several are listed, in the order of the new names."""
    other = REFERENCE.sub(lambda found: f"`{names.get(found[1], found[1])}`", fact)
    return LISTED.sub(lambda found: ", ".join(sorted(found[0].split(", "))), other)
