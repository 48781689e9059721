"""One line per finding, the moment it is found."""

from __future__ import annotations

import contextlib
from typing import TextIO

from rich.text import Text

from gradsan.judge.findings import Finding
from gradsan.render.page import Page, plain


class Live:
    """Writes to the stream that was standard error when the run began."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._page = Page.of(stream)

    def __call__(self, finding: Finding) -> None:
        # A closed or full stderr is the user's business; it must not end the rule that found something.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(line(finding, self._page))
            self._stream.flush()


def line(finding: Finding, page: Page) -> str:
    where = finding.culprit
    text = Text.assemble(
        ("gradsan: ", "quiet"),
        (finding.severity, finding.severity),
        f" {finding.rule} {finding.name} ",
        (f"{plain(where.file)}:{where.line}: " if where else "", "place"),
        plain(finding.message),
    )
    console = page.console()
    console.print(text, soft_wrap=True)
    return page.text_of(console)
