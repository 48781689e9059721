"""Answers that are learned one by one: what several looks at one line say together."""

from __future__ import annotations

from gradsan.record.events import DrawnPlaces, Site

SUMMED = ("rows", "own", "before", "between", "behind", "without_first", "ended", "without_last")
EITHER = ("rises", "falls", "others_rise", "others_fall", "cut")


class PooledDraws:
    """Looks are put together until they say enough, and then begin anew."""

    def __init__(self, rows: int, own: int) -> None:
        self._rows, self._own = rows, own
        self._so_far: dict[Site, DrawnPlaces] = {}

    def enough(self, site: Site, found: DrawnPlaces) -> DrawnPlaces | None:
        known = self._so_far.pop(site, None)
        pooled = found if known is None else together(known, found)
        if pooled.rows >= self._rows and pooled.own >= self._own and pooled.rises and pooled.falls:
            return pooled
        self._so_far[site] = pooled
        return None


def together(one: DrawnPlaces, other: DrawnPlaces) -> DrawnPlaces:
    """The values are those of the newer one."""
    sums = {name: getattr(one, name) + getattr(other, name) for name in SUMMED}
    either = {name: getattr(one, name) or getattr(other, name) for name in EITHER}
    column = max(one.column, other.column)
    return other._replace(**sums, **either, apart=_apart(one, other), column=column)


def _apart(one: DrawnPlaces, other: DrawnPlaces) -> tuple[float, ...]:
    if not one.apart or not other.apart:
        return one.apart or other.apart
    (low, high, mean), (lower, higher, more) = one.apart, other.apart
    whole = one.own + other.own
    average = (mean * one.own + more * other.own) / whole if whole else 0.0
    return min(low, lower), max(high, higher), average
