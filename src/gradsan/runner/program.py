"""What to run: a script, a module or a string of code, set up as `python` sets it up."""

from __future__ import annotations

import builtins
import importlib.util
import linecache
import os
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

STRING = "<string>"  # the file name that python gives to code from the command line


class ProgramError(Exception):
    """There is nothing to run. The message is one sentence for the user."""


@dataclass(frozen=True)
class Program:
    """`source` is compiled late, so that a syntax error is the script's own failure."""

    shown: str
    source: bytes | str | CodeType
    filename: str
    argv: list[str]
    path0: str
    attributes: dict[str, Any]

    def become_main(self) -> ModuleType:
        """Make this program the `__main__` of the process, for good: pickling, `multiprocessing` and
        exit handlers look it up by that name until the very end."""
        main = ModuleType("__main__")
        vars(main).update({"__builtins__": builtins, "__annotations__": {}, **self.attributes})
        sys.modules["__main__"] = main
        sys.argv[:] = self.argv
        if not sys.flags.safe_path:
            sys.path[0] = self.path0
        if self.filename == STRING and isinstance(self.source, str):
            remember_code(self.source)
        return main


def remember_code(code: str) -> None:
    """Let findings show lines of code that stands in no file."""
    lines = code.splitlines(keepends=True)
    linecache.cache[STRING] = (len(code), None, lines, STRING)


def from_script(path: str, args: Sequence[str]) -> Program:
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        return _from_container(path, args)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise ProgramError(f"cannot read the script {path!r}: {error.strerror or error}") from error
    filename = _absolute(path)
    attributes = {
        "__file__": filename,
        "__cached__": None,
        "__loader__": SourceFileLoader("__main__", filename),
    }
    path0 = os.path.dirname(os.path.realpath(path))
    return Program(path, source, filename, [path, *args], path0, attributes)


def from_code(code: str, args: Sequence[str]) -> Program:
    return Program("-c", code, STRING, ["-c", *args], "", {"__loader__": BuiltinImporter})


def from_module(name: str, args: Sequence[str]) -> Program:
    here = os.getcwd()
    if not sys.flags.safe_path:
        sys.path[0] = here  # the module is looked up as `python -m` would look it up
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _find(f"{name}.__main__")
        if spec is None:
            raise ProgramError(f"cannot run the module {name!r}: it is a package without a __main__")
    if spec is None:
        raise ProgramError(f"cannot run the module {name!r}: there is no module of that name")
    filename = spec.origin or name
    return Program(f"-m {name}", _code(spec), filename, [filename, *args], here, _of_spec(spec))


def _from_container(path: str, args: Sequence[str]) -> Program:
    """A directory or a zip file with a `__main__.py` in it."""
    shown, path = path, _absolute(path)
    spec = PathFinder.find_spec("__main__", [path])
    if spec is None:
        raise ProgramError(f"cannot run {shown!r}: there is no __main__.py in it")
    return Program(shown, _code(spec), str(spec.origin), [shown, *args], path, _of_spec(spec))


def _find(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError) as error:
        raise ProgramError(f"cannot run the module {name!r}: {error}") from error


def _code(spec: ModuleSpec) -> CodeType | bytes:
    """Source where there is some, so that it is compiled when the program runs."""
    loader: Any = spec.loader
    if spec.has_location and isinstance(loader, SourceFileLoader):
        return loader.get_data(str(spec.origin))
    code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
    if code is None:
        raise ProgramError(f"cannot run the module {spec.name!r}: it has no Python code")
    assert isinstance(code, CodeType)
    return code


def _of_spec(spec: ModuleSpec) -> dict[str, Any]:
    return {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _absolute(path: str) -> str:
    """As python makes `__file__` absolute: joined, not normalized."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
