"""Which of the verdicts about one event are worth reporting. It knows rules by their codes and nothing else of them,
so that neither their order nor what the user selects can change a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from gradsan.record.events import ParamId

if TYPE_CHECKING:
    from gradsan.rules.base import Rule, Verdict

R = TypeVar("R", bound="Rule")


def arbitrate(verdicts: Iterable[tuple[R, Verdict]], explained: set[ParamId]) -> Iterator[tuple[R, Verdict]]:
    """Those that hold, in the order of their codes; what they explain is added to `explained`."""
    now: set[ParamId] = set()
    for rule, verdict in sorted(verdicts, key=lambda pair: pair[0].code):
        about = set(verdict.unless_explained)
        if about and about <= now:
            continue
        now.update(verdict.explains)
        yield rule, verdict
    explained |= now
