"""The user's source lines, where no session is running that would know them."""

from __future__ import annotations

import functools
from types import CodeType, FrameType

from gradsan.judge.lines.source import line_of, shown_path
from gradsan.judge.report.findings import Location
from gradsan.observe.sites import Sites


@functools.cache
def sites() -> Sites:
    """Tells user code from library code; nobody listens to it."""
    return Sites(lambda event: None)


def caller(frame: FrameType | None) -> Location | None:
    """The innermost user line at or above this frame."""
    user = sites().user_frame(frame)
    return None if user is None else _of_code(user.f_code, user.f_lineno)


def location(file: str, line: int, function: str) -> Location:
    return Location(shown_path(file), line, function, line_of(file, line))


def _of_code(code: CodeType, line: int) -> Location:
    return location(code.co_filename, line, code.co_name)
