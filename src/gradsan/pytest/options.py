"""What a test, its marks and pytest's command line ask the sanitizer for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from gradsan.pytest import locks
from gradsan.pytest.defaults import LISTS, MODES, SEVERITIES, defaults_of

MARK = (
    "gradsan(fail_on='error', select=(), ignore=(), mode='deep', include=()): run this test under the gradient "
    "sanitizer; fail_on: 'error', 'warning', 'info' or 'never'; mode: 'off' takes it out of --gradsan"
)


@dataclass
class Wish:
    """What a test, its marks and the command line ask for, together."""

    mode: str
    fail_on: str
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    is_judged_by_test: bool = False


def wish_of(item: pytest.Item) -> Wish | None:
    config = item.config
    given = _marked(item)
    asks_for_report = "gradsan_report" in getattr(item, "fixturenames", ())
    everything = config.getoption("--gradsan") or config.getini("gradsan") or any(locks.wanted(config))
    if not (everything or given is not None or asks_for_report):
        return None
    defaults = defaults_of(config)
    wish = Wish(defaults.mode, "never" if asks_for_report else defaults.fail_on)
    wish.is_judged_by_test = asks_for_report
    for key, value in (given or {}).items():
        setattr(wish, key, value)
    wish.select = wish.select or defaults.select
    wish.ignore += defaults.ignore
    wish.include += defaults.include
    if wish.mode == "off" and asks_for_report:
        raise pytest.UsageError(f"{item.nodeid}: gradsan_report needs a watch, and the mark says mode='off'")
    return None if wish.mode == "off" else wish


def _marked(item: pytest.Item) -> dict[str, Any] | None:
    """The keywords of all gradsan marks: those nearest the test win, lists of rules add up."""
    marks = list(item.iter_markers("gradsan"))
    if not marks:
        return None
    found: dict[str, Any] = {}
    for mark in reversed(marks):
        _check(item, mark)
        for key, value in mark.kwargs.items():
            several = key in LISTS
            found[key] = (*found.get(key, ()), *_words(value)) if several else value
    return found


def _check(item: pytest.Item, mark: pytest.Mark) -> None:
    allowed = {"mode": MODES, "fail_on": SEVERITIES}
    unknown = [key for key in mark.kwargs if key not in ("mode", "fail_on", *LISTS)]
    if mark.args or unknown:
        what = f"no {unknown[0]!r}" if unknown else "no positional arguments"
        raise pytest.UsageError(f"{item.nodeid}: the gradsan mark takes {what}; it is {MARK.split(':')[0]}")
    for key, values in allowed.items():
        if key in mark.kwargs and mark.kwargs[key] not in values:
            raise pytest.UsageError(f"{item.nodeid}: {key} must be one of {', '.join(values)}")


def _words(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
