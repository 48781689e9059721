"""A change as a patch, and on disk: whole files or nothing, with their line ends, encoding and permissions."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator

from gradsan.fix.encoding import decoded, encoding_of
from gradsan.judge.lines.source import real_path, shown_path

NO_NEWLINE = b"\\ No newline at end of file\n"


class NotWritten(Exception):
    """The message is one sentence for the user."""


def patch(shown: str, before: bytes, after: bytes, touched: Collection[int] = (), context: int = 3) -> bytes:
    """For `git apply` and `patch -p1`, from the folder that paths are shown from. The bytes are the file's own.

    `touched`: lines that were changed or moved. Of two that have changed places, those are shown to move."""
    name = os.fsencode(shown.replace(os.sep, "/").lstrip("/"))
    lines = _diff(_lines(before), _lines(after), touched, context)
    return b"".join(_ended([b"--- a/" + name + b"\n", b"+++ b/" + name + b"\n", *lines]))


def shown_lines(before: bytes, after: bytes, touched: Collection[int] = (), context: int = 1) -> list[str]:
    """A diff to look at: no header, and no line ends."""
    lines = _diff(_lines(before), _lines(after), touched, context)
    encoding = encoding_of(before)
    return [line[:1].decode() + decoded(line[1:], encoding).rstrip("\r\n") for line in lines]


def _lines(data: bytes) -> list[bytes]:
    """Only line feeds end a line here, as for git: carriage returns are a part of it."""
    *whole, last = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])


def _diff(old: list[bytes], new: list[bytes], touched: Collection[int], context: int) -> list[bytes]:
    marked = (
        {b"\0%d" % number: old[number - 1] for number in touched} if _moves_others(old, new, touched) else {}
    )
    seen = [b"\0%d" % number if b"\0%d" % number in marked else line for number, line in enumerate(old, 1)]
    lines = list(difflib.diff_bytes(difflib.unified_diff, seen, new, n=context))[2:]
    return [line[:1] + marked.get(line[1:], line[1:]) for line in lines]


def _moves_others(old: list[bytes], new: list[bytes], touched: Collection[int]) -> bool:
    """Whether the shortest diff takes out a line that nobody touched: it has only changed places with one."""
    changes = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    gone = {
        number + 1 for kind, first, end, _, _ in changes if kind != "equal" for number in range(first, end)
    }
    return bool(touched) and not gone <= set(touched)


def _ended(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE


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
