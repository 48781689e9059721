"""A change as a patch, and on disk: whole files or nothing, with their line ends, encoding and permissions."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator

from gradsan.judge.source import real_path, shown_path

NO_NEWLINE = b"\\ No newline at end of file\n"


class NotWritten(Exception):
    """The message is one sentence for the user."""


def patch(shown: str, before: bytes, after: bytes, context: int = 3) -> bytes:
    """For `git apply` and `patch -p1`, from the folder that paths are shown from. The bytes are the file's own."""
    name = os.fsencode(shown.replace(os.sep, "/").lstrip("/"))
    old, new = _lines(before), _lines(after)
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, b"a/" + name, b"b/" + name, n=context)
    return b"".join(_ended(lines))


def _lines(data: bytes) -> list[bytes]:
    """Only line feeds end a line here, as for git: carriage returns are a part of it."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        line for line in data.split(b"\n")[-1:] if line
    ]


def _ended(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE


def shown_lines(before: bytes, after: bytes, context: int = 1) -> list[str]:
    """A diff to look at: no header, and one kind of line end."""
    old, new = before.decode("utf-8", "replace").splitlines(), after.decode("utf-8", "replace").splitlines()
    lines = difflib.unified_diff(old, new, n=context, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++"))]


def write(path: str, before: bytes, after: bytes) -> None:
    """In one go: whoever reads the file sees the old text or the new one. A link stays a link."""
    path = os.path.realpath(real_path(path))
    try:
        with open(path, "rb") as file:
            if file.read() != before:
                raise NotWritten(f"{shown_path(path)} has changed in the meantime; nothing was written to it")
        if not os.access(path, os.W_OK):
            raise NotWritten(f"{shown_path(path)} is write-protected; nothing was written to it")
        _replace(path, after)
    except OSError as error:
        raise NotWritten(f"cannot write {shown_path(path)}: {error.strerror or error}") from error


def _replace(path: str, data: bytes) -> None:
    handle, part = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{os.path.basename(path)}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copystat(path, part)
        with contextlib.suppress(OSError):
            owner = os.stat(path)
            os.chown(part, owner.st_uid, owner.st_gid)
            os.chmod(part, owner.st_mode & 0o7777)  # a change of owner takes some bits away
        os.utime(part)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
