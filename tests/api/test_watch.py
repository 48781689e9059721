"""`gradsan.watch`: what it finds, when it raises, and that nothing of it stays."""

from __future__ import annotations

import re
import threading
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import torch

import gradsan
from gradsan.api.report import WatchReport
from gradsan.judge.report.baseline import Baseline
from gradsan.observe.session import Session
from gradsan.runner.versions import OLDEST, too_old
from training import bug_line, clean, mutated, net, raised_line, stale


def test_the_report_holds_the_finding_at_the_line_of_the_bug() -> None:
    with gradsan.watch() as report:
        stale()
    assert [(f.rule, f.culprit.line) for f in report.findings] == [("GS401", bug_line(stale))]
    assert report.finished
    assert report.iterations == 4
    assert not report.faults


def test_clean_training_is_clean() -> None:
    with gradsan.watch() as report:
        clean()
    assert (report.findings, report.faults) == ([], [])


def test_the_report_is_live_inside_the_block() -> None:
    with gradsan.watch() as report:
        assert report.findings == []
        stale()
        assert [f.rule for f in report.findings] == ["GS401"]
        assert not report.finished


def test_the_training_is_the_same_bit_by_bit() -> None:
    def weights() -> torch.Tensor:
        torch.manual_seed(7)
        model = net()
        opt = torch.optim.Adam(model.parameters())
        for _ in range(20):
            loss = (model(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        return torch.cat([model.weight.detach().flatten(), torch.rand(1)])

    plain = weights()
    with gradsan.watch("deep"):
        watched = weights()
    assert torch.equal(plain, watched)


@pytest.mark.parametrize(
    ("given", "found"),
    [({"ignore": "GS401"}, []), ({"select": ["GS1", "GS3"]}, []), ({"select": "stale-gradient"}, ["GS401"])],
)
def test_rules_are_chosen_by_code_name_or_prefix(given: dict[str, object], found: list[str]) -> None:
    with gradsan.watch(**given) as report:
        stale()
    assert [f.rule for f in report.findings] == found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "deeep"}, "mode must be"),
        ({"raise_on": "fatal"}, "raise_on must be"),
        ({"ignore": "GS999"}, "no rule 'GS999'"),
    ],
)
def test_bad_arguments_are_refused_at_once(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gradsan.watch(**given)


# -- on_finding and raise_on -----------------------------------------------------------------------


def test_on_finding_is_called_once_per_culprit_while_the_training_runs() -> None:
    seen: list[tuple[str, bool]] = []
    with gradsan.watch(on_finding=lambda f: seen.append((f.rule, report.finished))) as report:
        stale(8)
    assert seen == [("GS401", False)]


def test_raise_on_stops_on_the_line_before_the_step_is_taken() -> None:
    with (
        pytest.raises(gradsan.GradientError, match="GS401 stale-gradient") as caught,
        gradsan.watch(raise_on="error"),
    ):
        stale()
    assert raised_line(caught.value) == bug_line(stale)
    assert caught.value.finding.rule == "GS401"


def test_raise_on_error_lets_a_warning_pass_and_raise_on_warning_does_not() -> None:
    def retained() -> None:
        model = net()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(12):
            loss = model(torch.ones(8, 3)).pow(2).mean()
            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()

    with gradsan.watch(raise_on="error") as report:
        retained()
    assert [f.severity for f in report.findings] == ["warning"]
    with pytest.raises(gradsan.GradientError, match="GS406"), gradsan.watch(raise_on="warning"):
        retained()


def test_after_a_raise_that_was_caught_the_watch_goes_on() -> None:
    with gradsan.watch("deep", raise_on="error") as report:
        with pytest.raises(gradsan.GradientError):
            stale()
        clean(8)
        with pytest.raises(gradsan.GradientError, match="GS101") as caught:
            mutated()
    assert {f.rule for f in report.findings} == {"GS401", "GS101"}
    assert "modified by an inplace operation" in str(caught.value.__cause__)
    assert not report.faults


def test_what_on_finding_raises_comes_out_at_the_training_line() -> None:
    class Enough(Exception):
        pass

    def stop(finding: gradsan.Finding) -> None:
        raise Enough

    with pytest.raises(Enough) as caught, gradsan.watch(on_finding=stop) as report:
        stale()
    assert raised_line(caught.value) == bug_line(stale)
    assert not report.faults


def test_a_finding_that_only_the_end_shows_raises_at_the_end_of_the_block() -> None:
    done = []

    def unused() -> None:
        model, spare = net(), net()
        opt = torch.optim.SGD([*model.parameters(), *spare.parameters()], lr=0.1)
        for _ in range(6):
            opt.zero_grad()
            model(torch.ones(8, 3)).pow(2).mean().backward()
            opt.step()
        done.append(True)

    with pytest.raises(gradsan.GradientError, match="GS204"), gradsan.watch(raise_on="warning"):
        unused()
    assert done


def test_the_users_exception_passes_and_is_explained() -> None:
    with pytest.raises(RuntimeError, match="modified by an inplace") as caught, gradsan.watch() as report:
        mutated()
    assert not isinstance(caught.value, gradsan.GradientError)
    assert [(f.rule, f.culprit.line) for f in report.findings] == [("GS101", bug_line(mutated))]


# -- decorator, nesting, threads -------------------------------------------------------------------


def test_as_a_decorator_every_call_has_a_report_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    @gradsan.watch
    def train(function: object) -> str:
        function()
        return "trained"

    assert train(clean) == "trained"
    assert not train.gradsan_report.findings
    assert capsys.readouterr().err == ""
    train(stale)
    assert [f.rule for f in train.gradsan_report.findings] == ["GS401"]
    assert "GS401 stale-gradient" in capsys.readouterr().err


def test_a_generator_cannot_be_decorated() -> None:
    with pytest.raises(TypeError, match="around the training inside"):

        @gradsan.watch()
        def train():
            yield


def test_a_recursive_function_can_be_decorated() -> None:
    @gradsan.watch()
    def train(depth: int) -> None:
        clean(1)
        if depth:
            train(depth - 1)

    train(2)


def test_an_inner_watch_joins_the_outer_one_and_reports_what_happened_inside() -> None:
    with gradsan.watch() as outer:
        stale()
        with gradsan.watch("deep") as inner:
            clean()
        with gradsan.watch() as again:
            stale()
    assert [f.rule for f in outer.findings] == ["GS401"]
    assert inner.findings == []
    assert [f.rule for f in again.findings] == ["GS401"]


def test_entering_the_same_watch_twice_is_refused_and_one_after_the_other_is_fine() -> None:
    watching = gradsan.watch()
    with watching as first:
        with pytest.raises(RuntimeError, match="running already"):
            watching.__enter__()
        stale()
    with watching as second:
        clean()
    assert (len(first.findings), len(second.findings)) == (1, 0)


def in_thread(function: object) -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("mode", ["adaptive", "deep", "light"])
def test_training_in_a_thread_is_watched(mode: str) -> None:
    with gradsan.watch(mode) as report:
        in_thread(lambda: stale(20))
    assert [(f.rule, f.culprit.line) for f in report.findings] == [("GS401", bug_line(stale))]
    assert not report.faults


def test_operations_in_a_thread_are_traced_from_its_first_line() -> None:
    with pytest.raises(RuntimeError, match="modified by an inplace"), gradsan.watch() as report:
        in_thread(mutated)
    assert [(f.rule, f.culprit.line) for f in report.findings] == [("GS101", bug_line(mutated))]


def test_a_watch_opened_in_a_thread_works_and_leaves_that_thread_clean() -> None:
    reports: list[WatchReport] = []
    heights: list[int] = []

    def run() -> None:
        with gradsan.watch() as report:
            stale()
        reports.append(report)
        heights.append(torch._C._len_torch_function_stack())

    in_thread(run)
    assert [f.rule for f in reports[0].findings] == ["GS401"]
    assert heights == [0]


def test_a_watch_that_joined_from_another_thread_may_outlast_the_one_it_joined() -> None:
    joined, closed = threading.Event(), threading.Event()
    reports: list[WatchReport] = []

    def run() -> None:
        with gradsan.watch() as inner:
            stale()
            joined.set()
            closed.wait(60)
            clean()
        reports.append(inner)

    thread = threading.Thread(target=run)
    with gradsan.watch() as outer:
        thread.start()
        joined.wait(60)
    closed.set()
    thread.join()
    assert [f.rule for f in outer.findings] == ["GS401"]
    assert [f.rule for f in reports[0].findings] == ["GS401"]


def test_a_function_mode_of_the_users_survives_the_change_to_light() -> None:
    with gradsan.watch() as report, torch.device("meta"):
        with torch.device("cpu"):
            clean(40)
        assert torch.zeros(1).device.type == "meta"
    assert not report.faults


def test_the_default_device_can_be_changed_while_the_watch_goes_deep_and_light() -> None:
    try:
        with gradsan.watch() as report:
            torch.set_default_device("cpu")
            clean(40)
            torch.set_default_device("meta")
            assert torch.zeros(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert not report.faults


def test_a_trace_can_be_judged_again(tmp_path) -> None:
    from gradsan.cli.report import judge
    from gradsan.rules import catalogue

    with gradsan.watch(trace=tmp_path / "run.trace"):
        stale()
    again = judge(tmp_path / "run.trace", list(catalogue().values()))
    assert [f.rule for f in again.findings] == ["GS401"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"select": ""}, "'' names no rule"),
        ({"ignore": ["GS"]}, "no rule is left"),
        ({"include": "tortch"}, "there is no package 'tortch'; did you mean torch?"),
    ],
)
def test_what_would_be_ignored_in_silence_is_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        gradsan.watch(**given)


