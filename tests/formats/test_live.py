"""`--live` on a real terminal: its line is there, and the script's output is what it was."""

from __future__ import annotations

import io
import math
import re
import signal
import sys
import threading
from collections.abc import Iterator

import pytest
from terminal import Terminal

from gradsan.follow.lastline import is_possible
from gradsan.follow.status import Status, sparkline
from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Finding
from gradsan.record.events import OptimizerSeen, ParamNamed, ParamSeen, Sample
from gradsan.runner.watch import Watch
from sandbox import GRADSAN, STALE, Sandbox

# Writes in every way there is, and trains until it is told to stop.
CHATTY = r"""
import os, subprocess, sys, torch
policy = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
print(sys.stdout.isatty(), type(sys.stdout).__name__, flush=True)
line = 0
while not os.path.exists("stop"):
    for _ in range(50):
        loss = (policy(torch.ones(8, 3)) - 1.0).pow(2).mean()
        loss.backward()
        opt.step()
    line += 1
    print(f"line {line} from ", end="", flush=True)
    os.write(1, b"the script\n")
subprocess.run(["echo", "from a child"])
print("10%", end="\r", flush=True)
print("100%", flush=True)
"""


@pytest.fixture
def terminal(sandbox: Sandbox) -> Iterator[Terminal]:
    sandbox.write("train.py", CHATTY)
    terminal = Terminal([GRADSAN, "run", "--live", "train.py"], cwd=sandbox.path, env=sandbox.env)
    yield terminal
    terminal.process.kill()
    terminal.process.wait()


def test_the_last_line_is_the_status_and_all_above_it_is_the_scripts(
    sandbox: Sandbox, terminal: Terminal
) -> None:
    terminal.until(
        lambda: re.search(r"iteration [\d,]{2,}  \S+/s  1 error  policy [▁-█]+ \S+$", terminal.last_line)
    )
    sandbox.write("stop", "")
    assert terminal.finish() == 1
    text = terminal.text()
    assert "True TextIOWrapper" in text
    lines = re.findall(r"^(line .*)$", text, re.MULTILINE)
    assert lines == [f"line {n} from the script" for n in range(1, len(lines) + 1)]
    assert "from a child\n100%\n" in text
    assert "iteration " not in text.partition("100%")[2].partition("GS401")[0]
    assert terminal.screen.margins is None
    assert "gradsan: 1 error in" in text


def test_the_line_follows_a_resize_and_a_signal_gives_it_back(terminal: Terminal) -> None:
    terminal.until(lambda: "/s  1 error" in terminal.last_line)
    terminal.resize(16, 90)
    terminal.until(lambda: terminal.last_line.startswith("gradsan iteration"))
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.finish() == -signal.SIGTERM
    assert terminal.screen.margins is None
    assert not terminal.last_line.startswith("gradsan iteration")
    lines = re.findall(r"^line (\d+) from the script", terminal.text(), re.MULTILINE)
    assert lines == [str(n) for n in range(1, len(lines) + 1)]


@pytest.mark.parametrize("written", range(1, 15))
def test_no_line_is_lost_where_the_region_begins(written: int) -> None:
    """Wherever the cursor is, also on the line that becomes the status."""
    lines = [f"line {n}" for n in range(written)]
    code = f"""
import os, sys
from gradsan.follow.lastline import LastLine
os.write(1, {chr(10).join(lines)!r}.encode() + b"\\n")
LastLine(sys.stdout).draw("status")
os.write(1, b"next\\n")
"""
    terminal = Terminal([sys.executable, "-c", code], lines=8)
    assert terminal.finish() == 0
    assert terminal.last_line == "status"
    assert terminal.text().split("\n")[: written + 1] == [*lines, "next"]


def test_without_a_terminal_it_is_silent(sandbox: Sandbox) -> None:
    script = sandbox.write("train.py", STALE + "\nimport threading; print(threading.active_count())\n")
    done = sandbox.gradsan("run", "--live", "--fail-on", "never", script)
    assert done.stdout == "1\n"
    assert "\x1b" not in done.stderr
    assert "iteration 4" not in done.stderr.splitlines()[0]


def test_live_and_quiet_exclude_each_other(sandbox: Sandbox) -> None:
    done = sandbox.gradsan("run", "--live", "--quiet", sandbox.write("train.py", ""))
    assert (done.returncode, done.stderr) == (2, "gradsan: give --live or --quiet, not both\n")


def test_no_stream_and_no_terminal_are_no_place_for_it() -> None:
    assert not is_possible(None)
    assert not is_possible(io.StringIO())


@pytest.fixture
def status(monkeypatch: pytest.MonkeyPatch) -> Status:
    watch = Watch(Engine(), None, "light")
    watch.recorder._iterations.count = 12_345
    status = Status(watch, sys.__stderr__)
    for event in (
        ParamSeen(1, "parameter", (3, 3), True, 0),
        ParamNamed(1, "agent.q.0.weight"),
        OptimizerSeen(1, "Adam", (1,), 0),
    ):
        status.feed(event)
    return status


def test_the_line_has_iteration_speed_findings_and_norms(status: Status) -> None:
    status.text(80, 0.0)
    status._watch.recorder._iterations.count += 300
    status._watch.engine.findings["x"] = Finding("GS401", "stale-gradient", "error", "m", "f", None)
    for norm in (0.1, 1.0, 10.0):
        status.feed(Sample(1, 1, ((1, norm, 1.0, 0.1),)))
    assert status.text(80, 2.0) == "gradsan iteration 12,645  150/s  1 error  agent.q ▁▅█ 10"


def test_what_does_not_fit_is_left_out(status: Status) -> None:
    status.feed(Sample(1, 1, ((1, 0.5, 1.0, 0.1),)))
    assert "agent.q" not in status.text(40, 0.0)
    assert all(len(status.text(width, 0.0)) <= width for width in range(20, 60))


def test_sparklines_are_logarithmic_and_mark_what_is_not_finite() -> None:
    assert sparkline([1.0, 10.0, 100.0]) == "▁▅█"
    assert sparkline([1.0, 1.1, 1.2]) == "▁▂▃"  # less than a factor of two is no drama
    assert sparkline([0.0, math.nan, math.inf, 1.0]) == "▁!!▁"


def test_closing_ends_the_thread(status: Status) -> None:
    status.finish()
    assert not [t for t in threading.enumerate() if t.name == "gradsan-live"]
