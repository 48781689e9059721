"""What a rule is: one file with its code, its explanation, examples that run as tests, and its judgement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.report.findings import AcrossRanks, Effect
from gradsan.record.events import (
    Backward,
    Clip,
    Failed,
    HeldGraphs,
    Ops,
    OptimizerSeen,
    ParamId,
    RankStep,
    Sample,
    Scaling,
    Site,
    Step,
    Sync,
    Unreduced,
    ZeroGrad,
)


@dataclass(slots=True)
class Verdict:
    """A rule's judgement, in terms of sites and parameter numbers. The engine decides whether to report it.

    `explains`: parameters whose lack of gradient is accounted for by this. `unless_explained`: this is not worth
    reporting where another verdict about the same event accounts for all of these."""

    culprit: Site
    message: str
    sites: list[tuple[str, Site]] = field(default_factory=list)
    subjects: Iterable[ParamId] = ()
    severity: str = ""
    fix: str = ""
    key: Any = None
    explains: Iterable[ParamId] = ()
    unless_explained: Iterable[ParamId] = ()
    across_ranks: Sequence[AcrossRanks] = ()
    measure: Callable[[], Effect] | None = None  # what it does to the gradient; asked once


Verdicts = Iterable[Verdict]


class Across(NamedTuple):
    """A verdict about several ranks, in the terms of the first of `ranks` (indices into what was compared)."""

    ranks: tuple[int, ...]
    verdict: Verdict
    iteration: int


class Rule:
    """Subclasses override the `on_…` methods they need; each may yield verdicts. A rule only reads the history:
    what it wants to be known to others it says in its verdicts."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[str]
    what: ClassVar[str]
    why: ClassVar[str]
    symptom: ClassVar[str] = ""  # what one sees in the learning curve
    fix: ClassVar[str]
    deliberate: ClassVar[str] = ""
    needs_deep: ClassVar[bool] = False
    across_ranks: ClassVar[bool] = False  # it compares the ranks of one job
    needs_lock: ClassVar[bool] = False  # it compares the run with a lock file
    bad: ClassVar[tuple[str, ...]] = ()
    good: ClassVar[tuple[str, ...]] = ()

    def __init__(self, history: History) -> None:
        self.history = history

    def on_optimizer(self, event: OptimizerSeen) -> Verdicts:
        return ()

    def on_backward(self, event: Backward) -> Verdicts:
        return ()

    def on_zero_grad(self, event: ZeroGrad) -> Verdicts:
        """Called before the ledger forgets."""
        return ()

    def on_clip(self, event: Clip) -> Verdicts:
        return ()

    def on_step(self, event: Step) -> Verdicts:
        """Called before the step consumes anything."""
        return ()

    def on_sync(self, event: Sync) -> Verdicts:
        return ()

    def on_held(self, event: HeldGraphs) -> Verdicts:
        return ()

    def on_ops(self, event: Ops) -> Verdicts:
        return ()

    def on_failed(self, event: Failed) -> Verdicts:
        return ()

    def on_sample(self, event: Sample) -> Verdicts:
        return ()

    def on_scaling(self, event: Scaling) -> Verdicts:
        return ()

    def on_rank_step(self, event: RankStep) -> Verdicts:
        """A step of one rank of several, just before it consumes anything."""
        return ()

    def on_unreduced(self, event: Unreduced) -> Verdicts:
        return ()

    @classmethod
    def compare(cls, ranks: Sequence[Rule]) -> Iterable[Across]:
        """Called after the fact, with the same rule as each rank's own history has left it, in the order of the
        ranks."""
        return ()

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """Called once it is known which optimizers consumed what this backward put into the gradients."""
        return ()

    def at_end(self) -> Verdicts:
        return ()

    def could_not_look(self) -> str:
        """Why not, where the rule itself knows that it had nothing to go by; empty where it had."""
        return ""
