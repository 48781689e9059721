"""What holds for all tests: pytest's command line before its ini file, before `[tool.gradsan]`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradsan.judge.report.baseline import Baseline

SEVERITIES = ("error", "warning", "info", "never")
MODES = ("adaptive", "deep", "light", "off")
LISTS = ("select", "ignore", "include")
FILES = ("baseline", "lock")
CHOICES = {"mode": MODES[:3], "fail_on": SEVERITIES}


@dataclass
class Defaults:
    mode: str = "deep"
    fail_on: str = "error"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    baseline: str | None = None
    lock: str | None = None


FOUND: pytest.StashKey[Defaults] = pytest.StashKey()
KNOWN: pytest.StashKey[Baseline | None] = pytest.StashKey()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradsan", "gradient sanitizer")
    add = group.addoption
    add("--gradsan", action="store_true", help="Run every test under the gradient sanitizer.")
    add("--gradsan-mode", choices=MODES[:3], help="How closely to look (deep).")
    add("--gradsan-fail-on", choices=SEVERITIES, help="Fail a test on such findings (error).")
    several: dict[str, Any] = {"action": "append", "default": []}
    add("--gradsan-select", **several, metavar="CODES", help="Judge by these rules only.")
    add("--gradsan-ignore", **several, metavar="CODES", help="Judge by all rules but these.")
    add("--gradsan-include", **several, metavar="PACKAGE", help="Count an installed package as your own.")
    add("--gradsan-baseline", metavar="FILE", help="Leave out findings that are in FILE.")
    add("--gradsan-write-baseline", metavar="FILE", help="Write the findings to FILE; they fail no test.")
    add(
        "--gradsan-locked",
        action="store_true",
        help="Fail where the gradient flows otherwise than the lock says.",
    )
    add("--gradsan-write-lock", action="store_true", help="Write down how the gradient flows in each test.")
    add("--gradsan-lock", metavar="FILE", help="The lock file (gradsan.lock in the root directory).")
    add("--gradsan-config", metavar="FILE", help="Take [tool.gradsan] from FILE.")
    add("--gradsan-no-config", action="store_true", help="Take no [tool.gradsan] from anywhere.")
    parser.addini("gradsan", "Run every test under the gradient sanitizer.", type="bool", default=False)
    parser.addini("gradsan_locked", "The default of --gradsan-locked.", type="bool", default=False)
    for name in ("mode", "fail_on", "baseline", "lock"):
        parser.addini(f"gradsan_{name}", f"The default of --gradsan-{name.replace('_', '-')}.", default="")
    for name in LISTS:
        parser.addini(f"gradsan_{name}", f"The default of --gradsan-{name}.", type="args", default=[])


def defaults_of(config: pytest.Config) -> Defaults:
    if FOUND not in config.stash:
        found = Defaults()
        for values in (_of_file(config), _of_ini(config), _of_command_line(config)):
            for key, value in values.items():
                if value and key in Defaults.__dataclass_fields__:
                    setattr(found, key, tuple(value) if key in LISTS else value)
        config.stash[FOUND] = found
    return config.stash[FOUND]


def _of_file(config: pytest.Config) -> dict[str, Any]:
    from gradsan import settings

    named, unwanted = config.getoption("--gradsan-config"), config.getoption("--gradsan-no-config")
    if named and unwanted:
        raise pytest.UsageError("give --gradsan-config or --gradsan-no-config, not both")
    try:
        if unwanted:
            return {}
        found = settings.load(named) if named else settings.nearest(config.invocation_params.dir)
    except settings.SettingsError as error:
        raise pytest.UsageError(str(error).replace("--no-config", "--gradsan-no-config")) from None
    return dict(found.values)


def _of_ini(config: pytest.Config) -> dict[str, Any]:
    values = {key: config.getini(f"gradsan_{key}") for key in Defaults.__dataclass_fields__}
    for key, words in CHOICES.items():
        if values[key] and values[key] not in words:
            given = f"gradsan_{key} = {values[key]}"
            raise pytest.UsageError(f"{config.inipath}: {given}: it must be one of {', '.join(words)}")
    folder = config.inipath.parent if config.inipath is not None else config.rootpath
    for key in FILES:
        if values[key]:
            values[key] = _near(config, folder / values[key])
    return values


def _of_command_line(config: pytest.Config) -> dict[str, Any]:
    keys = Defaults.__dataclass_fields__
    return {key: config.getoption(f"--gradsan-{key.replace('_', '-')}") for key in keys}


def _near(config: pytest.Config, path: Path) -> str:
    """As one would write it where pytest was called."""
    here = config.invocation_params.dir
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def baseline_of(config: pytest.Config) -> Baseline | None:
    """One that is going to be written need not be there yet."""
    if KNOWN not in config.stash:
        from gradsan.judge.report.baseline import Baseline
        from gradsan.judge.report.baseline_file import BaselineError

        path, target = defaults_of(config).baseline, config.getoption("--gradsan-write-baseline")
        is_first = (
            path and target and not Path(path).exists() and Path(path).resolve() == Path(target).resolve()
        )
        try:
            config.stash[KNOWN] = Baseline.read(path) if path and not is_first else None
        except BaselineError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[KNOWN]
