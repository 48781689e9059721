"""Facts of a run as sentences, with the networks' names in backticks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gradsan.judge.history import History
from gradsan.judge.report.baseline_file import below
from gradsan.lock.book import LossBook
from gradsan.lock.collector import FlowCollector, labels_of
from gradsan.lock.model import Flow, Loss, Network
from gradsan.lock.paths import GradientWay
from gradsan.lock.text import plain
from gradsan.record.events import OptimizerId, ParamId

DIRECTION = {1: "lowered", -1: "raised", 0: "fitted"}


class Wording:
    """`folder`: what files are told relative to, so that they are the same on every machine."""

    def __init__(self, collector: FlowCollector, folder: Path) -> None:
        self._history: History = collector.history
        self._books = list(collector.books.values())
        self._folder = folder
        self._labels = {pid: plain(label) for pid, label in labels_of(self._history).items()}
        self._members: dict[str, set[ParamId]] = {}
        for pid, label in self._labels.items():
            self._members.setdefault(label, set()).add(pid)

    def flow(self) -> Flow:
        losses = [self._loss(book) for book in self._books]
        mentioned = {pid for book in self._books for pid in book.mentioned()}
        mentioned |= {pid for o in self._history.optimizers.values() for pid in o.params}
        listed = self._with_originals({self._labels[pid] for pid in mentioned if pid in self._labels})
        made = dict.fromkeys(self._labels[pid] for pid in sorted(self._labels) if self._labels[pid] in listed)
        return Flow([self._network(label) for label in made], losses)

    def _with_originals(self, labels: set[str]) -> set[str]:
        """What a network is a copy of is listed, too: a name that nothing else is known of could not be recognised."""
        waiting, found = list(labels), set(labels)
        while waiting:
            for pid in self._members[waiting.pop()]:
                copy = self._history.networks.copies.get(pid)
                label = self._labels.get(copy.source, "") if copy is not None else ""
                if label and label not in found:
                    found.add(label)
                    waiting.append(label)
        return found

    def members(self, label: str) -> set[ParamId]:
        return self._members.get(label, set())

    # -- networks ---------------------------------------------------------------------------------

    def _network(self, label: str) -> Network:
        history, pids = self._history, self._members[label]
        params = [history.params[pid] for pid in pids]
        found = Network(label, len(params), sum(_size(p.shape) for p in params))
        kinds = {o.kind for pid in pids for o in history.owner_of(pid)}
        found.facts.update(f"belongs to {kind}" for kind in kinds)
        if pids <= history.hand.trained:
            found.facts.add("is updated by hand")
        for pid in pids:
            copy = history.networks.copies.get(pid)
            if copy is None or copy.source not in self._labels:
                continue
            found.facts.add(f"began as {self._ref(copy.source)}")
            if copy.times > 1 or copy.unseen or copy.after_training:
                found.facts.add(f"follows {self._ref(copy.source)}")
        shared = {other for pid in pids if (other := history.networks.shares.get(pid, (pid,))[0]) != pid}
        found.facts.update(f"shares its memory with `{name}`" for name in self._names(shared))
        if not any(p.requires_grad for p in params):
            found.facts.add("is frozen")
        return found

    # -- losses -----------------------------------------------------------------------------------

    def _loss(self, book: LossBook) -> Loss:
        of = book.identity
        file = plain(below(self._folder, of.file))
        found = Loss(
            file, of.function, plain(of.expression), name=of.name, site=book.site, traced=book.looks > 0
        )
        found.facts.update(self._each("trains", book.trains))
        found.facts.update(self._each("leaves gradient on", book.fed - book.trains))
        found.facts.update(f"feeds {self._optimizer(oid)}" for oid in book.optimizers)
        for how, pids in book.clips.items():
            limits = book.limits[how]
            limit = f"{next(iter(limits)):.3g}" if len(limits) == 1 else "a limit that varies"
            found.facts.update(self._each("clips", pids, f" by {how} to {limit}"))
        found.facts.update(_accumulation(book))
        found.facts.update(f"fails with {error}" for error in book.errors)
        found.deep.update(self._ways(book))
        for how, pids in book.constants.items():
            found.deep.update(f"takes `{label}` as constant by {how}" for label in self._names(pids))
        if book.reaches_back:
            found.deep.add("reaches back into earlier iterations")
        found.deep.update(fact for fact, times in book.shapes.items() if 2 * times > book.looks)
        return found

    def _ways(self, book: LossBook) -> Iterator[str]:
        sides: dict[tuple[str, str], set[int]] = {}
        for way, pids in book.ways.items():
            for label in self._names(pids):
                sides.setdefault((label, self._way(way, label)), set()).add(way.side)
        for (label, fact), found in sides.items():
            yield fact
            if {1, -1} <= found:
                yield f"reaches `{label}` on both sides of a difference"

    def _way(self, way: GradientWay, label: str) -> str:
        by = f" by {', '.join(sorted(way.marks))}" if way.marks else ""
        via = sorted({self._ref(pid) for pid in way.via} - {f"`{label}`"})
        through = f" through {', '.join(via)}" if via else ""
        return f"reaches `{label}`{by}{through}, {DIRECTION[way.sign]}"

    def _each(self, verb: str, pids: Iterable[ParamId], after: str = "") -> list[str]:
        found, given = [], set(pids)
        for label in self._names(given):
            whole, part = self._members[label], self._members[label] & given
            share = f"{len(part)} of {len(whole)} tensors of " if part < whole else ""
            found.append(f"{verb} {share}`{label}`{after}")
        return found

    def _optimizer(self, oid: OptimizerId) -> str:
        optimizer = self._history.optimizers[oid]
        names = self._names(optimizer.params)
        return f"{optimizer.kind} of " + ", ".join(f"`{name}`" for name in names)

    def _names(self, pids: Iterable[ParamId]) -> list[str]:
        return sorted({self._labels[pid] for pid in pids if pid in self._labels})

    def _ref(self, pid: ParamId) -> str:
        return f"`{self._labels.get(pid, '?')}`"


def _accumulation(book: LossBook) -> list[str]:
    found = []
    if len(book.per_step) > 1:
        found.append("adds up several backwards for a step")
    elif book.per_step and (number := next(iter(book.per_step))) > 1:
        found.append(f"adds up {number} backwards for a step")
    if book.stays:
        found.append("stays in the gradient after its step")
    return found


def _size(shape: tuple[int, ...]) -> int:
    numbers = 1
    for size in shape:
        numbers *= size
    return numbers
