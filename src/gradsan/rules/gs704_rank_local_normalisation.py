"""GS704: ranks average gradients of losses that each of them divides by its own count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradsan.judge.history import History
from gradsan.judge.order.token_weights import Share, are_equal, differing, is_plain_mean, shares
from gradsan.judge.report.wording import networks
from gradsan.record.events import NOWHERE, Backward, ParamId, Site
from gradsan.rules.base import Across, Rule, Verdict, Verdicts

KEPT = 64  # iterations

START = """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 1)
        model = DistributedDataParallel(net)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        torch.manual_seed(dist.get_rank())
        for _ in range(4):
            mask = (torch.arange(8) < 2 + 4 * dist.get_rank()).float()
            error = (model(torch.randn(8, 4)).squeeze(-1) - 1.0).pow(2)
            opt.zero_grad()
"""


class RankLocalNormalisation(Rule):
    code = "GS704"
    name = "rank-local-normalisation"
    severity = "warning"
    needs_deep = True
    across_ranks = True
    what = """
        The ranks average gradients of losses that each of them divides by its own count: of valid tokens, of targets
        that are not ignored.
    """
    why = """
        The mean over a batch is the sum over its tokens divided by their number. Where each rank divides by the number
        of its own tokens and the results are averaged, a token on a rank with few of them counts more than one on a
        rank with many: the gradient depends on how the batch was dealt out.
    """
    symptom = """
        Everything runs. Results change with the number of ranks, and short answers are learned faster than long ones.
    """
    fix = (
        "sum up the counts of all ranks first (`dist.all_reduce(count)`), divide each rank's sum by that total, and "
        "multiply by the number of ranks, because the gradients are averaged"
    )
    deliberate = """
        Equal weight for every rank can be meant; a comment on the line allows it. Plain means, also of batches of
        different sizes, are not reported.
    """
    bad = (
        START
        + """\
            loss = (error * mask).sum() / mask.sum()  # BUG
            loss.backward()
            opt.step()
        """,
    )
    good = (
        START
        + """\
            total = mask.sum()
            dist.all_reduce(total)
            ((error * mask).sum() / total * dist.get_world_size()).backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._sums: dict[tuple[int, Site], tuple[dict[Site, Share], Backward]] = {}

    def on_backward(self, event: Backward) -> Verdicts:
        if self.history.ranks.group is None or len(event.roots) != 1 or len(self._sums) >= KEPT:
            return ()
        root = self.history.graph.get(event.roots[0].nid)
        found = list(shares(self.history.graph, root)) if root is not None else []
        alone = {s.site: s for s in found if sum(o.site == s.site for o in found) == 1}
        if alone:
            self._sums.setdefault((self.history.iteration, event.site), (alone, event))
        return ()

    @classmethod
    def compare(cls, ranks: Sequence[Rule]) -> Iterable[Across]:
        mine = [rank for rank in ranks if isinstance(rank, RankLocalNormalisation)]
        first, told = mine[0], set[Site]()
        others = [first._translated(rank) for rank in mine[1:]]
        for key, (sums, event) in first._sums.items():
            if not first._is_averaged(event.fed) or not all(key in other for other in others):
                continue
            for site, share in sums.items():
                window = [share, *(other[key][site] for other in others if site in other[key])]
                if len(window) == len(mine) and (divisor := _own(window)) and divisor not in told:
                    told.add(divisor)
                    yield Across(tuple(range(len(mine))), first._verdict(divisor, window, event), key[0])

    def _translated(self, other: RankLocalNormalisation) -> dict[tuple[int, Site], dict[Site, Share]]:
        """What another rank has noted, with this one's numbers of lines."""
        mine = {(seen.file, seen.line): site for site, seen in self.history.sites.items()}
        same = {site: mine.get((seen.file, seen.line), NOWHERE) for site, seen in other.history.sites.items()}

        def moved(share: Share) -> Share:
            divisors = tuple(d._replace(site=same[d.site]) for d in share.divisors)
            return share._replace(site=same[share.site], divisors=divisors)

        return {
            (iteration, same[site]): {same[at]: moved(share) for at, share in sums.items()}
            for (iteration, site), (sums, _) in other._sums.items()
        }

    def _verdict(self, divisor: Site, window: list[Share], event: Backward) -> Verdict:
        counts = ", ".join(f"{d.number:g}" for s in window for d in s.divisors if d.number > 1)
        weights = [abs(s.weight) for s in window]
        return Verdict(
            divisor,
            f"each rank divides its loss by its own count ({counts}), and the gradients are averaged: a token on one "
            f"rank counts {max(weights) / min(weights):.2g} times one on another for "
            f"{networks(self.history, event.fed)}",
            [("division", divisor), ("backward", event.site)],
            event.fed,
        )

    def _is_averaged(self, pids: Iterable[ParamId]) -> bool:
        ranks = self.history.ranks
        return any(
            pid in ranks.exchanged["gradient"] or ((wrapper := ranks.wrapper_of(pid)) and wrapper.members > 1)
            for pid in pids
        )


def _own(window: list[Share]) -> Site:
    """The division by a count that each rank has its own of, where it makes the ranks' tokens count differently."""
    divisor = differing(window)
    if divisor is None or are_equal([s.weight for s in window]) or is_plain_mean(window):
        return NOWHERE
    return divisor.site


rule = RankLocalNormalisation
