"""What an operator is, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradsan_benchmark.edits import Change, Source

Finder = Callable[[Source], Iterator[Change]]
OPERATORS: dict[str, Operator] = {}


@dataclass(frozen=True)
class Operator:
    """A mistake that people make, as a change of syntax."""

    name: str
    family: str
    what: str
    codes: tuple[str, ...]
    find: Finder
    excluded: str = ""
    """Why no tool could call the difference wrong; such an operator makes no cases."""
    leaves: str = ""
    """Where it changes nothing, because the difference would be a legal choice there."""
    guard: bool = False
    """What it takes away acts only now and then: where it did not, the mutant is latent, not equivalent."""

    def places(self, source: Source) -> list[Change]:
        """Where this operator could change something, in the order of the file."""
        found = {change.place: change for change in self.find(source)}
        return [found[place] for place in sorted(found)]

    def changes(self, source: Source) -> list[tuple[Change, str]]:
        """Every change that it can make, with the changed text."""
        made = ((change, source.apply(change)) for change in self.places(source))
        return [(change, text) for change, text in made if text is not None]


def operator(
    name: str, family: str, codes: str, excluded: str = "", guard: bool = False, leaves: str = ""
) -> Callable[[Finder], Finder]:
    """Registers a finder; its docstring says what the mistake is."""

    def register(find: Finder) -> Finder:
        what = " ".join((find.__doc__ or "").split())
        assert name not in OPERATORS, name
        OPERATORS[name] = Operator(name, family, what, tuple(codes.split()), find, excluded, leaves, guard)
        return find

    return register
