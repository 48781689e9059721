"""One line per finding, the moment it is found."""

from __future__ import annotations

import contextlib
import sys
from typing import TextIO

from rich.text import Text

from gradsan.judge.report.findings import Finding
from gradsan.render.fresh_line import FreshLine
from gradsan.render.page import Page, plain


class Live:
    """Writes to the stream that was standard error when the run began."""

    def __init__(self, stream: TextIO, fresh: FreshLine, who: str = "") -> None:
        """`who`: the process that speaks, where there are several."""
        self._who = who
        self._stream = stream
        self._fresh = fresh
        self._page = Page.of(stream)
        self._held = ""

    def __call__(self, finding: Finding) -> None:
        self._held += line(finding, self._page, self._who)
        if sys.exc_info()[0] is None:
            self.flush()  # else an exception is on its way up: if nobody catches it, its traceback is first

    def flush(self) -> None:
        text, self._held = self._held, ""
        # A closed or full stderr is the user's business; it must not end the rule that found something.
        with contextlib.suppress(OSError, ValueError):
            if text:
                self._stream.write(self._fresh.start() + text)
            self._stream.flush()


def line(finding: Finding, page: Page, who: str = "") -> str:
    where = finding.culprit
    text = Text.assemble(
        (f"gradsan: {who}: " if who else "gradsan: ", "quiet"),
        (finding.severity, finding.severity),
        f" {finding.rule} {finding.name} ",
        (f"{plain(where.place)}: " if where else "", "place"),
        plain(finding.message),
    )
    console = page.console()
    console.print(text, soft_wrap=True)
    return page.text_of(console)
