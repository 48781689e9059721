"""GS407: the gradient of a window depends on how it was cut into micro-batches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.order.packed_rows import PackedRows
from gradsan.judge.order.token_weights import (
    Divisor,
    Share,
    are_equal,
    differing,
    is_count,
    is_plain_mean,
    shares,
)
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

MOST = 64  # micro-batches that are compared
TWO = 2  # divides squared errors, too
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


class WindowDependentGradient(Rule):
    code = "GS407"
    name = "window-dependent-gradient"
    severity = "warning"
    what = """
        Several backwards feed one step, and each loss is divided by its own count of valid tokens (a mask's sum, the
        targets that are not ignored). Or what was divided by the count of the whole window is divided once more by the
        number of micro-batches. Or a batch is packed into micro-batches of other sizes each time, and all their means
        count alike.
    """
    why = """
        The mean over a batch is the sum over its tokens divided by their number. Cut into micro-batches, the mean of
        the means is another number as soon as the counts differ: a token in a short micro-batch counts more than one
        in a long one. So the gradient depends on how the batch was cut, and two runs that differ only in
        `gradient_accumulation_steps` train different policies.
    """
    symptom = """
        Everything runs. With accumulation, losses and gradient norms are not those of the same batch in one piece, and
        short answers are learned faster than long ones.
    """
    fix = (
        "count the valid tokens of all micro-batches first and divide every micro-batch's sum by that total, once; no "
        "further division by the number of micro-batches"
    )
    deliberate = """
        Equal weight for every micro-batch can be meant; a comment on the line allows it. Plain means, of equal or
        different shapes, and means per sequence are not reported.
    """
    needs_deep = True
    bad = (
        """
        import torch
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            for length in (2, 6, 3):
                mask = (torch.arange(8) < length).float()
                error = (net(torch.randn(8, 4)).squeeze(-1) - 1.0).pow(2)
                loss = (error * mask).sum() / mask.sum()  # BUG
                (loss / 3).backward()
            opt.step()
        """,
        """
        # Targets that are ignored.
        import torch
        net = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            for length in (2, 6):
                labels = torch.randint(3, (8,))
                labels[length:] = -100
                loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), labels)  # BUG
                (loss / 2).backward()
            opt.step()
        """,
        """
        # Normalised over the window, and then once more.
        import torch
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for update in range(3):
            masks = [(torch.arange(8) < length + update).float() for length in (4, 5, 4)]
            total = sum(mask.sum() for mask in masks)
            opt.zero_grad()
            for mask in masks:
                error = (net(torch.randn(8, 4)).squeeze(-1) - 1.0).pow(2)
                loss = (error * mask).sum() / total
                (loss / 3).backward()  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            masks = [(torch.arange(8) < length).float() for length in (2, 6, 3)]
            total = sum(mask.sum() for mask in masks)
            opt.zero_grad()
            for mask in masks:
                error = (net(torch.randn(8, 4)).squeeze(-1) - 1.0).pow(2)
                ((error * mask).sum() / total).backward()
            opt.step()
        """,
        """
        # Each mean is weighted with its share of the window.
        import torch
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            masks = [torch.arange(8) < length for length in (2, 6, 3)]
            total = sum(mask.sum() for mask in masks)
            opt.zero_grad()
            for mask in masks:
                error = (net(torch.randn(8, 4)).squeeze(-1) - 1.0).pow(2)
                (error[mask].mean() * (mask.sum() / total)).backward()
            opt.step()
        """,
        """
        # Episodes of different lengths, each with its own mean.
        import torch
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            for length in (2, 6, 3):
                error = (net(torch.randn(length, 4)) - 1.0).pow(2)
                (error.sum() / length).backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._packed = PackedRows()
        self._totals: dict[Site, float] = {}  # what the sums on a line were divided by in an earlier window

    def on_step(self, event: Step) -> Verdicts:
        for parts in self._windows(event):
            yield from self._weighed_alike(parts, event)
            for window in self._sums(parts):
                pids = set(parts[0].event.fed).intersection(event.held)
                yield from self._own_counts(parts, window, event, pids)
                yield from self._divided_again(parts, window, event, pids)

    def _weighed_alike(self, parts: list[Contribution], event: Step) -> Verdicts:
        found = self._packed.window(self.history.graph, parts)
        if found is None:
            return
        site, cut = found
        pids = set(parts[0].event.fed).intersection(event.held)
        yield Verdict(
            site,
            f"the {sum(cut)} rows that feed the step on {line(self.history, event.site)} are cut into micro-batches of "
            f"{', '.join(map(str, cut))}, in other ways each time, and all their means count alike: a row in the "
            f"smallest counts {max(cut) / min(cut):.2g} times one in the largest for {networks(self.history, pids)}",
            [("mean", site), ("backward", parts[0].site), ("step", event.site)],
            pids,
            fix="divide the sum of every micro-batch by the number of all rows: `losses.sum() / rows`",
        )

    def _windows(self, event: Step) -> Iterator[list[Contribution]]:
        """The backwards of one line that this step is going to consume together."""
        ledger, by_line = self.history.ledger, dict[Site, dict[int, Contribution]]()
        owned = frozenset(event.held)
        for pid in event.held:
            for part in ledger.fresh(pid):
                if part.event.call == "backward" and len(part.event.roots) == 1:
                    by_line.setdefault(part.site, {})[id(part)] = part
        for parts in by_line.values():
            # Tasks and agents with parameters of their own are no micro-batches of one another. Inputs that were made
            # to require grad are others every time.
            same = len({frozenset(part.event.fed) & owned for part in parts.values()}) == 1
            if same and 2 <= len(parts) <= MOST:
                yield list(parts.values())

    def _sums(self, parts: list[Contribution]) -> Iterator[list[Share]]:
        """The sums inside their losses, line by line: one of each micro-batch. Where a helper sums up several terms on
        one line, the first of each, as long as all have as many."""
        graph, found = self.history.graph, list[dict[Site, list[Share]]]()
        for part in parts:
            root = graph.get(part.event.roots[0].nid)
            mine = dict[Site, list[Share]]()
            for share in shares(graph, root) if root is not None else ():
                mine.setdefault(share.site, []).append(share)
            found.append(mine)
        for site, ours in found[0].items():
            if all(len(each.get(site, ())) == len(ours) for each in found):
                yield [each[site][0] for each in found]

    def _own_counts(
        self, parts: list[Contribution], window: list[Share], event: Step, pids: set[ParamId]
    ) -> Verdicts:
        divisor = differing(window)
        if divisor is None or are_equal([s.weight for s in window]) or is_plain_mean(window):
            return
        weights = [abs(s.weight) for s in window]
        most, least = weights.index(max(weights)), weights.index(min(weights))
        at = window[0].divisors.index(divisor)
        counts = ", ".join(f"{s.divisors[at].number:g}" for s in window)
        yield Verdict(
            divisor.site,
            f"each of the {len(parts)} losses that feed the step on {line(self.history, event.site)} is divided by its "
            f"own count ({counts}): tokens of the {_ordinal(most)} micro-batch count "
            f"{weights[most] / weights[least]:.2g} times those of the {_ordinal(least)} for "
            f"{networks(self.history, pids)}",
            [("division", divisor.site), ("backward", parts[0].site), ("step", event.site)],
            pids,
        )

    def _divided_again(
        self, parts: list[Contribution], window: list[Share], event: Step, pids: set[ParamId]
    ) -> Verdicts:
        total = self._total(window)
        if total is None or len(parts) == TWO:
            return
        before = self._totals.setdefault(window[0].site, total.number)
        again = [d for d in window[0].divisors if math.isclose(d.number, len(parts)) and d != total]
        # A total that is the same in every window is a constant that somebody chose.
        if before == total.number or not again:
            return
        yield Verdict(
            again[0].site,
            f"the loss is divided by the count of the whole window on {line(self.history, total.site)} "
            f"({total.number:g} this time), and here once more by the number of micro-batches: the gradient of "
            f"{networks(self.history, pids)} is {len(parts)} times too small",
            [
                ("division", total.site),
                ("division", again[0].site),
                ("backward", parts[0].site),
                ("step", event.site),
            ],
            pids,
            fix="leave this division out: the losses of the micro-batches already add up to the mean of the window",
        )

    def _total(self, window: list[Share]) -> Divisor | None:
        """A divisor that is more than any micro-batch has elements, and no more than all have together."""
        sizes = [math.prod(s.shape) for s in window]
        for divisor in window[0].divisors:
            everywhere = all(divisor in s.divisors for s in window)
            if everywhere and is_count(divisor.number) and max(sizes) < divisor.number <= sum(sizes):
                return divisor
        return None


def _ordinal(index: int) -> str:
    return ORDINALS[index] if index < len(ORDINALS) else f"{index + 1}th"


rule = WindowDependentGradient
