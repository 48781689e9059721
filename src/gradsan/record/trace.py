"""The trace file: one JSON array per line, written at once, so that a killed run leaves a readable one.

It is data and nothing else: no pickle, every field checked against the event types on reading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from gradsan.record.events import Event
from gradsan.record.schema import Decoder, Malformed, encode

FORMAT = "gradsan-trace"
VERSION = 2


class TraceError(Exception):
    """The file is not a trace, or it breaks off in the wrong place. The message is for the user."""


class TraceWriter:
    def __init__(self, path: Path, **about: Any) -> None:
        self.path = path
        self._file: TextIO | None = path.open("w", encoding="utf-8")
        self.failed = ""
        self._line({"format": FORMAT, "version": VERSION, **about})

    def feed(self, event: Event) -> None:
        self._line(encode(event))

    def note(self, **about: Any) -> None:
        """Something about the run as a whole that was not known when it began."""
        self._line(about)

    def finish(self) -> None:
        """The run came to its end: a trace without this record was broken off."""
        self._line({"end": True})
        if self._file is not None:
            self._file.close()
            self._file = None

    def _line(self, data: Any) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(data, separators=(",", ":"), default=str) + "\n")
            self._file.flush()
        except OSError as error:  # a full disk: say it once, go on without a trace
            self.failed = f"the trace {self.path} is incomplete: {error.strerror or error}"
            self._file = None

    def forget_in_child(self) -> None:
        """After a fork the file belongs to the parent, and so does what another thread had half written."""
        if self._file is not None:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._file.fileno())
            self._file = None


def read(path: Path) -> Iterator[Event | dict[str, Any]]:
    """The header, the events, notes, and the closing record where the run came to its end."""
    number = 1
    try:
        with path.open(encoding="utf-8") as file:
            header = _parse(file.readline(), 1, path)
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise TraceError(f"{path} is not a gradsan trace")
            if header.get("version") != VERSION:
                raise TraceError(
                    f"{path} has trace version {header.get('version')}; this gradsan reads {VERSION}"
                )
            yield header
            decoder = Decoder()
            for number, line in enumerate(file, 2):
                if not line.endswith("\n"):
                    return  # the last write was cut off by a kill: everything before it counts
                data = _parse(line, number, path)
                yield data if isinstance(data, dict) else decoder.decode(data)
    except Malformed as error:
        raise TraceError(f"{path} is damaged on line {number}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise TraceError(f"cannot read the trace {path}: {reason}") from error


def _parse(line: str, number: int, path: Path) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:  # among them a number of more digits than Python reads
        what = "is not a gradsan trace" if number == 1 else f"is damaged on line {number}"
        raise TraceError(f"{path} {what}") from error
