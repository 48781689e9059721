"""The loop over findings, with runs that are made up: which repair is tried on top of what, and what counts as gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gradsan.fix.mending import Mending, Outcome
from gradsan.fix.trial import ConsumedStep, TrialProgram, TrialRun, Trials
from gradsan.judge.report.findings import Finding, Location, RoleSite

TEXT = "y = q(s)\nz = q(t)\nloss.backward(retain_graph=True)\n"


def found(rule: str, text: str, line: str, *more: str) -> Finding:
    """At the line that begins like this, with the other lines as sites; wherever they are in this text."""

    def where(start: str) -> Location:
        number = next(n for n, code in enumerate(text.split("\n"), 1) if code.startswith(start))
        return Location("train.py", number, "<module>", text.split("\n")[number - 1])

    sites = tuple(RoleSite("backward", where(start)) for start in more)
    return Finding(rule, "name", "error", "m", "f", where(line), sites, ("q.weight",))


class Pretended(Trials):
    """`judge` says which findings the program with this text has, if it runs for so many updates."""

    def __init__(self, judge: Callable[[str, int], list[Finding]], length: int = 10) -> None:
        super().__init__(TrialProgram(("train.py",)))
        self._judge, self._length = judge, length
        self.runs: list[tuple[str, int | None]] = []

    def run(self, sources: Mapping[str, bytes], updates: int | None) -> TrialRun:
        text = next(iter(sources.values()), TEXT.encode()).decode()
        self.runs.append((text, updates))
        went = min(updates or self._length, self._length)
        findings = tuple(self._judge(text, went))
        step = ConsumedStep(1, "train.py:4", {"q.weight": text}, {})
        ending = "bounded" if updates is not None and updates < self._length else "ended"
        return TrialRun(ending, updates=went, findings=findings, needed=(2,) * len(findings), steps=(step,))


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(TEXT)
    return path


def mended(trials: Pretended, **how: object) -> tuple[list[Outcome], str]:
    mending = Mending(trials)
    outcomes = list(mending.mend(mending.first(), **how))  # type: ignore[arg-type]
    return outcomes, next((after.decode() for _, _, after, _ in mending.changed()), TEXT)


def both(text: str, _: int) -> list[Finding]:
    lines = [start for start, code in (("y", "y = q(s)\n"), ("z", "z = q(t)\n")) if code in text]
    return [found("GS301", text, line) for line in lines]


def test_each_repair_is_tried_on_top_of_the_ones_before() -> None:
    outcomes, after = mended(Pretended(both))
    assert [o.verified for o in outcomes] == [True, True]
    assert after == TEXT.replace("q(s)", "q(s).detach()").replace("q(t)", "q(t).detach()")


def test_what_is_declined_is_left_out_of_all_that_follows() -> None:
    def no_to_the_first(outcome: Outcome) -> bool:
        assert outcome.finding.culprit is not None
        return outcome.finding.culprit.code.startswith("z")

    outcomes, after = mended(Pretended(both), accepts=no_to_the_first)
    assert [(o.declined, o.left) for o in outcomes] == [(True, True), (False, False)]
    assert after == TEXT.replace("q(t)", "q(t).detach()")


def test_a_finding_that_comes_late_is_not_gone_because_a_short_trial_has_not_met_it() -> None:
    def late(text: str, updates: int) -> list[Finding]:
        first = both(text, updates)[:1] if "y = q(s)\n" in text else []
        return first + ([found("GS999", text, "z")] if updates > 50 else [])

    class Late(Pretended):
        def run(self, sources: Mapping[str, bytes], updates: int | None) -> TrialRun:
            run = super().run(sources, updates)
            return TrialRun(
                **{**vars(run), "needed": tuple(60 if f.rule == "GS999" else 2 for f in run.findings)}
            )

    outcomes, _ = mended(Late(late, length=100))
    assert [(o.finding.rule, o.left) for o in outcomes] == [("GS301", False), ("GS999", True)]


def test_a_finding_that_goes_with_the_repair_of_another_one_is_gone() -> None:
    def together(text: str, _: int) -> list[Finding]:
        return [found("GS301", text, "y"), found("GS999", text, "z")] if "y = q(s)\n" in text else []

    outcomes, _ = mended(Pretended(together))
    assert [(o.verified, o.gone) for o in outcomes] == [(True, False), (False, True)]


def test_what_a_repair_leaves_behind_is_mended_with_it() -> None:
    def leaves(text: str, _: int) -> list[Finding]:
        if "y = q(s)\n" in text:
            return [found("GS305", text, "y", "loss")]
        return [replace(found("GS406", text, "loss"), severity="warning")] if "retain_graph" in text else []

    class Carried(Pretended):
        def run(self, sources: Mapping[str, bytes], updates: int | None) -> TrialRun:
            return TrialRun(**{**vars(super().run(sources, updates)), "steps": ()})

    outcomes, after = mended(Carried(leaves))
    assert [o.verified for o in outcomes] == [True]
    assert after == TEXT.replace("q(s)", "q(s).detach()").replace("retain_graph=True", "")


def test_a_program_is_run_four_times_as_long_as_the_finding_needed() -> None:
    trials = Pretended(both, length=1000)
    mended(trials)
    assert trials.runs[0][1] is None
    assert {updates for _, updates in trials.runs[1:]} == {8}
