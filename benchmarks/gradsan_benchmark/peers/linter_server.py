"""Linters as a process of their environment: loaded once, asked by a line of JSON, answered by one."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

Found = list[tuple[str, str, int]]


def torchfix(files: list[str]) -> Found:
    """All its rules, by its own flake8 entry: the command starts a pool of processes for each file."""
    from torchfix.torchfix import TorchChecker  # type: ignore[import-not-found]

    found = []
    for file in files:
        lines = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
        found += [
            (message.split()[0], file, line) for line, _, message, *_ in TorchChecker(None, lines).run()
        ]
    return found


def mldoct(files: list[str]) -> Found:
    from mldoctor.linter import lint_script  # type: ignore[import-not-found]

    found = []
    for file in files:
        for issue in lint_script(file)[0]:
            rule = re.sub(r"\W+", "_", str(issue.get("type") or issue.get("message")))
            found.append((rule, file, int(issue.get("line") or 0)))
    return found


LINTERS = {"torchfix": torchfix, "mldoct": mldoct}


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        os.chdir(asked["folder"])
        return {"found": LINTERS[asked["linter"]](asked["files"]), "fault": ""}
    except BaseException:
        return {"found": [], "fault": traceback.format_exc().strip().splitlines()[-1]}


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr  # what a linter prints is no answer
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
