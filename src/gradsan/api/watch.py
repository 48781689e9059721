"""`gradsan.watch`: the sanitizer around a piece of code, as a context manager and as a decorator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

from gradsan import settings
from gradsan.api.watch_context import Unwatched, Wanted, WatchContext, own_fault
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.baseline_file import BaselineError
from gradsan.judge.report.findings import Finding
from gradsan.judge.report.selection import UnknownRule, select
from gradsan.rules.base import Rule
from gradsan.runner.packages import UnknownPackage, check_packages

P = ParamSpec("P")
R = TypeVar("R")
Codes = str | Iterable[str]
Mode = Literal["adaptive", "deep", "light"]
Severity = Literal["error", "warning", "info"]


class WatchOptions(TypedDict, total=False):
    """The arguments of `watch` beside the mode, for whoever passes them on."""

    select: Codes
    ignore: Codes
    on_finding: Callable[[Finding], None] | None
    raise_on: Severity | None
    include: Codes
    trace: str | Path | None
    baseline: str | Path | None


@overload
def watch(mode: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def watch(mode: Mode | None = None, **options: Unpack[WatchOptions]) -> WatchContext: ...
def watch(
    mode: Any = None,
    *,
    select: Codes = (),
    ignore: Codes = (),
    on_finding: Callable[[Finding], None] | None = None,
    raise_on: Severity | None = None,
    include: Codes = (),
    trace: str | Path | None = None,
    baseline: str | Path | None = None,
) -> Any:
    """Watch everything that autograd and the optimizers do inside the block.

        with gradsan.watch() as report:
            train()
        report.findings

    `mode`: "adaptive" (deep while something is new), "deep" or "light". `select`, `ignore`: rule codes,
    names, or the beginning of codes. `on_finding` is called with every finding the moment it is made;
    what it raises is raised on the training's own line. `raise_on="error"` raises `GradientError` on the
    line where the first such finding is made. `include`: installed packages that count as your own code.
    `trace`: a file for `gradsan report`. `baseline`: a file of findings that are known and left out
    (`gradsan run --write-baseline`). What is not given is taken from `[tool.gradsan]` in the nearest
    pyproject.toml: mode, select, ignore, include and baseline.

    Inside another watch, or under `gradsan run`, it joins the one that is running: the outer one's mode
    and rules apply, the report holds what happened inside.
    """
    if callable(mode):
        return watch()(mode)
    lists = {"select": select, "ignore": ignore, "include": include}
    try:
        return WatchContext(_wanted(mode, lists, on_finding, raise_on, trace, baseline))
    except WrongArgument:
        raise
    except Exception as error:
        return Unwatched(own_fault(error))


class WrongArgument(ValueError):
    """What the user has given cannot be; whatever else is raised is a fault of ours."""


def _wanted(
    mode: Any, lists: dict[str, Codes], on_finding: Callable[[Finding], None] | None, raise_on: Severity | None,
    trace: str | Path | None, baseline: str | Path | None,
) -> Wanted:  # fmt: skip
    defaults = _defaults()
    mode = defaults.get("mode", "adaptive") if mode is None else mode
    if mode not in ("adaptive", "deep", "light"):
        raise WrongArgument(f"mode must be 'adaptive', 'deep' or 'light', not {mode!r}")
    if raise_on not in (None, "error", "warning", "info"):
        raise WrongArgument(f"raise_on must be None, 'error', 'warning' or 'info', not {raise_on!r}")
    if trace is not None and not isinstance(trace, str | os.PathLike):
        raise WrongArgument(f"trace must be the path of a file, not {trace!r}")
    asked = {key: words(value) or defaults.get(key, ()) for key, value in lists.items()}
    rules = chosen(asked["select"], asked["ignore"])
    path = Path(trace) if trace is not None else None
    known = read_baseline(defaults.get("baseline") if baseline is None else baseline)
    return Wanted(mode, rules, on_finding, raise_on, packages(asked["include"]), path, known)


def _defaults() -> Mapping[str, Any]:
    try:
        return settings.current().values
    except settings.SettingsError as error:
        raise WrongArgument(str(error)) from None


def words(given: Codes) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        raise WrongArgument(f"give names, or a list of names, not {given!r}")
    return (given,) if isinstance(given, str) else tuple(given)


def read_baseline(path: str | Path | None) -> Baseline | None:
    try:
        return None if path is None else Baseline.read(os.fspath(path))
    except BaselineError as error:
        raise WrongArgument(str(error)) from None


def packages(given: Codes) -> tuple[str, ...]:
    try:
        check_packages(words(given))
    except UnknownPackage as error:
        raise WrongArgument(f"include: {error}") from None
    return words(given)


def chosen(selected: Codes, ignored: Codes) -> list[type[Rule]]:
    try:
        return select(words(selected), words(ignored))
    except UnknownRule as error:
        raise WrongArgument(str(error)) from None
