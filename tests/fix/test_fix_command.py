"""`gradsan fix` from the command line to the file on disk. All but one test run their trials in forks."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import forked
from gradsan.cli import main
from gradsan.fix import trial
from marked import write
from sandbox import CLEAN, STALE, Sandbox

STEP = "    loss.backward()\n    opt.step()  # BUG\n"
MENDED = "    opt.zero_grad()\n    loss.backward()\n    opt.step()  # BUG\n"
TWO = """
import torch
torch.manual_seed(0)
q = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(6):
    s, a, r, s2 = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.randn(8, 3)
    target = r + 0.99 * q(s2).max(1).values
    loss = torch.nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), target)
    loss.backward()
    opt.step()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trial, "in_a_new_process", forked.launch)
    return tmp_path


def fix(*args: str, answers: str = "") -> Result:
    return CliRunner().invoke(main, ["fix", "--no-config", *args], input=answers)


def test_a_verified_repair_is_written_when_the_answer_is_yes(folder: Path) -> None:
    script = write(folder, "train.py", STALE)
    result = fix("train.py", answers="y\n")
    assert result.exit_code == 0, result.output
    assert script.read_text() == STALE.lstrip("\n").replace(STEP, MENDED)
    assert "GS401 stale-gradient at train.py:7" in result.output
    assert "verified: clear the gradients before the backward." in result.output
    assert "`net.bias`, `net.weight` differ, first at step 2" in result.output


def test_no_answer_is_a_no(folder: Path) -> None:
    script = write(folder, "train.py", STALE)
    result = fix("train.py")
    assert result.exit_code == 1
    assert script.read_text() == STALE.lstrip("\n")
    assert "1 finding, 0 mended, 1 left." in result.output


def test_ctrl_c_at_a_question_ends_it_and_keeps_what_was_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write(folder, "train.py", TWO)
    answers = iter([True])

    def confirm(*_: object, **__: object) -> bool:
        """As click's own does it: the same error for Ctrl-C as for the end of the input."""
        for answer in answers:
            return answer
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise click.Abort from None

    monkeypatch.setattr(click, "confirm", confirm)
    result = fix("train.py")
    assert (result.exit_code, result.output[-9:]) == (1, "Aborted!\n")
    assert script.read_text() == TWO.lstrip("\n").replace("    loss.b", "    opt.zero_grad()\n    loss.b")


def test_apply_keeps_line_ends_permissions_and_links(folder: Path) -> None:
    data = STALE.lstrip("\n").replace("\n", "\r\n").encode()
    real = folder / "real.py"
    real.write_bytes(data)
    real.chmod(0o754)
    (folder / "train.py").symlink_to("real.py")
    assert fix("--apply", "train.py").exit_code == 0
    assert real.read_bytes() == data.replace(
        STEP.replace("\n", "\r\n").encode(), MENDED.replace("\n", "\r\n").encode()
    )
    assert stat.S_IMODE(real.stat().st_mode) == 0o754
    assert (folder / "train.py").is_symlink()
    assert sorted(os.listdir(folder)) == ["real.py", "train.py"]


def test_a_file_in_another_encoding_is_read_shown_and_written_in_it(folder: Path) -> None:
    script = folder / "train.py"
    data = ("# -*- coding: latin-1 -*-\n" + STALE.replace("# BUG", "# étape")).encode("latin-1")
    script.write_bytes(data)
    result = fix("--apply", "train.py")
    assert result.exit_code == 0, result.output
    assert script.read_bytes() == data.replace(
        b"    loss.backward()", b"    opt.zero_grad()\n    loss.backward()"
    )
    aside = STALE.replace("    loss.backward()", "    loss.backward()  # à rebours")
    script.write_bytes(("# -*- coding: latin-1 -*-\n" + aside).encode("latin-1"))
    assert "     loss.backward()  # à rebours\n" in fix("train.py").output


def test_several_findings_are_mended_on_top_of_each_other_and_the_patch_applies(folder: Path) -> None:
    script = write(folder, "train.py", TWO)
    result = fix("--diff", "train.py")
    assert result.exit_code == 0, result.output
    assert script.read_text() == TWO.lstrip("\n"), "a patch is printed, and nothing is written"
    git = shutil.which("git")
    assert git, "git is needed to try the patch"
    subprocess.run([git, "apply", "-"], input=result.stdout, text=True, cwd=folder, check=True)
    repaired = script.read_text()
    assert ".detach()" in repaired
    assert "    opt.zero_grad()\n    loss.backward()" in repaired
    assert fix("train.py").output.endswith("No findings.\n")


def test_a_repair_that_is_not_verified_is_marked(folder: Path) -> None:
    """A crash that comes with the repair: the list of gradients is not there any more."""
    text = STALE.replace(
        "    opt.step()  # BUG\n", "    opt.step()  # BUG\n    seen.append(net.weight.grad.norm())\n"
    )
    text = text.replace("def update", "seen = []\ndef update") + "assert len(seen) < 2 or seen[1] > seen[0]\n"
    write(folder, "train.py", text)
    result = fix("--unverified", "train.py", "x")
    assert result.exit_code == 1
    assert (
        "NOT VERIFIED: clear the gradients before the backward. With it, the program ends with Asser"
        in result.output
    )


def test_a_report_says_what_to_mend_and_what_to_run(folder: Path) -> None:
    write(folder, "train.py", TWO)
    where = {"file": "train.py", "line": 10, "function": "<module>", "code": "opt.step()"}
    found = {
        "rule": "GS401", "name": "stale-gradient", "severity": "error", "message": "m", "fix": "f",
        "culprit": where, "sites": [], "subjects": [], "count": 1, "first_iteration": 2,
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps({"script": "train.py", "findings": [found]}))
    result = fix("--diff", "--from", "report.json")
    assert "opt.zero_grad()" in result.stdout
    assert "detach" not in result.stdout
    assert fix("--from", "train.py").exit_code == 2


def test_a_module_is_repaired_where_it_lies(folder: Path) -> None:
    (folder / "agents").mkdir()
    (folder / "agents" / "__init__.py").touch()
    script = write(folder / "agents", "train.py", STALE)
    result = fix("--apply", "-m", "agents.train", "--steps", "3")
    assert result.exit_code == 0, result.output
    assert script.read_text() == STALE.lstrip("\n").replace(STEP, MENDED)
    missing = fix("-m", "agents.play")
    assert missing.exit_code == 2
    assert "there is no module of that name" in missing.output


def test_a_clean_program_has_nothing_left(folder: Path) -> None:
    write(folder, "train.py", CLEAN)
    result = fix("train.py")
    assert (result.exit_code, result.stdout) == (0, "No findings.\n")


@pytest.mark.parametrize(
    "args", [[], ["--apply", "--diff", "train.py"], ["nothing.py"], ["--select", "GS0", "train.py"]]
)
def test_bad_usage(folder: Path, args: list[str]) -> None:
    write(folder, "train.py", CLEAN)
    assert fix(*args).exit_code == 2


def test_a_module_beside_the_script_is_replaced_for_the_trial_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The real thing: new processes, the script's own arguments, a repair in an imported file."""
    sandbox = Sandbox(tmp_path)
    sandbox.write("agent.py", STALE.replace("for _ in range(4):\n    update()\n", ""))
    sandbox.write("train.py", "import sys, agent\nfor _ in range(int(sys.argv[1])):\n    agent.update()\n")
    result = sandbox.gradsan("fix", "--apply", "train.py", "5")
    assert result.returncode == 0, result.stderr
    assert MENDED in sandbox.read("agent.py")
    assert "in 5 updates" in result.stdout
