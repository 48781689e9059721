"""`.detach()` on what should have been a constant, or `with torch.no_grad():` around the line that makes it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, only, value_of, with_method


def value(case: Case) -> Iterator[Proposal]:
    """The whole right-hand side of the culprit."""
    statement = case.culprit
    small = only(statement)
    given = value_of(small)
    if (
        statement is None
        or given is None
        or not isinstance(small, cst.Assign | cst.Return)
        or _makes_the_loss(case)
    ):
        return
    if isinstance(given, cst.Tuple):
        return
    yield Proposal(case.change().replace(given, with_method(case.source, given, "detach()")), "detach it")
    yield Proposal(case.change().within(statement, "with torch.no_grad():"), "compute it without gradient")


def _makes_the_loss(case: Case) -> bool:
    """Prediction and target on one line: detached as a whole, nothing would be left to learn from."""
    where = case.finding.culprit
    return any(site.role == "loss" and site.location == where for site in case.finding.sites)
