"""However a run ends, its report is shown, or its trace can be read."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from sandbox import CLEAN, GRADSAN, STALE, Sandbox

WAIT = "import os, signal\nprint('ready', flush=True)\nos.read(0, 1)\n"
HANDLER = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"


def ended_by(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    """Send a signal once the script says that it is ready; its status and what it wrote to stderr."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, errors = process.communicate()
    return process.returncode, errors


def test_findings_appear_the_moment_they_occur_and_once(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + WAIT)
    process = sandbox.start("run", "train.py")
    assert process.stderr is not None
    first = process.stderr.readline()  # the script is waiting for its input: it has not ended
    assert first.startswith("gradsan: error GS401 stale-gradient train.py:7: ")
    output, errors = process.communicate("x")
    assert output == "ready\n"
    assert errors.count("gradsan: error GS401") == 0
    assert "error GS401 stale-gradient  in all 3 traced iterations, from iteration 2" in errors
    assert process.returncode == 1


def test_ctrl_c_shows_the_traceback_then_the_report_and_dies_of_it(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + "import atexit\natexit.register(print, 'bye')\n" + WAIT)
    process = sandbox.start("run", "train.py")
    status, errors = ended_by(process, signal.SIGINT)
    assert status == -signal.SIGINT
    assert "Aborted" not in errors
    assert 0 < errors.index("\nKeyboardInterrupt\n") < errors.index("❱ 7 │ ")


def test_sigterm_shows_the_report_and_dies_of_it(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + "try:\n    exec(" + repr(WAIT) + ")\nfinally:\n    print('never')")
    status, errors = ended_by(
        sandbox.start("run", "--output", "report.json", "--format", "json", "train.py"), 15
    )
    assert status == -signal.SIGTERM
    assert "the report is in report.json" in errors
    assert [f["rule"] for f in json.loads(sandbox.read("report.json"))["findings"]] == ["GS401"]


def test_a_handler_of_the_script_takes_precedence(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CLEAN + HANDLER + WAIT)
    status, errors = ended_by(sandbox.start("run", "train.py"), signal.SIGTERM)
    assert status == 9
    assert "no findings in 4 iterations" in errors


