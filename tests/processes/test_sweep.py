"""What `make test` has no time for: many programs on ranks, torchrun both ways round, killed ranks, pools, A3C, and 200
children one after the other."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rank_programs import BUGS, HEAD, PROGRAMS, TAIL
from rank_runner import on_ranks
from sharded_programs import SHARDED_BUGS, SHARDED_PROGRAMS, whole

from harness import marked_lines
from sandbox import Sandbox

PATIENCE = 600
RIGHT = {name: HEAD + code + TAIL for name, code in PROGRAMS.items()}
RIGHT |= {name: whole(code) for name, code in SHARDED_PROGRAMS.items()}
WRONG = {name: (rule, HEAD + code + TAIL) for name, (rule, code) in BUGS.items()}
WRONG |= {name: (rule, whole(code)) for name, (rule, code) in SHARDED_BUGS.items()}
TRAIN = HEAD + PROGRAMS["plain"] + TAIL
ASYNCHRONOUS = """
import torch
import torch.multiprocessing as mp

def work(shared, optimizer_of, number):
    torch.manual_seed(number)
    own = torch.nn.Linear(4, 1)
    opt = torch.optim.SGD(shared.parameters(), lr=0.01)
    for _ in range(20):
        own.load_state_dict(shared.state_dict())
        opt.zero_grad()
        own.zero_grad()
        (own(torch.randn(8, 4)) - 1.0).pow(2).mean().backward()
        for mine, theirs in zip(own.parameters(), shared.parameters()):
            theirs.grad = mine.grad
        opt.step()

if __name__ == "__main__":
    mp.set_start_method("METHOD")
    shared = torch.nn.Linear(4, 1)
    shared.share_memory()
    workers = [mp.Process(target=work, args=(shared, None, number)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
"""
POOLS = """
import concurrent.futures, multiprocessing
import torch
import torch._dynamo
from torch.utils.data import DataLoader, TensorDataset

def train(number):
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        (net(torch.ones(8, 3)) - 1.0).pow(2).mean().backward()
        opt.step()  # BUG
    return number

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(train, range(2)))
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        print(list(pool.map(train, range(1))))
    data = DataLoader(TensorDataset(torch.arange(8.0)), num_workers=2)
    print(sum(float(batch) for batch, in data))
"""
MANY = """
import os, torch, torch._dynamo  # what an optimizer imports at its first use, once for all children
for number in range(200):
    if not (child := os.fork()):
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(4, 2)).mean().backward()
        opt.step()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    asked = [
        {"name": name, "code": code, "mode": mode}
        for name, code in RIGHT.items()
        for mode in ("bare", "adaptive", "deep")
    ]
    asked += [{"name": name, "code": code, "mode": "adaptive"} for name, (_, code) in WRONG.items()]
    found = on_ranks(tmp_path_factory, asked)
    return {(one["name"], one["mode"]): report for one, report in zip(asked, found, strict=True)}


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_clean_and_has_the_same_bits_on_every_rank(
    reports: Any, name: str, mode: str
) -> None:
    bare, report = reports[name, "bare"], reports[name, mode]
    assert len(bare["weights"]) == 2
    assert report["weights"] == bare["weights"]
    assert not report["faults"], report["faults"][0]["traceback"]
    assert not report["findings"], report["findings"]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_told_with_its_rule_and_line(reports: Any, name: str) -> None:
    rule, code = WRONG[name]
    found = [(f["rule"], f["culprit"]["line"], f["ranks"]) for f in reports[name, "adaptive"]["findings"]]
    assert found == [(rule, *marked_lines(code), [0, 1])]


def test_four_ranks(tmp_path_factory: pytest.TempPathFactory) -> None:
    _, code = BUGS["every fourth step is not averaged"]
    asked = [{"name": "four", "code": HEAD + code + TAIL, "mode": "adaptive", "world": 4}]
    (report,) = on_ranks(tmp_path_factory, asked)
    assert [(f["rule"], f["ranks"]) for f in report["findings"]] == [("GS701", [0, 1, 2, 3])]


def test_four_ranks_have_the_same_bits(tmp_path_factory: pytest.TempPathFactory) -> None:
    asked = [
        {"name": "four", "code": TRAIN, "mode": mode, "world": 4} for mode in ("bare", "adaptive", "deep")
    ]
    bare, *watched = on_ranks(tmp_path_factory, asked)
    assert len(bare["weights"]) == 4
    for report in watched:
        assert report["weights"] == bare["weights"]
        assert not report["findings"]
        assert [p["rank"] for p in report["processes"]] == [0, 1, 2, 3]


def launched(sandbox: Sandbox, *command: str) -> subprocess.CompletedProcess[str]:
    sandbox.env["OUT"] = "weights-"
    return sandbox._run([str(Path(sys.executable).with_name(command[0])), *command[1:]], timeout=PATIENCE)


