"""The GitHub Action's own scripts, run as a runner runs them; installing and uploading are left out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())


def run(step: dict[str, Any], here: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    given = {name: str(about["default"]) for name, about in ACTION["inputs"].items()} | inputs
    filled = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], text)
        for name, text in step.get("env", {}).items()
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        bash, cwd=here, env={**os.environ, **filled, "PATH": path}, capture_output=True, text=True
    )


def steps() -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in ACTION["runs"]["steps"]}


def test_it_annotates_the_line_and_fails(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "def update(opt, loss):\n    loss.backward()\n    opt.zero_grad()\n    opt.step()\n"
    )
    seen = run(steps()["Lint"], tmp_path, args="--select GS4")
    assert seen.returncode == 1
    assert "::error file=train.py,line=3,title=GS405 gradient-wiped::" in seen.stdout


def test_it_writes_sarif_for_the_upload_and_leaves_the_verdict_to_the_last_step(tmp_path: Path) -> None:
    (tmp_path / "my code").mkdir()
    (tmp_path / "train.py").write_text("for p in net.parameters():\n    p.grad.clamp(-1, 1)\n")
    seen = run(steps()["Write SARIF"], tmp_path, sarif="my code/out.sarif", args="--fail-on warning")
    assert seen.returncode == 0, seen.stderr
    (result,) = json.loads((tmp_path / "my code/out.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "GS506"
    assert steps()["Upload SARIF"]["with"]["sarif_file"] == "${{ inputs.sarif }}"


def test_no_input_is_pasted_into_a_script() -> None:
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_the_hook_names_a_command_that_is_there() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    seen = run({"run": f"{hook['entry']} --help"}, ROOT)
    assert seen.stdout.startswith("Usage: gradsan lint")
