"""What no repair may do, whatever its family proposes."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from gradsan.fix.repair import is_users, repairs
from gradsan.judge.report.findings import Location
from marked import finding, plain, repaired

TARGET = "target = r + q(s)  #@ culprit"


def test_no_line_is_touched_that_the_finding_does_not_name() -> None:
    named = "loss.backward()  #@ backward\nopt.zero_grad()  #@ culprit\nopt.step()  #@ step"
    assert repaired("GS405", named)
    helper = "def f(a, b):\n    b.copy_(a)  #@ culprit\nf(x, y)"
    assert all(b"f(x, y)" in repair.after for repair in repaired("GS809", helper))


def test_nothing_is_repaired_in_a_file_that_has_changed_since() -> None:
    found = finding("GS301", TARGET)
    assert repairs(found, plain(TARGET).encode())
    assert not repairs(found, b"other = 1\n" + plain(TARGET).encode())
    assert not repairs(found, b"")


def test_nothing_is_repaired_inside_an_installed_library() -> None:
    library = str(Path(sysconfig.get_path("purelib"), "somebody", "dqn.py"))
    found = finding("GS301", TARGET, library)
    assert not repairs(found, plain(TARGET).encode())
    assert repairs(found, plain(TARGET).encode(), include=("somebody",))
    assert not is_users(str(Path(sysconfig.get_path("stdlib"), "random.py")))


@pytest.mark.parametrize("data", [b"target = (\n", b"\xff\xfe\x00", b"x = 1\n\x0cy = 2\n"])
def test_what_cannot_be_written_back_bit_for_bit_is_left_alone(data: bytes) -> None:
    line = data.splitlines()[0].decode("utf-8", "replace").strip()
    found = replace(finding("GS301", TARGET), culprit=Location("train.py", 1, "<module>", line))
    assert not repairs(found, data)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: ("# -*- coding: latin-1 -*-\n" + text).encode("latin-1"),
        lambda text: text.replace("    ", "\t").encode(),
        lambda text: text.rstrip("\n").encode(),
    ],
    ids=["crlf", "bom", "latin-1", "tabs", "no last newline"],
)
def test_all_other_bytes_stay(encode) -> None:
    text = "if True:\n    name = 'é'   # odd   spacing\n    target = r + q(s)\n"
    data = encode(text)
    line = next(n for n, found in enumerate(data.splitlines(), 1) if b"target" in found)
    where = Location("train.py", line, "<module>", "target = r + q(s)")
    repair = repairs(replace(finding("GS301", TARGET), culprit=where), data)[0]
    assert repair.after == data.replace(b"r + q(s)", b"(r + q(s)).detach()")


def test_nothing_loads_libcst_before_a_repair_is_asked_for() -> None:
    code = "import sys, gradsan.cli.run, gradsan.cli.fix, gradsan.render.sarif; assert 'libcst' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
