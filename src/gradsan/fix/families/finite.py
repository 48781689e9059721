"""Operations whose derivative is infinite at the edge: kept away from it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, method, with_method

SMALL = "1e-8"
INSIDE = {"sqrt": f"clamp_min({SMALL})", "log": f"clamp_min({SMALL})", "atanh": "clamp(-1 + 1e-6, 1 - 1e-6)"}


def away_from_the_edge(case: Case) -> Iterator[Proposal]:
    statement = case.culprit
    for call in case.source.inside(statement, cst.Call) if statement is not None else ():
        guard = INSIDE.get(method(call))
        if guard is None or not isinstance(call.func, cst.Attribute):
            continue
        value = call.args[0].value if call.args else call.func.value
        code = with_method(case.source, value, guard)
        yield Proposal(case.change().replace(value, code), f"keep `{method(call)}` away from its edge")
