"""GS703: a wrapped network is called past its wrapper, or its group has one member: gradients are never averaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradsan.judge.drift import Drift, drifts
from gradsan.judge.flow import param_users
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, OptimizerId, ParamId, RankStep, Site
from gradsan.rules.base import Across, Rule, Verdict, Verdicts

START = """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 1)
"""
LOOP = """\
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        torch.manual_seed(dist.get_rank())
        for _ in range(4):
            opt.zero_grad()
"""


class BypassedReducer(Rule):
    code = "GS703"
    name = "bypassed-reducer"
    severity = "error"
    across_ranks = True
    what = """
        A wrapped network is called past its wrapper (`model.module(x)`, or by the name that it had before it was
        wrapped), or the wrapper's process group has one member: the ranks never average its gradients.
    """
    why = """
        `DistributedDataParallel` averages gradients because its own `forward` prepares for it. A forward of the network
        inside gives the same loss, and its backward leaves each rank with its own gradient. Every rank then trains a
        network of its own, on a fraction of the data.
    """
    symptom = """
        Nothing is raised and every rank's loss falls. More ranks do not help, and rank 0's checkpoint has learned from
        rank 0's data alone.
    """
    fix = (
        "call the wrapper (`model(x)`) wherever a loss is computed; give what else the loss needs a place in the "
        "network's `forward`"
    )
    deliberate = """
        A forward past the wrapper that nothing is learned from, one whose gradients the script averages by itself, and
        one that gives the same gradient on every rank are not reported.
    """
    bad = (
        START
        + """\
        model = DistributedDataParallel(net)
"""
        + LOOP
        + """\
            loss = (model.module(torch.randn(8, 4)) - 1.0).pow(2).mean()  # BUG
            loss.backward()
            opt.step()
        """,
        START
        + """\
        alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
        model = DistributedDataParallel(net, process_group=alone)  # BUG
"""
        + LOOP
        + """\
            loss = (model(torch.randn(8, 4)) - 1.0).pow(2).mean()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        START
        + """\
        model = DistributedDataParallel(net)
"""
        + LOOP
        + """\
            with torch.no_grad():
                old = model.module(torch.randn(8, 4))
            (model(torch.randn(8, 4)) - old).pow(2).mean().backward()
            opt.step()
        """,
        START
        + """\
        # Past the wrapper, and averaged by hand.
        model = DistributedDataParallel(net)
"""
        + LOOP
        + """\
            (model.module(torch.randn(8, 4)) - 1.0).pow(2).mean().backward()
            for p in net.parameters():
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._calls: dict[tuple[OptimizerId, int], dict[int, Site]] = {}  # by wrapper
        self._latest: dict[int, Site] = {}

    def on_rank_step(self, event: RankStep) -> Verdicts:
        """Note the calls past a wrapper; only a comparison tells whether the ranks do differ for it."""
        found: dict[int, Site] = {}
        for passes in event.passes:
            if not passes.averaged and not passes.local:
                inside = set(self.history.ranks.wrappers[passes.wrapper].params)
                site = self._call({d.pid for d in event.digests} & inside)
                found[passes.wrapper] = self._latest[passes.wrapper] = site or self._latest.get(
                    passes.wrapper, NOWHERE
                )
        if found and len(self._calls) < 256:
            self._calls[event.oid, event.iteration] = found
        return ()

    def _call(self, pids: set[ParamId]) -> Site:
        """The line that called the network since the step before, as the loss sees it."""
        graph, now = self.history.graph, self.history.iteration
        for part in (part for pid in sorted(pids) for part in self.history.ledger.fresh(pid)):
            roots = [root.nid for root in part.event.roots]
            within = graph.ancestors(roots)
            used = [
                op for op in param_users(graph, within, pids) if op.site and graph.iteration_of[op.nid] >= now
            ]
            if used and (root := graph.get(roots[0])) is not None:
                return used_in(self.history, min(used, key=lambda op: op.nid), root)
        return NOWHERE

    @classmethod
    def compare(cls, ranks: Sequence[Rule]) -> Iterable[Across]:
        first = ranks[0]
        assert isinstance(first, BypassedReducer)
        for drift in drifts([rank.history for rank in ranks]):
            wrapper = first.history.ranks.wrapper_of(drift.pairs[0].pid)
            if wrapper is None:
                continue
            pids = [pair.pid for pair in drift.pairs]
            if wrapper.members == 1:
                text = (
                    f"the process group of this wrapper has one member: each rank trains its own "
                    f"{networks(first.history, pids)}, and nothing is averaged"
                )
                fix = "leave `process_group` out, or pass a group with all ranks that train this network together"
                sites = [("wrapper", wrapper.site), ("step", drift.step.site)]
                yield _across(drift, Verdict(wrapper.site, text, sites, pids, fix=fix, explains=pids))
            elif site := first._calls.get((drift.step.oid, drift.step.iteration), {}).get(wrapper.number):
                text = (
                    f"this calls {networks(first.history, pids)} past its wrapper (made on "
                    f"{line(first.history, wrapper.site)}), so its gradient is never averaged: the ranks step with "
                    f"different ones from iteration {drift.step.iteration + 1:,} on"
                )
                sites = [("wrapper", wrapper.site), ("call", site), ("step", drift.step.site)]
                yield _across(drift, Verdict(site, text, sites, pids, explains=pids))


def _across(drift: Drift, verdict: Verdict) -> Across:
    return Across((0, *drift.others), verdict, drift.step.iteration)


rule = BypassedReducer
