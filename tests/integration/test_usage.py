"""A mistake on the command line gets one clear sentence and status 2, before anything has happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradsan.record.trace import TraceWriter
from sandbox import Sandbox

MISTAKES = {
    "missing script": (["run", "no.py"], "cannot read the script 'no.py': No such file or directory"),
    "no script": (["run"], "give a SCRIPT to run, or -m MODULE, or -c CODE"),
    "empty directory": (["run", "empty"], "cannot run 'empty': there is no __main__.py in it"),
    "missing module": (["run", "-m", "no.such"], "cannot run the module 'no.such': No module named 'no'"),
    "package without main": (["run", "-m", "json"], "package without a __main__"),
    "unknown code": (["run", "--select", "GS999", "mark.py"], "there is no rule 'GS999'"),
    "misspelt name": (["run", "--ignore", "stale-gradiant", "mark.py"], "did you mean stale-gradient?"),
    "empty selection": (["run", "--select", "", "mark.py"], "'' names no rule"),
    "selection of commas": (["run", "--ignore", " , ", "mark.py"], "' , ' names no rule"),
    "everything ignored": (["run", "--select", "GS3", "--ignore", "GS", "mark.py"], "no rule is left"),
    "missing package": (
        ["run", "--include", "tortch", "mark.py"],
        "no package 'tortch'; did you mean torch?",
    ),
    "distribution's name": (["run", "--include", "typing-extensions", "mark.py"], "mean typing_extensions?"),
    "strange package": (["run", "--include", "zq8", "mark.py"], "there is no package 'zq8'"),
    "empty package": (["run", "--include", "", "mark.py"], "there is no package ''"),
    "output in no directory": (["run", "--output", "no/o", "mark.py"], "cannot write 'no/o': No such file"),
    "output is a directory": (["run", "--output", "empty", "mark.py"], "cannot write 'empty': it is a dir"),
    "HTML in no directory": (["run", "--html", "no/o", "mark.py"], "cannot write 'no/o': No such file"),
    "HTML is a directory": (["report", "--html", "empty", "mark.py"], "cannot write 'empty': it is a dir"),
    "trace in no directory": (
        ["run", "--trace", "no/t", "mark.py"],
        "cannot write the trace 'no/t': No such",
    ),
    "folder without a trace": (["report", "empty"], "there is no trace that can be read in empty"),
    "missing trace": (["report", "no.trace"], "cannot read the trace no.trace: No such file or directory"),
    "not a trace": (["report", "mark.py"], "mark.py is not a gradsan trace"),
    "damaged trace": (["report", "damaged.trace"], "damaged.trace is damaged on line 2"),
    "false trace": (["report", "false.trace"], "false.trace is damaged on line 2"),
    "binary trace": (["report", "binary.trace"], "binary.trace"),
    "unknown rule to explain": (["explain", "GS40"], "there is no rule 'GS40'; did you mean GS40"),
    "nothing to explain": (["explain"], "give the code or the name of a rule, or --list"),
}


@pytest.fixture
def stocked(sandbox: Sandbox) -> Sandbox:
    sandbox.write("mark.py", "open('ran', 'w').close()")
    (sandbox.path / "empty").mkdir()
    for name, line in (("damaged", '["Step", 1, '), ("false", '["Step", 1, 2, [7], []]')):
        trace(sandbox.path / f"{name}.trace", line)
    (sandbox.path / "binary.trace").write_bytes(b"\x80\x81\xff")
    return sandbox


def trace(path: Path, *lines: str) -> None:
    TraceWriter(path, script="x.py", mode="deep").finish()
    header = path.read_text().splitlines()[0]
    path.write_text("\n".join([header, *lines]) + "\n")


@pytest.mark.parametrize(("args", "sentence"), MISTAKES.values(), ids=MISTAKES.keys())
def test_one_clear_sentence_for(stocked: Sandbox, args: list[str], sentence: str) -> None:
    before = sorted(p.name for p in stocked.path.iterdir())
    seen = stocked.gradsan(*args)
    assert seen.returncode == 2
    assert seen.stdout == ""
    assert seen.stderr.startswith("gradsan: ")
    assert seen.stderr.count("\n") == 1
    assert sentence in seen.stderr
    assert sorted(p.name for p in stocked.path.iterdir()) == before  # nothing ran, nothing was written


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (["rnu", "mark.py"], "No such command 'rnu'. Did you mean 'run'?"),
        # Not the command `train`, which it looks like.
        (["train.py", "--lr", "1"], "To run a script: gradsan run train.py --lr 1"),
        (["xyzzy"], "No such command 'xyzzy'."),
    ],
)
def test_a_slip_instead_of_a_command_is_told_what_was_meant(
    stocked: Sandbox, args: list[str], advice: str
) -> None:
    seen = stocked.gradsan(*args)
    assert seen.returncode == 2
    assert seen.stderr.rstrip().endswith(advice)


def test_an_earlier_report_and_trace_survive_a_mistake(stocked: Sandbox) -> None:
    stocked.write("old.trace", "old trace")
    stocked.write("old.json", "old report")
    common = ["--trace", "old.trace", "--output", "old.json"]
    assert stocked.gradsan("run", *common, "no.py").returncode == 2
    assert stocked.gradsan("run", *common, "--select", "GS999", "mark.py").returncode == 2
    assert (stocked.read("old.trace"), stocked.read("old.json")) == ("old trace", "old report")


def test_the_report_file_is_replaced_as_a_whole_with_its_permissions(stocked: Sandbox) -> None:
    report = stocked.path / "old.json"
    report.write_text("old report")
    report.chmod(0o640)
    (stocked.path / "link.json").symlink_to("old.json")
    seen = stocked.gradsan(
        "run", "--format", "json", "--output", "link.json", "-c", "import os; os.chdir('/')"
    )
    assert seen.returncode == 0
    assert report.read_text().startswith('{\n  "schema": 1')
    assert report.stat().st_mode & 0o777 == 0o640
    assert (stocked.path / "link.json").is_symlink()
    assert not list(stocked.path.glob(".*.tmp"))


def test_options_after_the_script_are_the_scripts(stocked: Sandbox) -> None:
    show = "import sys; print(sys.argv[1:])"
    stocked.write("show.py", show)
    for program in (["show.py"], ["-c", show], ["-m", "show"], ["-mshow"]):
        seen = stocked.gradsan("run", "--quiet", *program, "--mode", "none", "-m", "x", "--help", "--", "-c")
        assert seen.stdout == "['--mode', 'none', '-m', 'x', '--help', '--', '-c']\n", program
