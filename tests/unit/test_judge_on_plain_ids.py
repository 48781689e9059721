"""The ledger, the iterations and the arbitration take numbers and nothing else: no torch is needed to test them."""

from __future__ import annotations

import itertools

import pytest

from gradsan.judge.arbitration import arbitrate
from gradsan.judge.ledger import Ledger
from gradsan.record.events import (
    Backward,
    Event,
    IterationEnd,
    ParamReborn,
    Repeated,
    Step,
    StepDone,
    Turn,
    ZeroGrad,
)
from gradsan.record.iterations import TAKE_OVER, Iterations
from gradsan.record.recorder import JUDGED_OFTEN_ENOUGH, Recorder
from gradsan.rules import catalogue
from gradsan.rules.base import Rule, Verdict

POLICY, VALUE = 1, 2
ACTOR, CRITIC = 1, 2


def backward(bid: int, *fed: int) -> Backward:
    return Backward(bid, 10 + bid, "backward", (), fed, fed)


# -- the ledger -----------------------------------------------------------------------------------


def test_a_gradient_consists_of_every_backward_since_it_was_cleared() -> None:
    ledger = Ledger()
    ledger.fed(backward(1, POLICY, VALUE), 0)
    ledger.fed(backward(2, VALUE), 0)
    assert [part.bid for part in ledger.fresh(POLICY)] == [1]
    assert [part.bid for part in ledger.fresh(VALUE)] == [1, 2]
    ledger.cleared([VALUE], site=5)
    assert ledger.fresh(VALUE) == []
    assert [part.bid for part in ledger.fresh(POLICY)] == [1]


def test_what_a_step_has_consumed_is_stale_until_it_is_cleared() -> None:
    ledger = Ledger()
    ledger.fed(backward(1, POLICY), 0)
    ledger.consumed(ACTOR, site=7, pids=[POLICY])
    ledger.fed(backward(2, POLICY), 1)
    assert [part.bid for part in ledger.stale(POLICY)] == [1]
    assert [part.bid for part in ledger.fresh(POLICY)] == [2]


def test_a_backward_that_is_cleared_unused_is_known_by_the_line_that_cleared_it() -> None:
    ledger = Ledger()
    wiped = ledger.fed(backward(1, POLICY, VALUE), 0)
    ledger.consumed(ACTOR, site=7, pids=[POLICY])
    assert ledger.cleared([POLICY, VALUE], site=8) == {1}
    assert wiped.wiped == {8: {VALUE}}


def test_a_gradient_that_nobody_ever_clears_does_not_grow_for_ever() -> None:
    ledger = Ledger()
    for bid in range(1, 1_000):
        ledger.fed(backward(bid, POLICY), bid)
        ledger.forget_before(bid - 8)
    assert len(ledger.parts[POLICY]) <= 256
    assert len(ledger.recent) <= 10


# -- iterations -----------------------------------------------------------------------------------


def test_the_optimizer_with_the_most_steps_ends_the_iterations() -> None:
    iterations = Iterations()
    ends = [iterations.step(oid) for oid in (CRITIC, CRITIC, ACTOR, CRITIC, CRITIC, ACTOR)]
    assert ends == [True, True, False, True, True, False]
    assert iterations.count == 4


def test_another_optimizer_takes_over_where_the_leader_falls_silent() -> None:
    iterations = Iterations()
    for _ in range(100):
        iterations.step(CRITIC)
    assert [iterations.step(ACTOR) for _ in range(TAKE_OVER + 2)] == [False] * (TAKE_OVER - 1) + [True] * 3


def test_iterations_that_went_by_unseen_count() -> None:
    iterations = Iterations()
    iterations.step(CRITIC)
    iterations.skip(50)
    assert iterations.step(CRITIC)
    assert iterations.count == 52


# -- the recorder ---------------------------------------------------------------------------------


class Seen(list[Event]):
    feed = list.append

    def finish(self) -> None: ...


def iteration(bid: int) -> list[Event]:
    return [ZeroGrad(1, "optimizer", (POLICY,)), backward(1, POLICY)._replace(bid=bid), Step(ACTOR, 3, (POLICY,)),
            StepDone(ACTOR)]  # fmt: skip


def recorded(turns: list[list[Event]]) -> Seen:
    seen = Seen()
    recorder = Recorder([seen])
    for event in itertools.chain.from_iterable(turns):
        recorder.emit(event)
    recorder.finish()
    return seen


def test_iterations_that_are_alike_are_counted_and_none_is_lost() -> None:
    seen = recorded([iteration(bid) for bid in range(1, 101)])
    ended = sum(isinstance(event, IterationEnd) for event in seen)
    assert ended + sum(event.times for event in seen if isinstance(event, Repeated)) == 100
    assert JUDGED_OFTEN_ENOUGH <= ended <= JUDGED_OFTEN_ENOUGH + 2


def test_events_of_different_types_are_never_taken_for_the_same() -> None:
    """A step of optimizer 1 that is done, and parameter 1 reborn, consist of the same number."""
    usual = [iteration(bid) for bid in range(1, 21)]
    other = [*iteration(21)[:-1], ParamReborn(ACTOR), StepDone(ACTOR)]
    assert any(isinstance(event, ParamReborn) for event in recorded([*usual, other]))


def test_a_loop_without_optimizers_ends_its_iterations_by_turns() -> None:
    seen = recorded([[backward(bid, POLICY), Turn()] for bid in (1, 2, 3)])
    assert sum(isinstance(event, IterationEnd) for event in seen) == 3


# -- arbitration ----------------------------------------------------------------------------------


def rule(code: str) -> Rule:
    return catalogue()[code](None)  # type: ignore[arg-type]


def reported(*verdicts: tuple[Rule, Verdict]) -> list[str]:
    return [judge.code for judge, _ in arbitrate(verdicts, set())]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_what_a_more_telling_verdict_explains_is_not_reported_twice_whatever_the_order(
    order: tuple[int, ...],
) -> None:
    cut = (rule("GS202"), Verdict(1, "cut", explains={POLICY}))
    forgotten = (rule("GS205"), Verdict(2, "forgotten", explains={POLICY}, unless_explained={POLICY}))
    replaced = (rule("GS206"), Verdict(3, "replaced", explains={VALUE}, unless_explained={VALUE}))
    verdicts = [cut, forgotten, replaced]
    assert reported(*(verdicts[i] for i in order)) == ["GS202", "GS206"]


def test_a_verdict_that_is_explained_in_part_is_reported() -> None:
    cut = (rule("GS202"), Verdict(1, "cut", explains={POLICY}))
    forgotten = (rule("GS205"), Verdict(2, "forgotten", unless_explained={POLICY, VALUE}))
    assert reported(forgotten, cut) == ["GS202", "GS205"]


def test_the_engine_learns_what_was_explained() -> None:
    explained: set[int] = set()
    list(arbitrate([(rule("GS202"), Verdict(1, "cut", explains={POLICY}))], explained))
    assert explained == {POLICY}
