"""Whether a repair changed the gradients that it was to change, and no others.

Steps are compared in the order of the repaired run. Once a step has taken another gradient than before, the weights
differ, and with them everything that is computed later: so the first step that differs decides. What the other
optimizers' parameters held at that moment was computed before; it is compared, too, where they take it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradsan.fix.trial import ConsumedStep

Held = Mapping[str, str]
ROUNDING = 1e-5  # a clip multiplies in single precision


@dataclass(frozen=True)
class GradientComparison:
    compared: int = 0  # steps
    update: int = 0  # the first step whose gradients differ, counted from one; 0 where none does
    changed: tuple[str, ...] = ()  # parameters
    turned: tuple[str, ...] = ()  # of those: not only longer or shorter than before


def compare(before: Sequence[ConsumedStep], after: Sequence[ConsumedStep]) -> GradientComparison:
    compared = 0
    for number, (old, new) in enumerate(_paired(before, after)):
        compared += 1
        changed = _differing(old.taken, new.taken)
        if changed:
            later = _computed_already(before, after, old, new)
            names = tuple(sorted({*changed, *later}))
            return GradientComparison(
                compared, number + 1, names, tuple(n for n in names if _is_turned(old, new, n))
            )
    return GradientComparison(compared)


def _paired(
    before: Sequence[ConsumedStep], after: Sequence[ConsumedStep]
) -> Iterator[tuple[ConsumedStep, ConsumedStep]]:
    """Each step of the repaired run with that of the same optimizer, as often, before the repair."""
    waiting: dict[int, list[ConsumedStep]] = {}
    for step in before:
        waiting.setdefault(step.optimizer, []).append(step)
    for step in after:
        left = waiting.get(step.optimizer)
        if not left:
            return  # the program did not get so far before
        yield left.pop(0), step


def _differing(old: Held, new: Held) -> list[str]:
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def _is_turned(old: ConsumedStep, new: ConsumedStep, name: str) -> bool:
    one, other = old.directions.get(name, ()), new.directions.get(name, ())
    if not one or not other:
        return True
    return not all(math.isclose(a, b, abs_tol=ROUNDING) for a, b in zip(one, other, strict=True))


def _computed_already(
    before: Sequence[ConsumedStep], after: Sequence[ConsumedStep], old: ConsumedStep, new: ConsumedStep
) -> list[str]:
    """What other optimizers take later as it was at this step: no weight had changed when it was computed."""
    kept_before, kept_after = _kept(before, old), _kept(after, new)
    both = kept_before.keys() & kept_after.keys()
    return [name for name in both if kept_before[name] != kept_after[name]]


def _kept(steps: Sequence[ConsumedStep], at: ConsumedStep) -> dict[str, str]:
    kept: dict[str, str] = {}
    seen: set[int] = {at.optimizer}
    following = iter(steps)
    for step in following:
        if step is at:
            break
    for step in following:
        if step.optimizer not in seen:
            seen.add(step.optimizer)
            kept.update({n: d for n, d in step.taken.items() if at.waiting.get(n) == d})
    return kept