def test_a_killed_run_leaves_a_readable_trace_and_the_old_report(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + WAIT)
    sandbox.write("report.json", "the old one\n")
    process = sandbox.start("run", "--trace", "run.trace", "--output", "report.json", "train.py")
    status, _ = ended_by(process, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert sandbox.read("report.json") == "the old one\n"
    judged = sandbox.gradsan("report", "run.trace", "--format", "json")
    assert [f["rule"] for f in json.loads(judged.stdout)["findings"]] == ["GS401"]
    assert judged.returncode == 1


def test_os_exit_leaves_a_readable_trace(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + "import os; os._exit(5)")
    assert sandbox.gradsan("run", "--trace", "run.trace", "train.py").returncode == 5
    judged = sandbox.gradsan("report", "run.trace")
    assert "error GS401 stale-gradient" in judged.stdout
    assert judged.returncode == 1


@pytest.mark.parametrize(
    ("end", "fail_on", "status"),
    [
        ("import sys; sys.exit(3)", "error", 1),
        ("import sys; sys.exit(3)", "never", 3),
        ("raise KeyError('gone')", "never", 1),
    ],
)
def test_the_report_follows_any_exit_of_the_script(
    sandbox: Sandbox, end: str, fail_on: str, status: int
) -> None:
    sandbox.write("train.py", STALE + end)
    seen = sandbox.gradsan("run", "--fail-on", fail_on, "train.py")
    assert "1 error in 4 iterations" in seen.stderr
    assert seen.returncode == status


def test_a_clean_script_keeps_its_own_status(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CLEAN + "import sys; sys.exit(3)")
    seen = sandbox.gradsan("run", "--quiet", "--mode", "light", "train.py")
    assert (seen.returncode, seen.stdout) == (3, "")
    assert seen.stderr == ""


def test_a_full_disk_is_said_and_costs_only_the_trace(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE)
    seen = sandbox.gradsan("run", "--trace", "/dev/full", "train.py")
    assert "incomplete: No space left on device" in " ".join(seen.stderr.split())
    assert "error GS401 stale-gradient" in seen.stderr
    assert seen.returncode == 1


@pytest.mark.parametrize(
    "end", ["os.kill(os.getpid(), signal.SIGALRM)", "os.kill(os.getpid(), signal.SIGUSR1)"]
)
def test_any_signal_that_ends_a_script_comes_after_the_report(sandbox: Sandbox, end: str) -> None:
    sandbox.write(
        "train.py", STALE + "import os, signal\nassert signal.getsignal(14) is signal.SIG_DFL\n" + end
    )
    seen = sandbox.gradsan("run", "--mode", "light", "train.py")
    assert seen.returncode in (-signal.SIGALRM, -signal.SIGUSR1)
    assert "error GS401 stale-gradient" in seen.stderr


@pytest.mark.parametrize(
    ("end", "status", "output"),
    [
        ("os._exit(5)", 5, ""),
        ("os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])", 0, "1\n"),
        ("os.execlp('echo', 'echo', 'other')", 0, "other\n"),
    ],
)
def test_a_process_that_ends_at_once_or_becomes_another_has_its_report(
    sandbox: Sandbox, end: str, status: int, output: str
) -> None:
    sandbox.write("train.py", STALE + "import os, sys\n" + end)
    seen = sandbox.gradsan("run", "train.py")
    assert (seen.returncode, seen.stdout) == (status, output)
    assert "error GS401 stale-gradient" in seen.stderr


@pytest.mark.parametrize(
    "end",
    ["import os; os.abort()", "import ctypes; ctypes.string_at(0)", "import os; os.kill(os.getpid(), 9)"],
)
def test_a_crash_of_the_interpreter_leaves_a_readable_trace(sandbox: Sandbox, end: str) -> None:
    sandbox.write("train.py", STALE + end)
    seen = sandbox.gradsan("run", "--trace", "run.trace", "train.py")
    assert seen.returncode < 0
    assert "error GS401 stale-gradient" in sandbox.gradsan("report", "run.trace").stdout


def test_a_timer_that_the_script_left_running_does_not_end_the_report(sandbox: Sandbox) -> None:
    late = "import signal\nsignal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)\n"
    handled = "import signal\ndef up(*_): raise TimeoutError\nsignal.signal(signal.SIGUSR1, up)\n"
    sandbox.write("late.py", STALE + "import signal\nsignal.signal(signal.SIGALRM, lambda *_: None)\n" + late)
    assert "1 error in 4 iterations" in sandbox.gradsan("run", "late.py").stderr
    ends = "import atexit, os\natexit.register(os.kill, os.getpid(), signal.SIGUSR1)\n"
    sandbox.write("handled.py", CLEAN + handled + ends)
    seen, bare = sandbox.gradsan("run", "handled.py"), sandbox.python("handled.py")
    assert (seen.returncode, seen.stdout) == (bare.returncode, bare.stdout)
    assert "TimeoutError" in bare.stderr
    assert "TimeoutError" in seen.stderr  # the script's handlers are its own again when we are done


def test_a_closed_pipe_and_a_full_disk_cost_neither_the_status_nor_the_other_report(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE + "print('trained')")
    shown = f"'{GRADSAN}' run --format json --output /dev/full train.py"
    full = sandbox.shell(shown)
    assert (full.returncode, full.stdout) == (1, "trained\n")
    assert "cannot write '/dev/full': No space left on device" in full.stderr
    assert "error GS401 stale-gradient" in full.stderr
    closed = sandbox.shell(f"'{GRADSAN}' run --trace run.trace train.py 2>&-")
    assert (closed.returncode, closed.stdout) == (1, "trained\n")
    assert "error GS401 stale-gradient" in sandbox.gradsan("report", "run.trace").stdout
