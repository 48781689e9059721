"""Bugs planted in a user's own code around TRL, PEFT and transformers: is each named on its line, and nothing else?

make llm-planted
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from pathlib import Path

from forked import attempted, warm_up

SCRIPT = Path(__file__).with_name("planted.py")
MARKED = re.compile(r"# BUG ((?:GS\d{3} ?)+)")
MODES = ("adaptive", "deep")


def marks() -> dict[str, dict[int, list[str]]]:
    """By name of a bug its lines and the codes that are right there."""
    text = SCRIPT.read_text(encoding="utf-8")
    lines, found = text.splitlines(), dict[str, dict[int, list[str]]]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                if mark := MARKED.search(lines[number - 1]):
                    found.setdefault(node.name, {})[number] = mark.group(1).split()
    return found


def main() -> int:
    missed = 0
    warm_up()
    print("| bug | mode | found | message |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        for name, right_there in marks().items():
            if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
                continue
            for mode in MODES:
                attempted(name, mode, report, SCRIPT, include="")
                told = json.loads(report.read_text(encoding="utf-8"))
                right = [
                    f
                    for f in told["findings"]
                    if f["culprit"] and f["rule"] in right_there.get(f["culprit"]["line"], ())
                ]
                others = [
                    f"{f['rule']}:{(f['culprit'] or {}).get('line')}"
                    for f in told["findings"]
                    if f not in right
                ]
                missed += not right or bool(others) or bool(told["faults"])
                shown = right[0]["rule"] if right else "**missed**"
                beside = f" (also {', '.join(others)})" if others else ""
                message = right[0]["message"].replace("|", "\\|") if right else ""
                print(f"| {name} | {mode} | {shown}{beside} | {message} |", flush=True)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