def test_what_is_in_the_baseline_is_neither_reported_nor_raised(tmp_path: Path) -> None:
    with gradsan.watch() as report:
        stale()
    known = Baseline(str(tmp_path / "known.json"), Counter())
    known.path.write_text(known.updated(report.snapshot()))
    told: list[gradsan.Finding] = []
    with gradsan.watch(baseline=known.path, raise_on="error", on_finding=told.append) as report:
        stale()
        assert report.findings == []
    assert (report.findings, told) == ([], [])
    assert report.as_dict()["baseline"]["hidden"] == 1
    with pytest.raises(ValueError, match="cannot read the baseline"):
        gradsan.watch(baseline="no.json")


# -- what cannot be watched --------------------------------------------------------------------------


def untappable(session: Session) -> Session:
    raise AttributeError("no tap fits")


def test_a_watch_that_could_not_begin_says_so_and_leaves_the_training_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    with gradsan.watch() as report:
        stale()
    assert not report.watched
    assert report.not_watched == "the taps could not be installed (AttributeError: no tap fits)"
    assert report.as_dict()["watched"] is False
    assert f"gradsan: nothing was watched: {report.not_watched}" in report.text()
    assert "nothing was watched" in repr(report)


@pytest.mark.parametrize("broken", ["gradsan.api.watch.chosen", "gradsan.api.watch_context.Watch.start"])
@pytest.mark.parametrize("error", [KeyError, ValueError, OSError])
def test_a_fault_while_it_opens_is_said_and_the_block_runs(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], broken: str, error: type[Exception]
) -> None:
    def fails(*_: object) -> None:
        raise error("ours")

    monkeypatch.setattr(broken, fails)
    with gradsan.watch() as report:
        stale()
    assert report.not_watched == "a fault of gradsan's own"
    assert [fault["tap"] for fault in report.faults] == ["watch"]
    assert f"{error.__name__}: " in capfd.readouterr().err
    monkeypatch.undo()
    with gradsan.watch() as report:  # nothing of the first one is in the way
        stale()
    assert [f.rule for f in report.findings] == ["GS401"]


