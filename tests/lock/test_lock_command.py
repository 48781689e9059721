"""`gradsan lock` and `run --locked`, each in a fork of the test's own process, which has torch loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import gradsan.observe.session
from gradsan.cli import main
from gradsan.judge.engine import Engine
from gradsan.lock.collector import FlowCollector

CODE = """\
import sys
import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
for _ in range(4):
    states = torch.randn(8, 3)
    with torch.no_grad():
        wanted = other(states)
    loss = (net(states) - wanted).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
"""
CHANGED = CODE.replace("with torch.no_grad():", "if True:")
MOVED = "# a comment\n\n" + CODE.replace("loss", "miss").replace("net", "value")


class Ended(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def gradsan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(CODE)

    def run(*args: str) -> Ended:
        out, err = tmp_path / "out.txt", tmp_path / "err.txt"
        child = os.fork()
        if child == 0:
            status = 99
            try:
                for stream, file in ((1, out), (2, err)):
                    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
                sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
                main([args[0], "--no-config", *args[1:]])
            except SystemExit as error:
                status = int(error.code or 0)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return Ended(status, out.read_text(), " ".join(err.read_text().split()))

    return run


def test_a_lock_is_written_and_holds_in_every_run_until_the_flow_changes(gradsan, tmp_path):
    script, lock = tmp_path / "train.py", tmp_path / "gradsan.lock"
    wrote = gradsan("lock", "train.py", "0")
    assert (wrote.status, wrote.out) == (0, "done\n"), wrote
    assert "gradsan: 1 loss and 2 networks of train.py are in gradsan.lock" in wrote.err
    text = lock.read_text()
    assert "program train.py\narguments 0\n" in text
    assert "  takes `other` as constant by no_grad\n" in text
    assert gradsan("lock", "--check", "train.py", "7").status == 0
    script.write_text(MOVED)
    assert gradsan("run", "--locked", "train.py").status == 0
    script.write_text(CHANGED)
    told = gradsan("run", "--locked", "train.py")
    assert told.status == 1
    assert "error GS901 flow-changed" in told.err
    assert "train.py:13" in told.err
    assert "`loss` now also trains `other`" in told.err
    assert "GS901: nothing was traced" in gradsan("run", "--locked", "--mode", "light", "train.py").err
    checked = gradsan("lock", "--check", "train.py")
    assert (checked.status, checked.out) == (1, "done\n")
    assert "GS901" in checked.err
    assert lock.read_text() == text


def test_what_has_changed_is_said_when_it_is_written_anew(gradsan, tmp_path):
    gradsan("lock", "train.py")
    (tmp_path / "train.py").write_text(CHANGED)
    (tmp_path / "more.py").write_text(CODE)
    assert "`loss` now also trains `other`" in gradsan("lock", "train.py").err
    gradsan("lock", "more.py")
    text = (tmp_path / "gradsan.lock").read_text()
    assert text.index("program more.py") < text.index("program train.py")


def test_a_program_that_fails_is_not_written_down(gradsan, tmp_path):
    (tmp_path / "train.py").write_text(CODE + "raise SystemExit(4)\n")
    ended = gradsan("lock", "train.py")
    assert ended.status == 4
    assert "gradsan.lock is left as it is: the program ended with status 4" in ended.err
    assert not (tmp_path / "gradsan.lock").exists()


def test_without_an_entry_there_is_nothing_to_compare_with(gradsan, tmp_path):
    ended = gradsan("run", "--locked", "train.py")
    assert (ended.status, ended.out) == (2, "")
    assert "there is no gradsan.lock; write it with `gradsan lock`" in ended.err
    (tmp_path / "gradsan.lock").write_text("version 1\n")
    assert "has no entry for 'program train.py'" in gradsan("lock", "--check", "train.py").err
    (tmp_path / "gradsan.lock").write_text("what?\n")
    assert "is no gradsan lock" in gradsan("lock", "train.py").err


@pytest.mark.parametrize("part", ["lock", "judge"])
def test_after_a_fault_of_our_own_nothing_counts_as_compared_or_is_written(
    gradsan, monkeypatch, tmp_path, part
):
    """Also where the fault is not the lock's: the judge says nothing more, so silence would be no answer."""
    assert gradsan("lock", "train.py", "3").status == 0
    before = (tmp_path / "gradsan.lock").read_text()
    if part == "judge":
        monkeypatch.setattr(Engine, "_feed", lambda *_: 1 / 0)
    else:
        monkeypatch.setattr(FlowCollector, "finish", lambda _: 1 / 0)
    assert gradsan("lock", "--check", "train.py", "3").status == 3
    assert gradsan("lock", "train.py", "3").status == 3
    assert (tmp_path / "gradsan.lock").read_text() == before
