"""Traces of several processes, put together without any of them running."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradsan.judge.report.findings import Report
from gradsan.processes.folder import SUFFIX
from gradsan.processes.merge import judged_latest, merged
from gradsan.record.events import (
    Digest,
    Event,
    Group,
    IterationEnd,
    OptimizerId,
    OptimizerSeen,
    ParamId,
    ParamSeen,
    RankStep,
    Site,
    SiteSeen,
    Step,
    StepDone,
    Wrapped,
)
from gradsan.record.trace import TraceError, TraceWriter
from gradsan.rules import catalogue

RULES = list(catalogue().values())
PARAM, OPTIMIZER, MADE, STEPPED = ParamId(1), OptimizerId(1), Site(1), Site(2)


def steps(rank: int, norms: list[float]) -> list[Event]:
    """A rank whose one parameter is wrapped and gets gradients of these norms."""
    begin: list[Event] = [
        Group(rank, 2),
        SiteSeen(MADE, "train.py", 3, "<module>"),
        SiteSeen(STEPPED, "train.py", 9, "<module>"),
        ParamSeen(PARAM, "parameter", (4,), True, MADE, "net.weight"),
        Wrapped(1, MADE, (PARAM,), 2),
        OptimizerSeen(OPTIMIZER, "SGD", (PARAM,), MADE),
    ]
    for iteration, norm in enumerate(norms):
        digest = Digest(PARAM, norm, norm, 1.0, 1.0)
        begin += [
            RankStep(iteration, OPTIMIZER, STEPPED, (digest,)),
            Step(OPTIMIZER, STEPPED, (PARAM,)),
            StepDone(OPTIMIZER),
            IterationEnd(),
        ]
    return begin


def write(folder: Path, pid: int, events: list[Event], **about: Any) -> Path:
    path = folder / f"host-{pid}{SUFFIX}"
    process = {"pid": pid, "parent": 1, "host": "host"}
    given = {"run": "one", "began": 100.0, "mode": "light", "script": "train.py", **about}
    writer = TraceWriter(path, process=process, **given)
    for event in events:
        writer.feed(event)
    writer.finish()
    return path


def report_of(folder: Path) -> Report:
    return merged(*judged_latest(folder, RULES, False), RULES)


def of_ranks(report: Report) -> list[Any]:
    return [
        (f.rule, f.culprit and f.culprit.line, f.ranks) for f in report.findings if f.rule.startswith("GS7")
    ]


def test_ranks_that_step_with_other_gradients_are_told(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5, 0.5, 0.25]))
    write(tmp_path, 2, steps(1, [0.5, 0.5, 0.75]))
    report = report_of(tmp_path)
    assert of_ranks(report) == [("GS701", 9, [0, 1])]
    (told,) = [f.message for f in report.findings if f.rule == "GS701"]
    assert "from iteration 3 on" in told
    assert [(p.rank, p.iterations) for p in report.processes] == [(0, 3), (1, 3)]


def test_ranks_that_do_the_same_are_silent(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5, 0.25]))
    write(tmp_path, 2, steps(1, [0.5, 0.25]))
    assert not of_ranks(report_of(tmp_path))


def test_ranks_of_a_batch_system_are_one_run(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5]), run="mine")
    write(tmp_path, 2, steps(1, [0.7]), run="yours", began=130.0)
    assert of_ranks(report_of(tmp_path)) == [("GS701", 9, [0, 1])]


def test_an_earlier_run_in_the_same_folder_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5]))
    write(tmp_path, 2, steps(1, [0.5]))
    write(tmp_path, 3, steps(1, [0.9]), run="earlier", began=-9_000.0)
    assert [p.pid for p in report_of(tmp_path).processes] == [1, 2]


def test_of_a_rank_that_was_started_again_the_last_one_counts(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5]))
    write(tmp_path, 2, steps(1, [0.9]))
    write(tmp_path, 3, steps(1, [0.5]), began=160.0)
    report = report_of(tmp_path)
    assert [p.pid for p in report.processes] == [1, 3]
    assert not of_ranks(report)


def test_a_rank_that_left_nothing_is_not_evaluated(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5]))
    report = report_of(tmp_path)
    assert [(p.rank, p.not_evaluated) for p in report.processes] == [(0, ""), (1, "it left no trace")]
    assert {"GS701", "GS704"} <= {entry["rule"] for entry in report.not_evaluated}


def test_a_trace_that_cannot_be_read_is_a_process_that_was_not_evaluated(tmp_path: Path) -> None:
    write(tmp_path, 1, steps(0, [0.5]))
    (tmp_path / f"host-2{SUFFIX}").write_text("")
    report = report_of(tmp_path)
    assert "is not a gradsan trace" in next(p.not_evaluated for p in report.processes if p.pid == 2)


def test_a_folder_with_nothing_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no trace that can be read"):
        judged_latest(tmp_path, RULES, False)
