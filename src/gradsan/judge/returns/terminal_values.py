"""Returns that obey their law, and hold more than the reward where an episode was terminated.

What they hold is not what the next episode brings: it is what the critic said of the state that was terminal. Where it
is the same at every end of one update it may be the worth of an absorbing state, or what a normalisation has moved all
returns by; and where all episodes are of one length the end may be the clock's."""

from __future__ import annotations

from typing import NamedTuple

from gradsan.judge.returns.return_laws import Law, ReturnRow, Series

FAR = 10  # tolerances


class Rest(NamedTuple):
    number: float
    length: int  # of the episode


def rests_at_ends(series: Series, law: Law) -> tuple[list[Rest], int]:
    """What the numbers at terminated steps hold beside what their own step brought; and how many hold nothing, or
    something of the next episode."""
    found, others = list[Rest](), 0
    for entry, following in series.borders:
        if entry.transition.end != "terminated" or following.prediction is None:
            continue  # without it, the value of the next start cannot be told from that of the last state
        rest = entry.number - _own(law, entry, following)
        if min(abs(rest - known) for known in (0.0, *_of_the_next(law, following))) <= FAR * series.tolerance:
            others += 1
        else:
            found.append(Rest(rest, entry.transition.length))
    return found, others


def are_values(rests: list[Rest], tolerance: float) -> bool:
    numbers = [rest.number for rest in rests]
    return max(numbers) - min(numbers) > FAR * tolerance and len({rest.length for rest in rests}) > 1


def _own(law: Law, entry: ReturnRow, following: ReturnRow) -> float:
    return law.at(entry, following) - law.next * following.number - law.value * (following.prediction or 0.0)


def _of_the_next(law: Law, following: ReturnRow) -> list[float]:
    """All that the next episode may bring, whichever part of it is masked."""
    value = following.prediction or 0.0
    whole = law.next * following.number + law.value * value
    return [whole, law.next * (following.number - value), (law.next + law.value) * value]
