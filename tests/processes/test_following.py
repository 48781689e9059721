"""One run whose script starts processes in many ways, and ends them in as many."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gradsan.judge.report.findings import Report
from gradsan.processes.merge import judged_latest, merged
from gradsan.processes.orders import FOLLOW, START, Orders, given, take_back
from gradsan.rules import catalogue
from sandbox import Sandbox

TRAIN = """
import os, signal, subprocess, sys
import multiprocessing

def train(end):
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = (net(torch.ones(8, 3)) - 1.0).pow(2).mean()
        loss.backward()
        opt.step()  # BUG
    if end == "_exit":
        os._exit(0)
    if end == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "raise":
        loss.backward()

WORKER = "import sys; print('worker', 'gradsan' in sys.modules, any('gradsan' in p for p in sys.path))"

if sys.argv[1:]:
    train("fresh")
elif __name__ == "__main__":
    subprocess.run([sys.executable, "-c", WORKER], check=True)
    subprocess.run([sys.executable, __file__, "fresh"], check=True)
    import torch._dynamo  # what an optimizer imports at its first use: once for all children
    fork = multiprocessing.get_context("fork")
    for end in ("return", "_exit", "terminate", "kill", "raise"):
        child = fork.Process(target=train, args=(end,))
        child.start()
        child.join()
        print(end, child.exitcode, flush=True)
    if not (child := os.fork()):
        train("by hand")
        raise SystemExit(0)
    print("by_hand", os.waitpid(child, 0)[1], flush=True)
"""
ENDS = {"return": "0", "_exit": "0", "terminate": "-15", "kill": "-9", "raise": "1", "by_hand": "0"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sandbox, dict[str, Any], Any]:
    sandbox = Sandbox(tmp_path_factory.mktemp("following"))
    sandbox.write("train.py", TRAIN)
    (sandbox.path / "tmp").mkdir()
    sandbox.env["TMPDIR"] = str(sandbox.path / "tmp")
    seen = sandbox.gradsan("run", "--format", "json", "--trace", "traces/", "train.py", timeout=600)
    return sandbox, json.loads(seen.stderr[seen.stderr.index("\n{\n") :]), seen


def test_the_script_runs_as_it_would_alone(run: Any) -> None:
    _, _, seen = run
    assert "worker False False" in seen.stdout
    assert dict(line.split() for line in seen.stdout.splitlines()[1:]) == ENDS
    assert "gradsan/" not in seen.stderr[: seen.stderr.index("\n{\n")]  # no frame of ours in a traceback


def test_a_finding_in_children_is_one_finding_with_its_processes_and_fails_the_run(run: Any) -> None:
    _, report, seen = run
    (found,) = [f for f in report["findings"] if f["rule"] == "GS401"]
    assert len(found["processes"]) == 7
    assert found["count"] == 7 * 3
    assert seen.returncode == 1


def test_every_process_that_imported_torch_left_a_trace_however_it_ended(run: Any) -> None:
    sandbox, report, _ = run
    trained = [p for p in report["processes"] if p["iterations"]]
    assert [p["iterations"] for p in trained] == [4] * 7
    assert not [p for p in report["processes"] if p["not_evaluated"]]
    assert sum(not p["ended"] for p in trained) == 1  # the one that was killed outright
    assert len(list((sandbox.path / "traces").iterdir())) == 8


def test_the_folder_is_judged_again_in_the_same_way(run: Any) -> None:
    sandbox, report, _ = run
    rules = list(catalogue().values())
    again: Report = merged(*judged_latest(sandbox.path / "traces", rules, False), rules)
    keys = ("rule", "count", "first_iteration")
    assert [[getattr(f, key) for key in keys] for f in again.findings] == [
        [f[key] for key in keys] for f in report["findings"]
    ]


def test_nothing_is_left_behind_but_the_traces(run: Any) -> None:
    sandbox, _, _ = run
    assert sorted(path.name for path in sandbox.path.iterdir()) == ["tmp", "traces", "train.py"]
    assert not list((sandbox.path / "tmp").iterdir())


def test_orders_are_given_and_taken_back_without_a_trace(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join(["mine", "", "other"])}
    orders = Orders(str(tmp_path), str(tmp_path), "train.py", "deep", "/", ("pkg",), ("GS401",))
    orders.give(environment)
    orders.give(environment)
    assert environment["PYTHONPATH"].split(os.pathsep) == [START, "mine", "", "other"]
    assert given(environment) == orders
    take_back(environment)
    assert environment == {"PYTHONPATH": os.pathsep.join(["mine", "", "other"])}


def test_orders_of_a_run_that_is_over_are_none(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    Orders(str(tmp_path), str(tmp_path / "gone"), "train.py", "deep", "/").give(environment)
    assert given(environment) is None
    assert given({FOLLOW: "{"}) is None
