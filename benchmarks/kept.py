"""Results that a long check keeps as it goes, so that it can be run in slices: what is there is not run again."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", type=Path, help="results as JSON lines; what is there already is not run again"
    )
    parser.add_argument(
        "--at-most", type=float, default=float("inf"), metavar="SECONDS", help="begin nothing after this time"
    )


class Kept:
    """One line for each thing that was tried: its name, and what came of it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._file: Path | None = given.keep.resolve() if given.keep else None
        self._until: float = time.monotonic() + given.at_most
        self.results: dict[str, Any] = {}
        if self._file is not None and self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                self.results.update([json.loads(line)])

    @property
    def is_time_up(self) -> bool:
        return time.monotonic() > self._until

    def add(self, name: str, result: Any) -> None:
        self.results[name] = result
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, result]) + "\n")
