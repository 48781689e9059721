"""Follows a run, and reports where it does otherwise than its lock says (GS901)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gradsan.judge.engine import BESIDE, Engine
from gradsan.lock.collector import FlowCollector
from gradsan.lock.compare import FlowChange, compare
from gradsan.lock.model import REFERENCE, Flow, Loss, Network
from gradsan.lock.sentences import Wording
from gradsan.lock.text import DEEP
from gradsan.lock.words import sentence
from gradsan.record.events import NOWHERE, Event, ParamId, Site
from gradsan.rules.base import Verdict

CODE = "GS901"
CERTAIN = (
    "trains `",
    *DEEP,
)  # facts that do not depend on what a program that broke off would have done next


def is_spoiled(faults: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a fault of ours has taken away what a lock is made of, or the judge, who tells of a change."""
    return any(fault["tap"] not in BESIDE - {"LockSink", "operations"} for fault in faults)


class LockSink:
    """`locked`: what the run is compared with; None where it is only written down. `whole`: the program came to its
    end by itself, so that what did not happen is really gone."""

    def __init__(self, engine: Engine, folder: Path, locked: Flow | None = None) -> None:
        self._engine = engine
        self._folder = folder
        self._locked = locked
        self._collector = FlowCollector()
        self.flow = Flow()
        self.whole = True
        self.untraced = False  # the lock knows operations, and this run has traced none

    def feed(self, event: Event) -> None:
        self._collector.feed(event)

    def finish(self) -> None:
        self._collector.finish()
        wording = Wording(self._collector, self._folder)
        self.flow = wording.flow()
        known = self._locked.losses if self._locked is not None else []
        self.untraced = any(loss.traced for loss in known) and not any(
            loss.traced for loss in self.flow.losses
        )
        for change in compare(self._locked, self.flow) if self._locked is not None else ():
            if not self.whole:
                change.gone.clear()
                change.new = [fact for fact in change.new if fact.startswith(CERTAIN)]
            if change.new or change.gone:
                self._engine.add(CODE, self._verdict(change, wording))

    def _verdict(self, change: FlowChange, wording: Wording) -> Verdict:
        labels = [label for fact in (*change.new, *change.gone) for label in REFERENCE.findall(fact)]
        pids = {pid for label in labels for pid in wording.members(label)}
        return Verdict(
            self._place(change, wording),
            sentence(change),
            subjects=pids,
            key=(change.subject, sentence(change)),
        )

    def _place(self, change: FlowChange, wording: Wording) -> Site:
        """The line of the loss; of a network, where its optimizer was made, or it was last copied."""
        if isinstance(change.now, Loss):
            return change.now.site
        members = wording.members(change.now.label) if isinstance(change.now, Network) else set()
        return _line_of(self._collector, members, copied="follows" in " ".join(change.new + change.gone))


def _line_of(collector: FlowCollector, members: set[ParamId], copied: bool) -> Site:
    history = collector.history
    copies = [c.site for pid in members if (c := history.networks.copies.get(pid)) is not None]
    owners = [o.site for pid in sorted(members) for o in history.owner_of(pid)]
    made = [history.params[pid].created for pid in sorted(members)]
    places = [*copies, *owners, *made] if copied else [*owners, *copies, *made]
    return next((site for site in places if site), NOWHERE)
