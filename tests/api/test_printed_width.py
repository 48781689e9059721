"""`print(finding)`, `print(report)` and `print(gradsan.explain(…))` fit what they are printed on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from collections.abc import Iterator

import gradsan
from gradsan.judge.report.findings import Finding

FINDING = Finding("GS301", "target-carries-gradient", "error", "word " * 60, "words " * 40, None)


@contextlib.contextmanager
def terminal(columns: int) -> Iterator[None]:
    """A terminal that standard output goes to."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w") as stream, contextlib.redirect_stdout(stream):
        yield
    os.close(ours)


def widest(text: object) -> int:
    return max(map(len, str(text).splitlines()))


def test_what_is_printed_is_as_wide_as_the_terminal() -> None:
    with terminal(columns=60):
        assert 50 < widest(FINDING) <= 60
        assert 50 < widest(gradsan.explain("GS301")) <= 60


def test_code_is_wrapped_and_not_cropped() -> None:
    with terminal(columns=60):
        wrapped = str(gradsan.explain("GS301"))
    assert "".join(wrapped.split()) == "".join(str(gradsan.explain("GS301")).split())


def test_what_is_printed_into_a_file_has_100_columns() -> None:
    assert 80 < widest(FINDING) <= 100
    assert widest(gradsan.explain("GS301")) > 80  # code stays whole there, to be copied
