"""`[tool.gradsan]`: the options of the command line, written down in pyproject.toml."""

from __future__ import annotations

import contextlib
import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADING = "[tool.gradsan]"
FILE = "pyproject.toml"
MODES = ("adaptive", "deep", "light")
PROCESSES = ("all", "main")
FAIL_ON = ("error", "warning", "never")
PATHS = ("baseline", "output", "html", "trace", "tensorboard", "lock")
WITHOUT = "(--no-config goes without)"


class SettingsError(Exception):
    """The message is one sentence for the user."""


class _Wrong(Exception):
    """What is wrong with a value, to be told with its key and file."""


@dataclass(frozen=True)
class Settings:
    """`values` has the keys of the file, with underscores; what the file does not say is not in it."""

    file: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


def nearest(start: Path | None = None) -> Settings:
    """Of the pyproject.toml files here and above, the first that has a section for us."""
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        file = folder / FILE
        if file.is_file():
            table = _section(file, _read(file))
            if table is not None:
                return _checked(file, table)
    return Settings()


def load(path: str) -> Settings:
    """A file that was asked for by name; it may consist of nothing but our section."""
    file = Path(path).absolute()
    data = _read(file)
    table = _section(file, data)
    if table is None and file.name == FILE:
        raise SettingsError(f"there is no {HEADING} in {file}")
    return _checked(file, data if table is None else table)


_pinned: list[Settings] = []


@contextlib.contextmanager
def pinned(settings: Settings) -> Iterator[None]:
    """Those of `gradsan run` count for whatever the script watches by itself, too."""
    _pinned.append(settings)
    try:
        yield
    finally:
        _pinned.pop()


def current() -> Settings:
    return _pinned[-1] if _pinned else nearest()


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror or error} {WITHOUT}") from error
    except ValueError as error:  # of TOML or of UTF-8
        raise SettingsError(f"{file} is no TOML: {error} {WITHOUT}") from error


def _section(file: Path, data: dict[str, Any]) -> dict[str, Any] | None:
    tools = data.get("tool")
    table = tools.get("gradsan") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{HEADING} must be a table in {file}")
    return table


def _checked(file: Path, table: dict[str, Any]) -> Settings:
    values = {}
    for key, value in table.items():
        if key not in KEYS:
            raise SettingsError(f"{HEADING} in {file} has no {key!r}{_suggestion(key)}")
        try:
            values[key.replace("-", "_")] = KEYS[key](value, file)
        except _Wrong as wrong:
            raise SettingsError(f"{HEADING} in {file} has {key} = {value!r}; {wrong}") from None
        except ValueError as error:
            raise SettingsError(f"{HEADING} in {file}, {key}: {error}") from None
    return Settings(file, values)


def _suggestion(key: str) -> str:
    close = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; it may have {', '.join(sorted(KEYS))}"


def _choice(*words: str) -> Callable[[Any, Path], str]:
    def check(value: Any, file: Path) -> str:
        if value not in words:
            raise _Wrong(f"it must be {', '.join(map(repr, words[:-1]))} or {words[-1]!r}")
        return str(value)

    return check


def _format(value: Any, file: Path) -> str:
    from gradsan.render import FORMATS

    return _choice(*FORMATS)(value, file)


def _words(value: Any, file: Path) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise _Wrong("it must be a string or a list of strings")
    return tuple(words)


def _rules(value: Any, file: Path) -> tuple[str, ...]:
    from gradsan.judge.report.selection import UnknownRule, codes

    words = _words(value, file)
    try:
        codes(words)
    except UnknownRule as error:
        raise ValueError(error) from None
    return words


def _selection(value: Any, file: Path) -> tuple[str, ...]:
    if value == []:
        raise _Wrong("leave it out to judge by all rules")
    return _rules(value, file)


def _path(value: Any, file: Path) -> str:
    """Relative to the file that it is written in, from wherever gradsan is called."""
    if not isinstance(value, str):
        raise _Wrong("it must be a string")
    if not value:
        raise _Wrong("it must be the path of a file")
    return str(file.parent / value)


def _flag(value: Any, file: Path) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("it must be true or false")
    return value


def _status(value: Any, file: Path) -> int:
    if type(value) is not int or not 1 <= value <= 255:
        raise _Wrong("it must be a number from 1 to 255")
    return value


KEYS: dict[str, Callable[[Any, Path], Any]] = {
    "mode": _choice(*MODES),
    "select": _selection,
    "ignore": _rules,
    "include": _words,
    "fail-on": _choice(*FAIL_ON),
    "finding-status": _status,
    "format": _format,
    **dict.fromkeys(PATHS, _path),
    "locked": _flag,
    "verify-fixes": _flag,
    "quiet": _flag,
    "live": _flag,
    "processes": _choice(*PROCESSES),
}
