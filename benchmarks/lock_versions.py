"""Locks that were written with one version of torch, compared with another: `make lock-torch TORCH=2.6.0`.

Writes the locks of every nth right program of tests/programs into a folder, or compares those of a folder with what the
present torch gives: differences by which `gradsan run --locked` would fail, and whether the text is the same."""

from __future__ import annotations

import argparse
import sys
import zlib
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "lock")]

from flows import changes, flow_of  # noqa: E402

from gradsan.lock.text import parsed, written  # noqa: E402

PROGRAMS = ROOT / "tests" / "programs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--every", type=int, default=30, help="every so manieth program, by its name")
    given = parser.parse_args()
    torch.set_num_threads(1)
    programs = [*PROGRAMS.glob("bugs/*_fixed.py"), *PROGRAMS.glob("clean/*.py")]
    if given.write:
        given.folder.mkdir(parents=True, exist_ok=True)
        chosen = [path for path in programs if zlib.crc32(path.stem.encode()) % given.every == 0]
        for path in sorted(chosen):
            (given.folder / f"{path.stem}.lock").write_text(text_of(path), encoding="utf-8")
        print(f"{len(chosen)} locks by torch {torch.__version__}")
        return 0
    kept = sorted(path for path in programs if (given.folder / f"{path.stem}.lock").exists())
    return compare(given.folder, kept)


def text_of(path: Path) -> str:
    return written({f"program {path.name}": flow_of(path.read_text(encoding="utf-8"))})


def compare(folder: Path, programs: list[Path]) -> int:
    failed = same = 0
    for path in programs:
        old, new = (folder / f"{path.stem}.lock").read_text(encoding="utf-8"), text_of(path)
        (before,), (now,) = parsed(old).values(), parsed(new).values()
        different = changes(before, now)
        failed += bool(different)
        same += old == new
        print(
            path.stem,
            *(different or ["the same text" if old == new else "the same flow"]),
            sep="\n  ",
            flush=True,
        )
    print(
        f"{len(programs)} locks checked by torch {torch.__version__}: {failed} differ, {same} are the same text"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
