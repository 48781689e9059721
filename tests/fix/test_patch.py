"""Patches that `git apply` takes, and files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from gradsan.fix.patch import NotWritten, patch, shown_lines, write


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\r\nb\r\n", b"a\r\nnew\r\nb\r\n"),
        (b"a\nb", b"a\nb\nc"),
        (b"a = '\xe9'\nb\n", b"a = '\xe9'\nc\n"),
        (b"a\nb\nc\n", b"b\na\nc\n"),
    ],
    ids=["plain", "crlf", "no last newline", "latin-1", "moved"],
)
def test_git_applies_it(before: bytes, after: bytes, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(before)
    git = shutil.which("git")
    assert git, "git is needed to try the patch"
    made = patch("train.py", before, after, {1, 2})
    subprocess.run([git, "apply", "--whitespace=nowarn", "-"], input=made, cwd=tmp_path, check=True)
    assert file.read_bytes() == after


def test_what_was_touched_is_what_moves() -> None:
    before, after = b"step\nbackward\nend\n", b"backward\nstep\nend\n"
    assert [line for line in shown_lines(before, after, {1}, 0) if line[0] != "@"] == ["-step", "+step"]
    assert [line for line in shown_lines(before, after, {2}, 0) if line[0] != "@"] == [
        "+backward",
        "-backward",
    ]


def test_a_file_that_has_changed_in_the_meantime_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"new\n")
    with pytest.raises(NotWritten, match="changed in the meantime"):
        write(str(file), b"old\n", b"other\n")
    assert file.read_bytes() == b"new\n"


def test_a_write_that_fails_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritten, match="No space left"):
        write(str(file), b"old\n", b"new\n")
    assert file.read_bytes() == b"old\n"
    assert os.listdir(tmp_path) == ["train.py"]


def test_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old\n")
    file.chmod(0o751)
    write(str(file), b"old\n", b"new\n")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new\n", 0o751)
