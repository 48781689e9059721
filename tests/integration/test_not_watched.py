"""A run that gradsan could not watch is a failure, and one that it was never asked to watch is not."""

from __future__ import annotations

import json

import pytest

from sandbox import CLEAN, STALE, Sandbox

# Both run before the script does: a torch that gradsan cannot patch, and one that says it is old.
BROKEN = """
import gradsan.observe.session as session  # imports torch
def install(self):
    raise AttributeError("'classmethod_descriptor' object has no attribute '__func__'")
session.Session.__enter__ = install
"""
OLD = """
import importlib.abc, sys
class Age(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "torch.version":
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None:
                    run = spec.loader.exec_module
                    def exec_module(module):
                        run(module)
                        module.__version__ = "2.4.1+cu121"
                    spec.loader.exec_module = exec_module
                    return spec
sys.meta_path.insert(0, Age())
"""
SENTENCE = "gradsan needs torch 2.6 or newer; this is 2.4.1\n"
WHY = "the taps could not be installed (AttributeError: 'classmethod_descriptor'"


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def broken(sandbox: Sandbox) -> Sandbox:
    """The taps of gradsan cannot be installed here."""
    sandbox.write("broken.py", BROKEN)
    sandbox.write("train.py", CLEAN)
    return sandbox


def broken_run(sandbox: Sandbox, *args: str):
    """`gradsan run`, in a process where the session cannot be installed."""
    return sandbox.python(
        "-c", "import broken, sys; from gradsan.cli import main; main(sys.argv[1:])", "run", *args
    )


def test_it_has_a_status_of_its_own_and_says_why(broken: Sandbox) -> None:
    seen = broken_run(broken, "train.py")
    assert seen.returncode == 3
    assert f"gradsan: nothing was watched: {WHY}" in flat(seen.stderr)
    assert seen.stderr.endswith("gradsan: exit status 3 because gradsan could not watch\n")
    assert "no findings" not in seen.stderr


def test_no_option_makes_it_green(broken: Sandbox) -> None:
    seen = broken_run(broken, "--quiet", "--fail-on", "never", "train.py")
    assert seen.returncode == 3
    assert "nothing was watched" in seen.stderr
    seen = broken_run(broken, "--quiet", "--format", "json", "--output", "r.json", "train.py")
    assert seen.returncode == 3
    assert "nothing was watched" in seen.stderr


def test_the_scripts_own_failure_goes_first(broken: Sandbox) -> None:
    seen = broken_run(broken, "-c", "import torch, sys; sys.exit(7)")
    assert seen.returncode == 7
    assert "nothing was watched" in seen.stderr
    assert seen.stderr.endswith("gradsan: exit status 7 is the script's own: it failed by itself\n")


def test_every_report_says_so_and_so_does_the_trace(broken: Sandbox) -> None:
    broken_run(
        broken, "--trace", "t", "--format", "json", "--output", "r.json", "--html", "r.html", "train.py"
    )
    report = json.loads(broken.read("r.json"))
    assert report["watched"] is False
    assert report["not_watched"].startswith(WHY)
    assert (report["script_status"], report["exit"]) == (0, {"status": 3, "because": "not watched"})
    page = broken.read("r.html")
    assert "Nothing was watched" in page
    assert "Nothing to report" not in page
    again = broken.gradsan("report", "t", "--format", "sarif")
    assert again.returncode == 3
    (call,) = json.loads(again.stdout)["runs"][0]["invocations"]
    assert call["executionSuccessful"] is False
    assert (call["exitCode"], call["exitCodeDescription"]) == (3, "not watched")
    assert any(WHY in note["message"]["text"] for note in call["toolExecutionNotifications"])
    shown = broken.gradsan("report", "t", "--format", "github")
    assert f"::error title=gradsan%3A nothing was watched::{WHY}" in shown.stdout


def test_a_script_without_torch_is_clean(sandbox: Sandbox) -> None:
    seen = sandbox.gradsan("run", "--format", "json", "-c", "print('hello')")
    report = json.loads(seen.stderr)
    assert seen.returncode == 0
    assert (report["watched"], report["not_watched"], report["torch"]) == (True, None, "")


# -- a torch that is too old -------------------------------------------------------------------------


def test_a_script_that_imports_an_old_torch_ends_there_with_one_sentence(sandbox: Sandbox) -> None:
    sandbox.write("age.py", OLD)
    sandbox.write(
        "train.py",
        """
        import age
        print("before")
        try:
            import torch
        except Exception:
            pass
        print("after")
        """,
    )
    seen = sandbox.gradsan("run", "--output", "report", "--format", "json", "train.py")
    assert (seen.returncode, seen.stdout, seen.stderr) == (2, "before\n", SENTENCE)
    assert not (sandbox.path / "report").exists()


def test_a_script_does_not_begin_where_an_old_torch_is_there_already(sandbox: Sandbox) -> None:
    sandbox.write("age.py", OLD + "import torch\n")
    start = "import age, sys; from gradsan.cli import main; main(sys.argv[1:])"
    seen = sandbox.python("-c", start, "run", "-c", "print('begun')")
    assert (seen.returncode, seen.stdout, seen.stderr) == (2, "", SENTENCE)


def test_a_thread_that_imports_an_old_torch_ends_there_too(sandbox: Sandbox) -> None:
    sandbox.write("age.py", OLD)
    sandbox.write(
        "train.py",
        """
        import age, threading
        def train():
            import torch
            print("after")
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        """,
    )
    seen = sandbox.gradsan("run", "train.py")
    assert (seen.returncode, seen.stdout, seen.stderr) == (2, "", SENTENCE)


# -- whose status it is ------------------------------------------------------------------------------


CRASH = "raise ValueError('crash')\n"


@pytest.mark.parametrize(
    ("script", "options", "status", "script_status", "because", "last"),
    [
        (CLEAN, [], 0, 0, "clean", "no findings in 4 iterations (4 deep)"),
        (STALE, [], 1, 0, "finding", "exit status 1 because of the findings"),
        (CLEAN + CRASH, [], 1, 1, "script", "exit status 1 is the script's own: it failed by itself"),
        (
            STALE + CRASH, [], 1, 1, "finding",
            "exit status 1 because of the findings; the script itself failed, too, with status 1",
        ),
        (STALE, ["--finding-status", "9"], 9, 0, "finding", "exit status 9 because of the findings"),
        (CLEAN + CRASH, ["--finding-status", "9"], 1, 1, "script", "exit status 1 is the script's own"),
        (STALE + CRASH, ["--fail-on", "never"], 1, 1, "script", "exit status 1 is the script's own"),
    ],
    ids=["clean", "finding", "crash", "both", "own status", "own status, crash", "never"],
)  # fmt: skip
def test_a_crash_and_a_finding_can_be_told_apart(
    sandbox: Sandbox,
    script: str,
    options: list[str],
    status: int,
    script_status: int,
    because: str,
    last: str,
) -> None:
    sandbox.write("train.py", script)
    seen = sandbox.gradsan("run", *options, "--format", "json", "--output", "report.json", "train.py")
    assert seen.returncode == status
    report = json.loads(sandbox.read("report.json"))
    assert report["script_status"] == script_status
    assert report["exit"] == {"status": status, "because": because}
    assert seen.stderr.splitlines()[-2].startswith(f"gradsan: {last}")  # the last one names the file
