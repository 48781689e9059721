"""The correct programs that are mutated: a folder each, prepared at run time; nothing foreign is kept."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from gradsan_benchmark import libraries


@dataclass(frozen=True)
class Program:
    """`script`, run in a copy of `folder`; the `files` in it may be mutated."""

    name: str
    origin: str
    folder: Path
    script: str
    files: tuple[str, ...]

    def copy(self, to: Path, file: str = "", text: str = "") -> Path:
        """A copy of the folder, with one file's text replaced; the script in it."""
        shutil.copytree(self.folder, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        if file:
            (to / file).write_text(text, encoding="utf-8")
        return to / self.script


def single(path: Path, origin: str, place: Path, repairs: dict[str, str] | None = None) -> Program:
    """A program in one file, with the modules beside it that it imports."""
    folder = place / origin / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8")
    for wrong, right in (repairs or {}).items():
        assert text.count(wrong) == 1, f"{path.name}: {wrong!r} is not there once"
        text = text.replace(wrong, right)
    (folder / path.name).write_text(text, encoding="utf-8")
    for other in path.parent.glob("*.py"):
        if f"from {other.stem} import" in text or f"import {other.stem}\n" in text:
            shutil.copy(other, folder / other.name)
    return Program(f"{origin}/{path.stem}", origin, folder, path.name, (path.name,))


def from_folder(folder: Path, origin: str, place: Path, only_fixed: bool = False) -> list[Program]:
    paths = sorted(folder.glob("*_fixed.py" if only_fixed else "*.py"))
    return [single(path, origin, place) for path in paths]


def of_repository(root: Path, place: Path) -> list[Program]:
    """The right programs of gradsan's own repository, its examples repaired, and its agents."""
    if not (root / "tests" / "programs" / "clean").is_dir():
        return []
    found = from_folder(root / "tests" / "programs" / "clean", "clean", place)
    for name, repairs in libraries.EXAMPLES.items():
        found.append(single(root / "examples" / f"{name}.py", "examples", place, repairs))
    return found + _library(libraries.AGENTS, root / "src" / "gradsan" / "rl", place)


def installed(place: Path) -> list[Program]:
    """Programs over installed libraries, for those that are."""
    found: list[Program] = []
    for library in libraries.INSTALLED:
        spec = importlib.util.find_spec(library.package)
        if spec is not None and spec.origin is not None:
            found += _library(library, Path(spec.origin).parent, place)
    return found


def _library(library: libraries.Library, source: Path, place: Path) -> list[Program]:
    found = []
    for name, driver in library.drivers.items():
        folder = place / library.origin / name
        package = folder / library.renamed
        shutil.copytree(source, package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for path in package.rglob("*.py"):
            library.prepare(path)
        (folder / "train.py").write_text(driver.text, encoding="utf-8")
        files = tuple(f"{library.renamed}/{file}" for file in driver.files)
        missing = [file for file in files if not (folder / file).exists()]
        assert not missing, f"{library.origin} has no {missing}"
        found.append(Program(f"{library.origin}/{name}", library.origin, folder, "train.py", files))
    return found
