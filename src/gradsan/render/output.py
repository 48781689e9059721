"""Where a report goes: a file that is replaced as a whole, or a stream."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


class OutputError(Exception):
    """The file cannot be written. The message is one sentence for the user."""


class OutputFile:
    """Made before the script runs, to find out then whether the file can be written at all."""

    def __init__(self, path: str) -> None:
        self.shown = path
        self.path = Path(os.path.realpath(path))  # the script may change directory; a link stays a link
        self._check()

    def write(self, text: str) -> None:
        """All of it or nothing: an earlier report stays until the new one is complete."""
        try:
            if self._is_special():
                self.path.write_text(text, encoding="utf-8")
            else:
                self._replace(text)
        except OSError as error:
            raise OutputError(self._sentence(error)) from error

    def _replace(self, text: str) -> None:
        temporary = self._temporary()
        try:
            temporary.write_text(text, encoding="utf-8")
            with suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(self.path.stat().st_mode))
            os.replace(temporary, self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def _check(self) -> None:
        try:
            if self.path.is_dir():
                raise IsADirectoryError(21, "it is a directory")
            if self.path.exists() and not os.access(self.path, os.W_OK):
                raise PermissionError(13, "it is write-protected")
            if not self._is_special():
                temporary = self._temporary()
                temporary.touch(exist_ok=True)
                temporary.unlink()
        except OSError as error:
            raise OutputError(self._sentence(error)) from error

    def _is_special(self) -> bool:
        """`/dev/stdout`, a pipe: nothing that could be replaced."""
        return self.path.exists() and not self.path.is_file()

    def _temporary(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")

    def _sentence(self, error: OSError) -> str:
        return f"cannot write {self.shown!r}: {error.strerror or error}"


class StandardOutput:
    """`--output -`: after everything that the script has written there, in one piece."""

    shown = "standard output"

    def __init__(self) -> None:
        self._stream = sys.stdout  # the script may put another in its place

    def write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError, AttributeError) as error:  # closed, or there is none
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"cannot write to standard output: {reason}") from error


Output = OutputFile | StandardOutput
