"""What a report is shown on: how wide it is, and whether it knows colours and more than ASCII."""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.theme import Theme

THEME = Theme(
    {
        "error": "bold red",
        "warning": "bold yellow",
        "info": "bold cyan",
        "culprit": "bold",
        "fix": "green",
        "quiet": "dim",
        "place": "cyan",
    },
    inherit=False,
)
BIDI = {chr(c) for c in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}
ASCII = str.maketrans({"→": "->", "│": "|", "❱": ">", "…": "...", "×": "x", "·": "-", "–": "-", "’": "'"})


@dataclass(frozen=True)
class Page:
    width: int = 80
    colour: bool = False
    unicode: bool = True
    terminal: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Page:
        """Colour on a terminal, unless NO_COLOR or TERM=dumb ask for none; plain in a pipe."""
        console = Console(file=stream, force_jupyter=False)
        dumb = os.environ.get("TERM", "") in ("dumb", "unknown") or bool(os.environ.get("NO_COLOR"))
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
        colour = console.is_terminal and not dumb
        return cls(console.width, colour, encoding.startswith("utf"), console.is_terminal)

    @classmethod
    def printed(cls) -> Page:
        """What `print(report)` will be read on: as wide as the terminal, and 100 columns where there is none."""
        try:
            return cls(width=os.get_terminal_size(sys.stdout.fileno()).columns or 100, terminal=True)
        except (OSError, ValueError, AttributeError):  # a pipe, a notebook, a stream that is no file
            return cls(width=100)

    def console(self, width: int | None = None) -> Console:
        """A console that writes into memory; read it with `text_of`."""
        return Console(
            file=io.StringIO(), width=width or self.width, theme=THEME, highlight=False, markup=False,
            emoji=False, force_jupyter=False, force_terminal=self.colour, no_color=not self.colour,
            color_system="standard" if self.colour else None, _environ={},
        )  # fmt: skip

    def text_of(self, console: Console) -> str:
        assert isinstance(console.file, io.StringIO)
        lines = console.file.getvalue().split("\n")
        text = "\n".join(line.rstrip() for line in lines)
        return text if self.unicode else text.translate(ASCII)


def plain(text: object) -> str:
    """Without anything that could steer a terminal: the text is the user's, or comes from a file."""
    kept = (" " if c in "\t\n\r" else c for c in str(text))
    shown = "".join(c for c in kept if unicodedata.category(c) not in ("Cc", "Zl", "Zp") and c not in BIDI)
    return shown.encode("utf-8", "replace").decode("utf-8")