def test_a_fault_while_it_ends_is_said_and_the_block_has_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("gradsan.api.watch_context.Watch.finish", fails)
    watching = gradsan.watch()
    with watching as report:
        clean()
        watch = watching._watch
    assert report.not_watched == "a fault of gradsan's own"
    assert "KeyError: 'ours'; the code goes on without gradsan" in capfd.readouterr().err
    monkeypatch.undo()
    watch.finish()


def test_a_trace_that_cannot_be_written_is_the_users_to_know(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-folder"):
        gradsan.watch(trace=tmp_path / "no-such-folder" / "trace").__enter__()


def test_a_watched_report_says_so() -> None:
    with gradsan.watch() as report:
        clean()
    assert (report.watched, report.not_watched) == (True, "")
    assert {report.as_dict()[key] for key in ("script_status", "exit", "not_watched")} == {None}


def test_a_decorated_function_says_that_it_was_not_watched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    gradsan.watch(on_finding=print)(stale)()
    assert "gradsan: nothing was watched: the taps" in capsys.readouterr().err


def test_a_torch_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(RuntimeError, match=r"^gradsan needs torch 2\.6 or newer; this is 2\.5\.1$"):
        gradsan.watch().__enter__()
    monkeypatch.undo()
    with gradsan.watch() as report:  # nothing of the first one is in the way
        stale()
    assert [f.rule for f in report.findings] == ["GS401"]


@pytest.mark.parametrize(
    "version", ["2.6.0", "2.10.0+cpu", "3.0.0a0+git1234", "2.16.0.dev20261101", "unknown"]
)
def test_every_other_torch_is_tried(version: str) -> None:
    assert too_old(version) == ""


def test_the_oldest_torch_is_the_one_that_the_package_asks_for() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["torch"] == ["torch>=" + ".".join(map(str, OLDEST))]
