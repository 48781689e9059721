"""Knows whether somebody has left a line unfinished on a stream, as a progress bar does."""

from __future__ import annotations

from typing import Any, TextIO


class FreshLine:
    """Follows what is written to the stream, by whomever; `start` ends an unfinished line first."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: Any = stream
        self._unfinished = False
        self._write = stream.write
        try:
            self._stream.write = self._follow  # type: ignore[method-assign]
        except AttributeError:  # a stream that lets nobody follow it: then nothing is known
            return

    def _follow(self, text: str) -> Any:
        result = self._write(text)
        if text:
            self._unfinished = text[-1] != "\n"
        return result

    def start(self) -> str:
        return "\n" if self._unfinished else ""

    def leave(self) -> None:
        if vars(self._stream).get("write") == self._follow:  # else somebody else follows us
            del self._stream.write