WAYS = {
    "gradsan outside": (
        "gradsan",
        "run",
        "--trace",
        "t/",
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
    ),
    "torchrun outside": ("torchrun", "--nproc-per-node", "2", "-m", "gradsan", "run", "--trace", "t/"),
}


@pytest.mark.parametrize("way", WAYS)
def test_torchrun_both_ways_round(sandbox: Sandbox, way: str) -> None:
    sandbox.write("train.py", TRAIN)
    (sandbox.path / "tmp").mkdir()
    sandbox.env["TMPDIR"] = str(sandbox.path / "tmp")
    assert launched(sandbox, "torchrun", "--nproc-per-node", "2", "train.py").returncode == 0
    bare = [sandbox.read(f"weights-{rank}") for rank in range(2)]
    seen = launched(sandbox, *WAYS[way], "train.py")
    assert seen.returncode == 0
    assert [sandbox.read(f"weights-{rank}") for rank in range(2)] == bare
    assert len(re.findall(r"rank [01] \(process \d+\): 40 iterations", seen.stderr)) == 2
    assert seen.stderr.count("no findings in 40 iterations") == 1
    assert not list((sandbox.path / "tmp").glob("gradsan*"))


def test_ranks_under_torchrun_fail_only_once_all_are_done(sandbox: Sandbox) -> None:
    _, code = BUGS["the network by its old name"]
    sandbox.write("train.py", HEAD + code + "if rank:\n    __import__('time').sleep(2)\n" + TAIL)
    seen = launched(sandbox, *WAYS["torchrun outside"], "train.py")
    assert seen.returncode == 1
    assert "GS703 bypassed-reducer" in seen.stderr
    assert all((sandbox.path / f"weights-{rank}").exists() for rank in range(2))


def test_a_rank_that_is_killed_leaves_what_it_had(sandbox: Sandbox) -> None:
    kill = "    if rank and _ == 10:\n        os.kill(os.getpid(), 9)\n    opt.step()"
    sandbox.write("train.py", TRAIN.replace("    opt.step()", kill))
    seen = launched(sandbox, *WAYS["gradsan outside"], "train.py")
    assert seen.returncode not in (0, -signal.SIGKILL)
    assert re.search(r"rank 1 \(process \d+\): \d+ iterations? \(\d+ deep\), broken off", seen.stderr)


def test_a_rank_without_a_trace_is_not_evaluated(sandbox: Sandbox) -> None:
    sandbox.write("train.py", TRAIN)
    launched(sandbox, *WAYS["gradsan outside"], "train.py")
    for path in (sandbox.path / "t").iterdir():
        if json.loads(path.read_text().splitlines()[0])["process"].get("rank") == 1:
            path.unlink()
    report = json.loads(sandbox.gradsan("report", "t", "--format", "json", timeout=PATIENCE).stdout)
    assert [p["not_evaluated"] for p in report["processes"] if p["rank"] == 1] == ["it left no trace"]
    assert {entry["rule"] for entry in report["not_evaluated"]} >= {"GS701", "GS702", "GS703", "GS704"}


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_asynchronous_workers_are_watched_and_clean(sandbox: Sandbox, method: str) -> None:
    sandbox.write("a3c.py", ASYNCHRONOUS.replace("METHOD", method))
    seen = sandbox.gradsan("run", "--format", "json", "a3c.py", timeout=PATIENCE)
    report = json.loads(seen.stderr)
    assert (seen.returncode, seen.stdout) == (0, "[0, 0]\n")
    assert not report["findings"]
    assert [p["iterations"] for p in report["processes"] if p["iterations"]] == [20, 20]


def test_pools_and_data_loaders_are_followed(sandbox: Sandbox) -> None:
    sandbox.write("pools.py", POOLS)
    seen = sandbox.gradsan("run", "--format", "json", "pools.py", timeout=PATIENCE)
    assert seen.stdout == "[0, 1]\n[0]\n28.0\n"
    (found,) = json.loads(seen.stderr)["findings"]
    assert found["rule"] == "GS401"
    assert seen.returncode == 1


def test_200_children_leave_their_traces_and_nothing_else(sandbox: Sandbox) -> None:
    sandbox.write("many.py", MANY)
    (sandbox.path / "tmp").mkdir()
    sandbox.env["TMPDIR"] = str(sandbox.path / "tmp")
    seen = sandbox.gradsan("run", "--trace", "t/", "many.py", timeout=PATIENCE)
    assert seen.returncode == 0, seen.stderr
    assert len(list((sandbox.path / "t").iterdir())) == 201
    assert not list((sandbox.path / "tmp").glob("gradsan*"))
    assert sorted(os.listdir(sandbox.path)) == ["many.py", "t", "tmp"]
    assert not running_in(sandbox.path)


def running_in(folder: Path) -> list[str]:
    """The processes that are still at work in this folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                if Path(os.readlink(process / "cwd")) == folder:
                    found.append(process.name)
    return found
