"""A sink that puts together the flow of a run: who is trained by what, through which ways, and who applies it."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.lock.book import LossBook
from gradsan.lock.identity import Identity, identity_of
from gradsan.lock.paths import constants, is_whole, reaches_back, ways
from gradsan.lock.shapes import shapes
from gradsan.picture.naming import folded
from gradsan.picture.reduction import operations
from gradsan.record.events import (
    Backward,
    BackwardId,
    Chain,
    Clip,
    Event,
    IterationEnd,
    ParamId,
    Repeated,
    Resumed,
    Scaling,
    Site,
    Step,
    ZeroGrad,
)

LOOKS = 16  # at the operations of one loss; after that, only where its graph is of another size, and ever more rarely
FORMS = 48  # such sizes


class FlowCollector:
    def __init__(self) -> None:
        self.history = History()
        self.books: dict[Identity, LossBook] = {}
        self._by_place: dict[tuple[Site, Chain], LossBook] = {}
        # How, and to what limit, since the last backward or clearing.
        self._clipped: dict[ParamId, list[tuple[str, float]]] = {}
        self._scaled: set[ParamId] = set()  # their gradients are to be divided by a loss scale still
        self._scales = False  # the next loss is multiplied by one
        self._lost = False  # iterations went by unseen: what the gradients hold is not known
        self._boxes: dict[ParamId, ParamId] = {}
        self._named = -1

    def feed(self, event: Event) -> None:
        history = self.history
        if isinstance(event, Repeated):
            self._settle()
            history.leave_unsettled()
        if isinstance(event, Step):
            self._step(event)
        history.apply(event)
        if isinstance(event, Step):
            history.consume(event)
        elif isinstance(event, Backward):
            self._backward(event)
        elif isinstance(event, Clip):
            self._clip(event)
        elif isinstance(event, ZeroGrad):
            for pid in event.params:
                self._clipped.pop(pid, None)
        elif isinstance(event, Scaling):
            self._scale(event)
        elif isinstance(event, Resumed | Repeated):
            self._lost = True
        elif isinstance(event, IterationEnd):
            self._lost = False
            self._settle()

    def finish(self) -> None:
        self._settle(everything=True)

    # -- boundaries -----------------------------------------------------------------------------------

    def _book(self, event: Backward) -> LossBook:
        known = self._by_place.get((event.site, event.chain))
        if known is None:
            identity = identity_of(self.history, event)
            known = self.books.setdefault(identity, LossBook(identity, event.site))
            self._by_place[event.site, event.chain] = known
        return known

    def _backward(self, event: Backward) -> None:
        for pid in event.fed:
            self._clipped.pop(pid, None)
        if self._scales:
            self._scaled.update(event.fed)
            self._scales = False
        if event.error:
            self._book(event).errors.add(event.error.split(":")[0].split("\n")[0])

    def _clip(self, event: Clip) -> None:
        for pid in event.held:
            how = f"{event.how}, while scaled," if pid in self._scaled else event.how
            self._clipped.setdefault(pid, []).append((how, event.limit))

    def _scale(self, event: Scaling) -> None:
        if event.call == "scale":
            self._scales = True
        self._scaled.difference_update(event.params)

    def _step(self, event: Step) -> None:
        """Called before the step takes anything."""
        ledger = self.history.ledger
        count: dict[int, tuple[LossBook, dict[ParamId, set[BackwardId]]]] = {}
        for pid in event.held:
            for part in ledger.parts.get(pid, ()):
                if part.event.call != "backward":
                    continue
                book = self._book(part.event)
                spent = any(pid in c.pids for c in part.consumed)
                book.stays = book.stays or (spent and not self._lost)
                count.setdefault(id(book), (book, {}))[1].setdefault(pid, set()).add(part.bid)
                self._note_clip(book, pid)
        if not self._lost:
            for book, parts in count.values():
                book.per_step[max(len(bids) for bids in parts.values())] += 1

    def _note_clip(self, book: LossBook, pid: ParamId) -> None:
        clips = self._clipped.get(pid)
        for how, limit in clips or ():
            book.clips.setdefault(how, set()).add(pid)
            book.limits.setdefault(how, set()).add(limit)

    # -- operations -----------------------------------------------------------------------------------

    def _settle(self, everything: bool = False) -> None:
        for contribution in self.history.settle(everything):
            self._settled(contribution)

    def _settled(self, contribution: Contribution) -> None:
        event = contribution.event
        if event.call == "hand":
            return
        book = self._book(event)
        book.seen += 1
        book.site = event.site
        reached = set(event.fed if event.call == "backward" else event.reached)
        meets_more = not reached <= book.fed  # a head that is used for the first time
        book.fed |= reached
        book.trains |= contribution.consumed_pids() & (set(event.fed) | set(contribution.by_hand))
        book.optimizers |= contribution.consumers()
        book.by_hand = book.by_hand or bool(contribution.by_hand)
        is_new = event.nodes not in book.forms and len(book.forms) < FORMS
        if book.looks < LOOKS or is_new or meets_more or book.seen & (book.seen - 1) == 0:
            book.forms.add(event.nodes)
            self._look(book, event)

    def _look(self, book: LossBook, event: Backward) -> None:
        graph, history = self.history.graph, self.history
        roots = tuple(root.nid for root in event.roots if root.nid in graph.ops)
        if not roots:
            return
        whole = is_whole(graph, roots)
        if book.whole and not whole:
            return
        if whole and not book.whole:
            book.start_anew()
        book.looks += 1
        for way, pids in ways(graph, roots, self._box).items():
            book.ways.setdefault(way, set()).update(pids)
        home = history.sites.get(graph.ops[roots[0]].site)

        def is_home(site: Site) -> bool:
            seen = history.sites.get(site)
            return bool(seen and home and (seen.file, seen.function) == (home.file, home.function))

        ops = operations(graph, roots, is_home)
        for how, pids in constants(graph, ops).items():
            book.constants.setdefault(how, set()).update(pids)
        sizes = {size for p in history.params.values() if p.kind == "parameter" for size in p.shape}
        book.shapes.update(shapes(graph, ops, sizes, is_home))
        book.reaches_back = book.reaches_back or reaches_back(graph, roots)

    def _box(self, pid: ParamId) -> ParamId:
        """The parameter that stands for the network of this one, by the names known so far."""
        history = self.history
        named = sum(bool(p.name) for p in history.params.values()) + len(history.params)
        if named != self._named or pid not in self._boxes:
            self._named = named
            first: dict[str, ParamId] = {}
            labels = labels_of(history)
            self._boxes = {p: first.setdefault(label, p) for p, label in labels.items()}
        return self._boxes[pid]


def labels_of(history: History) -> dict[ParamId, str]:
    """The network of each parameter, by name."""
    names = {pid: _name(history, pid) for pid in history.params}

    def owners(pid: ParamId) -> object:
        return frozenset(o.oid for o in history.owner_of(pid))

    return folded(names, owners)


def _name(history: History, pid: ParamId) -> str:
    """One without a name is called after the function that made it: lines move."""
    param = history.params[pid]
    if param.name:
        return param.name
    made = history.sites.get(param.created)
    return f"made in {made.function}" if made is not None else "unknown"
