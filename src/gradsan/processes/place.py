"""Where the traces of a run go: the file or folder that was asked for, else a temporary one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gradsan.processes.folder import beside
from gradsan.processes.identity import identity, is_one_of_several


class TracePlace(NamedTuple):
    """`file`: of this process, where it has a name of its own. `folder`: of all others, and of this one else."""

    folder: Path
    file: Path | None = None
    kept: bool = True
    writes: bool = True  # whether this process needs a trace at all


def place_of(trace: str | None, scratch: str) -> TracePlace:
    if trace is None:
        return TracePlace(Path(scratch) / "traces", kept=False, writes=is_one_of_several())
    path = Path(os.path.abspath(trace))
    if is_folder(trace):
        return TracePlace(path)
    if path.exists() and not path.is_file():  # a pipe, a device
        return TracePlace(Path(scratch) / "traces", path, kept=False)
    if identity().get("rank", 0):  # one file cannot be written by two
        return TracePlace(beside(path))
    return TracePlace(beside(path), path)


def is_folder(trace: str) -> bool:
    """One that is there, or is named as one; for ranks of a launcher also a new name without a suffix."""
    if os.path.isdir(trace) or trace.endswith(os.sep):
        return True
    return is_one_of_several() and not os.path.exists(trace) and not Path(trace).suffix


def tidy(place: TracePlace) -> None:
    """After the run: no empty folder beside a file; and where a name without a suffix was given, many traces make
    that name a folder, as one trace makes it a file."""
    if not place.kept or place.file is None or not place.folder.is_dir():
        return
    if not any(place.folder.iterdir()):
        place.folder.rmdir()
    elif not place.file.suffix and place.file.is_file():
        os.replace(place.file, place.folder / f"main{os.extsep}trace")
        os.replace(place.folder, place.file)
