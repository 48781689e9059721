"""A trial run: other source text in place of a file, an end after enough updates, and the digests of gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import forked
from gradsan.fix.gradients import compare
from gradsan.fix.trial import TrialProgram, TrialRun, Trials
from marked import write
from sandbox import STALE

UPDATES = STALE.replace("range(4)", "range(40)")


def run(script: Path, updates: int | None = None, sources: dict[str, bytes] | None = None) -> TrialRun:
    return Trials(TrialProgram((str(script), "7")), forked.launch).run(sources or {}, updates)


def test_it_ends_after_enough_updates_and_says_what_was_taken(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    script = write(tmp_path, "train.py", UPDATES)
    first, again = run(script, 3), run(script, 3)
    assert first.bounded
    assert (first.updates, len(first.steps)) == (3, 3)
    assert [f.rule for f in first.findings] == ["GS401"]
    assert set(first.steps[0].taken) == {"net.weight", "net.bias"}
    assert first.steps == again.steps, "a program without a seed is given one"
    assert set(first.lines["train.py:6"]) == {"net.weight", "net.bias"}


def test_the_program_sees_the_other_text_and_nothing_else_that_is_new(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    told = """
    import helper, inspect, json, linecache, os, sys
    seen = [__file__, sys.argv, os.getcwd(), helper.__file__, inspect.getsource(helper.f), __name__]
    json.dump([*seen, linecache.getline(__file__, 1)], open("seen.json", "w"))
    raise SystemExit(helper.f())
    """
    script = write(tmp_path, "train.py", told)
    helper = write(tmp_path, "helper.py", "def f():\n    return 1\n")
    new = {str(helper): b"def f():\n    return 5\n", str(script): b"# new\n" + script.read_bytes()}
    assert run(script, sources=new).status == 5
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen[:4] == [str(script), [str(script), "7"], str(tmp_path), str(helper)]
    assert seen[4:] == ["def f():\n    return 5\n", "__main__", "# new\n"]
    assert helper.read_text() == "def f():\n    return 1\n"
    assert run(script).status == 1, "no compiled cache of the other text is left behind"


@pytest.mark.parametrize(
    ("text", "status", "error"),
    [
        ("raise ValueError('x')", 1, "ValueError: x"),
        ("assert False", 1, "AssertionError"),
        ("import os; os._exit(3)", 1, ""),
        ("x = (", 1, "SyntaxError"),
    ],
)
def test_it_says_how_the_program_ended(text: str, status: int, error: str, tmp_path: Path) -> None:
    ended = run(write(tmp_path, "train.py", text))
    assert (ended.status, ended.error[: len(error)]) == (status, error)
    assert not ended.failure


CLIPPED = UPDATES.replace(
    "    opt.step()", "    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)\n    opt.step()"
)


def test_a_clip_by_norm_changes_lengths_and_no_directions(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    tight, loose = (
        write(tmp_path, "tight.py", CLIPPED),
        write(tmp_path, "loose.py", CLIPPED.replace("0.01", "0.02")),
    )
    one, other = run(tight, 1), run(loose, 1)
    assert [(clip.how, set(clip.clipped)) for clip in one.clips] == [("norm", {"net.weight", "net.bias"})]
    seen = compare(one.steps, other.steps)
    assert set(seen.changed) == {"net.weight", "net.bias"}
    assert seen.turned == ()
    assert one.concerned.behind["tight.py:5"] == ["net.bias", "net.weight"]
