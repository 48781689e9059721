"""Runs gradsan on the embedded example in a real terminal of 80 columns and keeps a picture of a finding.

make picture        # writes docs/images/finding.svg
"""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = [
    sys.executable,
    "-m",
    "gradsan",
    "run",
    "--fail-on",
    "never",
    "--select",
    "GS301",
    "examples/leaky_dqn.py",
]
OUT = Path("docs/images/finding.svg")


def output_of_terminal(command: list[str]) -> str:
    """Everything a person would see on the screen, colours included."""
    os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="60")
    os.environ.pop("NO_COLOR", None)
    seen = bytearray()

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 4096)
        seen.extend(data)
        return data

    pty.spawn(command, read)
    return seen.decode(errors="replace").replace("\r\n", "\n")


def main() -> None:
    screen = output_of_terminal(COMMAND)
    start = re.search(r"^(\x1b\[[\d;]*m)*error", screen, re.MULTILINE)
    text = Text.from_ansi(screen[start.start() if start else 0 :])
    console = Console(record=True, width=80, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(text)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    picture = console.export_svg(title="gradsan run examples/leaky_dqn.py")
    # The fonts it would load from the network are not needed: every viewer has a monospaced one.
    OUT.write_text(re.sub(r"\s*@font-face \{.*?\n    \}", "", picture, flags=re.DOTALL))


if __name__ == "__main__":
    main()
