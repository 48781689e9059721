"""`--write-baseline` and `--baseline`: an old code base is adopted, and only what is new fails."""

from __future__ import annotations

import json

import pytest

from sandbox import CLEAN, STALE, Sandbox

RETAINED = STALE.replace("loss.backward()", "loss.backward(retain_graph=True)")


def test_findings_are_written_then_hidden_and_only_new_ones_fail(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE)
    seen = sandbox.gradsan("run", "--write-baseline", "known.json", "--trace", "t", "train.py")
    assert seen.returncode == 0
    assert "GS401" in seen.stderr
    assert seen.stderr.endswith("gradsan: 1 finding is known now, by known.json\n")
    text = sandbox.read("known.json")
    assert '{"file": "train.py", "function": "update", "rule": "GS401", "code": "opt.step()"}' in text

    again = sandbox.gradsan("report", "t", "--baseline", "known.json", "--format", "json", "--html", "h.html")
    assert again.returncode == 0
    report = json.loads(again.stdout)
    assert report["findings"] == []
    assert report["baseline"] == {"file": "known.json", "hidden": 1, "gone": []}
    assert "Nothing to report" in sandbox.read("h.html")

    sandbox.write("train.py", "# moved\n\n" + RETAINED)
    seen = sandbox.gradsan("run", "--baseline", "known.json", "--fail-on", "warning", "train.py")
    assert seen.returncode == 1
    assert "GS401" not in seen.stderr  # neither as it is found nor in the report
    assert "gradsan: 1 warning, 1 known from known.json in 4 iterations" in seen.stderr


def test_what_is_mended_is_told_and_an_update_takes_it_out(sandbox: Sandbox) -> None:
    sandbox.write("pyproject.toml", "[tool.gradsan]\nbaseline = 'known.json'\n")
    sandbox.write("train.py", STALE)
    seen = sandbox.gradsan("run", "--write-baseline", "known.json", "train.py")  # not there yet: no mistake
    assert seen.returncode == 0
    sandbox.write("train.py", CLEAN)
    seen = sandbox.gradsan("run", "train.py")
    assert seen.returncode == 0
    assert (
        "known.json GS401 train.py in update: `opt.step()` did not occur in this run"
        in seen.stderr.replace("\n", " ")
    )
    assert sandbox.gradsan("run", "--write-baseline", "known.json", "--quiet", "train.py").stderr == ""
    assert json.loads(sandbox.read("known.json"))["findings"] == []
    sandbox.write("train.py", STALE)
    assert sandbox.gradsan("run", "--quiet", "--no-baseline", "train.py").returncode == 1


MISTAKES = {
    "missing": ["--baseline", "no.json"],
    "from another version": ["--baseline", "newer.json"],
    "some other file": ["--baseline", "train.py"],
    "and none": ["--baseline", "newer.json", "--no-baseline"],
    "not writable": ["--write-baseline", "no/known.json"],
}


@pytest.mark.parametrize("args", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_file_that_will_not_do_is_told_before_the_script_runs(sandbox: Sandbox, args: list[str]) -> None:
    sandbox.write("train.py", "print('ran')")
    sandbox.write("newer.json", '{"gradsan-baseline": 2, "findings": []}')
    seen = sandbox.gradsan("run", *args, "train.py")
    assert (seen.returncode, seen.stdout, seen.stderr.count("\n")) == (2, "", 1)
    assert args[1] in seen.stderr or args[-1] in seen.stderr
