"""The examples of the rules that compare ranks, on two real ranks that talk through gloo."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from rank_runner import on_ranks
from sharded_programs import SHARDED_BUGS, SHARDED_PROGRAMS, whole

from gradsan.observe.names import _tensors_of as names_of
from gradsan.rules import catalogue
from harness import marked_lines

RULES = {code: rule for code, rule in catalogue().items() if rule.across_ranks}
BAD = [(f"{code}-bad-{i}", code, text) for code, rule in RULES.items() for i, text in enumerate(rule.bad)]
GOOD = [(f"{code}-good-{i}", code, text) for code, rule in RULES.items() for i, text in enumerate(rule.good)]
OLDER = whole(SHARDED_BUGS["an optimizer that is older than the shards"][1])
SHARDED = {"older": OLDER, "sharded": whole(SHARDED_PROGRAMS["sharded"])}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    asked = [{"name": name, "code": text} for name, _, text in BAD + GOOD]
    asked += [{"name": name, "code": text} for name, text in SHARDED.items()]
    return dict(zip((one["name"] for one in asked), on_ranks(tmp_path_factory, asked), strict=True))


def told(report: dict[str, Any]) -> list[Any]:
    return [(f["rule"], f["culprit"] and f["culprit"]["line"], f["message"]) for f in report["findings"]]


@pytest.mark.parametrize(("name", "code", "text"), BAD, ids=[name for name, *_ in BAD])
def test_bad_example_trips_its_rule_on_the_marked_line_of_both_ranks(
    reports: dict[str, Any], name: str, code: str, text: str
) -> None:
    report = reports[name]
    assert not report["faults"], report["faults"][0]["traceback"]
    assert [p["rank"] for p in report["processes"]] == [0, 1]
    assert {f["rule"] for f in report["findings"]} == {code}, told(report)
    assert sorted(f["culprit"]["line"] for f in report["findings"]) == marked_lines(text), told(report)
    assert [f["ranks"] for f in report["findings"]] == [[0, 1]]


@pytest.mark.parametrize(("name", "code", "text"), GOOD, ids=[name for name, *_ in GOOD])
def test_good_example_is_silent(reports: dict[str, Any], name: str, code: str, text: str) -> None:
    report = reports[name]
    assert not report["faults"], report["faults"][0]["traceback"]
    assert [(p["rank"], p["iterations"]) for p in report["processes"]] == [(0, 4), (1, 4)]
    assert not report["findings"], told(report)


def test_an_optimizer_that_is_older_than_the_shards_is_named_where_they_are_made(reports: Any) -> None:
    (found,) = reports["older"]["findings"]
    assert (found["rule"], found["culprit"]["line"]) == ("GS206", *marked_lines(OLDER))
    assert found["subjects"][:2] == ["agent.trunk.0.weight", "agent.trunk.0.bias"]
    assert [len(reports[name]["weights"]) for name in SHARDED] == [2, 2]
    assert not reports["sharded"]["findings"], told(reports["sharded"])
    assert not any(reports[name]["faults"] for name in SHARDED)


def test_a_wrapped_network_has_the_name_of_its_variable() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2))
    outer = torch.nn.ModuleDict({"actor": torch.nn.DataParallel(inner)})
    names = dict.fromkeys(name for name, _ in names_of(outer))
    assert list(names) == ["actor.0.weight", "actor.0.bias"]
