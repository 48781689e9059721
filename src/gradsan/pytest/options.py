"""What a test, its marks and pytest's command line ask the sanitizer for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

SEVERITIES = ("error", "warning", "info", "never")
MODES = ("adaptive", "deep", "light", "off")
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


def wish_of(item: pytest.Item) -> Wish | None:
    config = item.config
    given = _marked(item)
    asks_for_report = "gradsan_report" in getattr(item, "fixturenames", ())
    if not (config.getoption("--gradsan") or given is not None or asks_for_report):
        return None
    fail_on = "never" if asks_for_report else config.getoption("--gradsan-fail-on")
    wish = Wish(config.getoption("--gradsan-mode"), fail_on)
    for key, value in (given or {}).items():
        setattr(wish, key, value)
    wish.ignore += tuple(config.getoption("--gradsan-ignore"))
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
            several = key in ("select", "ignore", "include")
            found[key] = (*found.get(key, ()), *_words(value)) if several else value
    return found


def _check(item: pytest.Item, mark: pytest.Mark) -> None:
    allowed = {"mode": MODES, "fail_on": SEVERITIES}
    unknown = [key for key in mark.kwargs if key not in Wish.__dataclass_fields__]
    if mark.args or unknown:
        what = f"no {unknown[0]!r}" if unknown else "no positional arguments"
        raise pytest.UsageError(f"{item.nodeid}: the gradsan mark takes {what}; it is {MARK.split(':')[0]}")
    for key, values in allowed.items():
        if key in mark.kwargs and mark.kwargs[key] not in values:
            raise pytest.UsageError(f"{item.nodeid}: {key} must be one of {', '.join(values)}")


def _words(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
