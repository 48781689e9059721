"""Packages that count as the user's own code: whether they are there at all."""

from __future__ import annotations

import difflib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder


class UnknownPackage(Exception):
    """The message is one sentence for the user."""


def check_packages(names: Iterable[str], home: str = "") -> None:
    """Refuse a name that no import would find. `home` is the folder that the program is run from."""
    for name in names:
        top = name.partition(".")[0]
        if not top.isidentifier() or not _is_there(top, home):
            raise UnknownPackage(f"there is no package {name!r}{_suggestion(name, home)}")


def is_installed(name: str) -> bool:
    return _is_there(name, "")


def _is_there(name: str, home: str) -> bool:
    """Of a dotted name only the beginning is looked for: for more, the package would have to be imported."""
    if PathFinder.find_spec(name, [home]) is not None:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # it has been imported, in some way that left no spec
        return name in sys.modules


def _suggestion(name: str, home: str) -> str:
    """`stable-baselines3` is what one installs, `stable_baselines3` what one imports."""
    known = sorted({module.name for module in pkgutil.iter_modules([home, *sys.path])})
    close = difflib.get_close_matches(name.replace("-", "_"), known, n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else " to be imported"
