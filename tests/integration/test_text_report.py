"""The report on a terminal: readable at 80 columns and at 50, and never steered by what it shows."""

from __future__ import annotations

import io
import json
import linecache
import os
import pty
import subprocess
from pathlib import Path

import pytest

from gradsan.judge.report.findings import Finding, Location, Report, RoleSite
from gradsan.render import render
from gradsan.render.page import Page, plain
from sandbox import GRADSAN, STALE, Sandbox

SOURCE = (
    "import torch\n\n\ndef update():\n    h = torch.tanh(x)\n    h += 1  # "
    + "long " * 30
    + "\n    return h\n"
)
EVIL = "\x1b[31mred\x1b]0;title\x07\r\n\u202egnirts\x9b"


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SOURCE)
    lines = SOURCE.splitlines()
    saved, changed = (Location("train.py", n, "update", lines[n - 1].strip()) for n in (5, 6))
    needed = Location("a/very/long/path/to/some/package/of/the/users/own/learner.py", 120, "<module>", EVIL)
    sites = (RoleSite("saved", saved), RoleSite("mutation", changed), RoleSite("backward", needed))
    message = "`h` was kept for backward and then written in place: its gradient is that of another value. "
    finding = Finding(
        "GS101", "saved-tensor-mutated", "error", message * 2, "write `h = h + 1`", changed, sites,
        tuple(f"net.{n}.weight{EVIL}" for n in range(9)), 1234, 7,
    )  # fmt: skip
    bare = Finding("GS204", "unused-parameter", "warning", EVIL, EVIL, None)
    return Report(
        "train.py", "adaptive", "2.13.0", 5000, 48, [], [finding, bare],
        [{"rule": "GS305", "reason": "a compiled region" + EVIL}, {"rule": "GS104", "reason": "numpy"}],
        [{"tap": "clip", "traceback": "Traceback:\n  boom" + EVIL}],
    )  # fmt: skip


@pytest.mark.parametrize("width", [50, 80, 120])
def test_no_line_is_wider_than_the_page(report: Report, width: int) -> None:
    lines = render("text", report, Page(width)).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert " ".join(report.findings[0].message.split()) in words
    assert "learner.py:120" in words.replace(" ", "")


def test_the_culprit_is_marked_among_its_neighbours(report: Report) -> None:
    text = render("text", report, Page(80))
    assert "    5 │     h = torch.tanh(x)\n  ❱ 6 │     h += 1  # long" in text
    assert "…\n    7 │     return h\n" in text


def test_the_sites_stand_in_order_with_their_roles(report: Report) -> None:
    lines = [" ".join(line.split()) for line in render("text", report, Page(120)).splitlines()]
    story = [line for line in lines if " here " in line]
    assert story[0].startswith("saved here train.py:5")
    assert story[1].startswith("→ changed here train.py:6")
    assert story[2].startswith("→ backward here a/very")


def test_the_summary_counts_everything(report: Report) -> None:
    last = render("text", report, Page(200)).splitlines()[-1]
    assert last == (
        "gradsan: 1 error, 1 warning in 5,000 iterations (48 deep), 2 rules not evaluated, 1 gradsan fault"
    )


def test_deep_looks_come_with_their_reasons(report: Report) -> None:
    looks = [(0, "the first iterations"), (702, "a random look"), (900, "news"), (1500, "a random look")]
    report.attention = [{"iteration": iteration, "reason": reason} for iteration, reason in looks]
    assert render("text", report, Page(80)).splitlines()[-4:-2] == [
        "deep look at iteration 702, 2 in all: a random look",
        "deep look at iteration 900: news",
    ]


@pytest.mark.parametrize("colour", [False, True])
def test_nothing_shown_can_steer_the_terminal(report: Report, colour: bool) -> None:
    text = render("text", report, Page(80, colour))
    assert not {"\x07", "\r", "\x9b", "\u202e"} & set(text)
    assert ("\x1b" in text) == colour
    assert "\x1b]0;" not in text
    assert "\x1b[31mred" not in text
    assert "\x1b" not in render("json", report, Page(80, colour))


def test_a_page_without_unicode_gets_ascii(report: Report) -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert render("text", report, Page.of(ascii_only)).isascii()


def test_a_source_that_has_changed_is_not_shown_as_if_it_had_not(report: Report) -> None:
    Path("train.py").write_text("\n" * 20)
    linecache.clearcache()
    assert "❱ 6 │ h += 1" in render("text", report, Page(80))


def test_plain_keeps_letters_of_all_languages() -> None:
    assert plain("größe → 大きさ\ud800") == "größe → 大きさ?"


def in_terminal(sandbox: Sandbox, *args: str, **env: str) -> str:
    """Run gradsan with its standard output on a terminal, and read what arrives there."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [GRADSAN, *args], cwd=sandbox.path, env=sandbox.env | env, stdout=theirs, stdin=theirs
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    assert child.wait() == 0
    return seen.decode()


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_colour_is_for_terminals_that_want_it(sandbox: Sandbox, env: dict[str, str], coloured: bool) -> None:
    assert ("\x1b[" in in_terminal(sandbox, "explain", "GS401", **env)) == coloured


@pytest.mark.parametrize("columns", ["50", "80"])
def test_a_real_report_keeps_to_the_columns(sandbox: Sandbox, columns: str) -> None:
    sandbox.write("train.py", STALE)
    seen = sandbox.gradsan("run", "train.py", env={"COLUMNS": columns})
    report = seen.stderr.split("\n\n", 1)[1]
    assert max(map(len, report.splitlines())) <= int(columns)
    assert "❱ 7 │     opt.step()  # BUG" in report
    assert "\x1b" not in seen.stderr


def test_code_from_the_command_line_is_shown_too(sandbox: Sandbox) -> None:
    seen = sandbox.gradsan("run", "--trace", "run.trace", "-c", STALE)
    assert "<string>:8 in update" in seen.stderr
    assert "❱  8 │     opt.step()" in seen.stderr
    assert "❱  8 │     opt.step()" in sandbox.gradsan("report", "run.trace").stdout


def test_paths_stay_relative_to_where_the_run_began(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "import os\nos.chdir('/')\n" + STALE)
    seen = sandbox.gradsan("run", "--format", "json", "train.py")
    assert json.loads(seen.stderr)["findings"][0]["culprit"]["file"] == "train.py"
