"""The benchmark's oracle: what counts as a bug is told by what the optimizer steps consume."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from gradsan_benchmark import forks, oracle, run
from gradsan_benchmark.cases import cases
from gradsan_benchmark.programs import Program
from gradsan_benchmark.recorder import walk
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Said

PROGRAM = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for _ in range(6):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CHANGES = {
    "optimizer.zero_grad()": ("pass", "real"),
    "loss.backward()": ("loss.detach().backward()", "real"),
    ".pow(2).mean()": (".mean().pow(2)", "real"),
    "kept = []": ("kept = [0]", "equivalent"),
    "torch.randn(4, 3)": ("(torch.randn(4, 3) * 3.0 / 3.0)", "equivalent"),
    "backward()": ("backward(retain_graph=True)", "latent"),
    "optimizer.step()": ("optimizer.step(); kept.append(net(torch.ones(3)))", "latent"),
    "    loss.backward()": ("    kept = [net(torch.ones(3))]; loss.backward(); kept = []", "latent"),
    "Linear(3, 1)": ("Linear(4, 1)", "invalid"),
}


@pytest.fixture(scope="module", autouse=True)
def warm():
    threads = torch.get_num_threads()
    forks.warm_up()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    return Program("own/train", "own", folder, "train.py", ("train.py",))


def test_kinds_of_mutants(program):
    script = program.folder / program.script
    original = oracle.run(script, (), 60)
    assert original is not None
    assert not oracle.suitable(original, oracle.run(script, (), 60))
    found = {}
    for old, (new, _) in CHANGES.items():
        script.write_text(PROGRAM.replace(old, new), encoding="utf-8")
        found[old] = oracle.classify(original, oracle.run(script, (), 60)).kind
    assert found == {old: kind for old, (_, kind) in CHANGES.items()}


def test_an_optimizer_at_the_place_of_one_that_is_gone_is_another(program):
    """Its `id` may be the same, or not, as it happens."""
    text = "import torch\nfor _ in range(8):\n    net = torch.nn.Linear(2, 1)\n"
    text += "    optimizer = torch.optim.SGD(net.parameters())\n"
    text += "    net(torch.ones(2)).sum().backward()\n    optimizer.step()\n"
    script = program.folder / program.script
    script.write_text(text, encoding="utf-8")
    record = oracle.run(script, (), 60)
    assert record is not None
    assert [step["optimizer"] for step in record["steps"]] == list(range(8))


def test_guard_that_did_not_act_is_latent():
    same = {"steps": [], "backwards": [], "kept": [], "error": None}
    assert oracle.classify(same, same).kind == "equivalent"
    assert oracle.classify(same, same, guard=True).kind == "latent"


def test_what_did_not_differ_until_the_last_look_is_dropped():
    step = {"optimizer": 0, "digest": "0", "sketch": []}
    long = {"steps": [step] * oracle.UPDATES, "backwards": [], "kept": [], "error": None}
    assert oracle.classify(long, long).kind == "invalid"


def test_tool_that_has_changed_is_asked_again_and_the_oracle_is_not():
    row = {"kind": "real", "tools": {"parrot": {}, "other": {}}}
    run.forget([row], {"parrot"})
    assert row == {"kind": "real", "tools": {"other": {}}}


def test_program_that_never_ends_is_stopped_with_what_it_started(tmp_path):
    path = tmp_path / "endless.py"
    path.write_text("import os\nos.fork()\nwhile True: pass\n", encoding="utf-8")
    assert not forks.call(lambda: forks.script(str(path)), tmp_path, limit=0.3).in_time


class Parrot:
    """Says the same about every program but the original."""

    name, settings = "parrot", "always"

    def __init__(self) -> None:
        self.asked = 0

    def run(self, program: Path, original: Path) -> Said:
        self.asked += 1
        return Said([] if program == original else [Finding("GS401", "train.py", 11)], 0.1)


def test_rows_say_what_was_right_and_are_not_made_twice(program):
    tool, mutants = Parrot(), cases(program, "drop-zero-grad", 9, 0)
    first = list(run.work(run.Job(program, tuple(mutants), (tool,), ())))
    original, mutant = first
    assert (original["kind"], mutant["kind"]) == ("original", "real")
    assert mutant["lines"] == [9, 11]
    assert mutant["tools"]["parrot"]["outcome"] == "code and line"
    assert not list(run.work(run.Job(program, tuple(mutants), (tool,), tuple(first))))
    assert tool.asked == 2


def test_a_matrix_of_pairs_is_more_work_by_the_same_nodes():
    column = torch.ones(4, 1, requires_grad=True)
    alike, pairs = (walk([(column * other).mean().grad_fn]) for other in (torch.ones(4, 1), torch.ones(4)))
    assert alike[:2] == pairs[:2]
    assert alike[2] < pairs[2]


def test_last_digits_by_another_graph_are_latent():
    digits = [1.0] * 8
    steps = [{"optimizer": 0, "digest": d, "sketch": digits} for d in ("a", "b")]
    one, other = ({"steps": [step], "backwards": [[2, 1, 4, 0]], "kept": [], "error": None} for step in steps)
    assert oracle.classify(one, other).kind == "equivalent"
    assert oracle.classify(one, other | {"backwards": [[1, 1, 4, 0]]}).kind == "latent"


@pytest.mark.parametrize(("apart", "kind"), [(1e-6, "equivalent"), (5e-5, "latent"), (5e-4, "real")])
def test_what_is_too_much_for_a_rounding_and_hardly_counts_is_latent(apart, kind):
    sketches = ("a", [1.0] * 8), ("b", [1.0 + apart, *[1.0] * 7])
    steps = [{"optimizer": 0, "digest": d, "sketch": sketch} for d, sketch in sketches]
    one, other = ({"steps": [step], "backwards": [[2, 1, 4, 0]], "kept": [], "error": None} for step in steps)
    assert oracle.classify(one, other).kind == kind
