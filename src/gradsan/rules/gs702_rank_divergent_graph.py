"""GS702: a parameter gets gradient on some ranks only, or takes no part in the loss while the ranks wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradsan.judge.flow import SHAPING
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, Backward, ParamId, Site, Step, Unreduced
from gradsan.rules.base import Across, Rule, Verdict, Verdicts

START = """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        class Agent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.trunk = torch.nn.Linear(4, 8)
                self.policy = torch.nn.Linear(8, 2)
                self.value = torch.nn.Linear(8, 1)
            def forward(self, x):
                h = self.trunk(x).tanh()
                return self.policy(h), self.value(h)
        agent = Agent()
"""
LOOP = """\
        opt = torch.optim.SGD(agent.parameters(), lr=0.1)
        torch.manual_seed(dist.get_rank())
        for _ in range(4):
            opt.zero_grad()
"""


class RankDivergentGraph(Rule):
    code = "GS702"
    name = "rank-divergent-graph"
    severity = "error"
    across_ranks = True
    what = """
        A parameter that the ranks average gets gradient on some of them only, or takes no part in the loss at all:
        `DistributedDataParallel` raises or hangs, and gradients that are averaged by hand are added to the wrong ones.
    """
    why = """
        Averaging is a conversation in a fixed order: every rank must have something to say about every parameter. A
        head that is used under a condition, or whose output does not reach the loss, leaves one rank waiting for an
        answer that never comes.
    """
    symptom = """
        "Expected to have finished reduction in the prior iteration", or a job that stands still until a timeout.
    """
    fix = (
        "let every head take part in the loss on every rank (`loss + 0 * unused.sum()`), or pass "
        "`find_unused_parameters=True` to the wrapper; by hand, average zeros where a rank has no gradient"
    )
    deliberate = """
        Heads that are used now and then, with `find_unused_parameters=True` or with zeros in place of a missing
        gradient, are not reported.
    """
    bad = (
        START
        + """\
        model = DistributedDataParallel(agent)
"""
        + LOOP
        + """\
            logits, value = model(torch.randn(8, 4))  # BUG
            loss = logits.pow(2).mean()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        START
        + """\
        # Which head is used depends on the rank, and the wrapper knows of it.
        model = DistributedDataParallel(agent, find_unused_parameters=True)
"""
        + LOOP
        + """\
            logits, value = model(torch.randn(8, 4))
            (logits if dist.get_rank() else value).pow(2).mean().backward()
            opt.step()
        """,
        START
        + """\
        # Averaged by hand, with zeros where a rank has none.
"""
        + LOOP
        + """\
            logits, value = agent(torch.randn(8, 4))
            loss = logits.pow(2).mean()
            if dist.get_rank() == 0:
                loss = loss + value.pow(2).mean()
            loss.backward()
            for p in agent.parameters():
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._backward: Backward | None = None
        self._pending: set[ParamId] = set()  # fed since the last step
        self._refused: list[Unreduced] = []

    def on_backward(self, event: Backward) -> Verdicts:
        self._backward = event
        self._pending.update(event.fed)
        return ()

    def on_step(self, event: Step) -> Verdicts:
        self._pending.clear()
        return ()

    def on_unreduced(self, event: Unreduced) -> Verdicts:
        self._refused.append(event)
        used, history = self._use(set(event.params)), self.history
        how = (
            "is computed here, and takes no part in"
            if used
            else "is not used in this forward, and has no part in"
        )
        yield Verdict(
            used or event.site,
            f"{networks(history, event.params)} {how} the loss on {line(history, self._loss())}: the wrapper waits for "
            f"its gradient, and refuses the next forward",
            [*self._created(event.params), ("loss", self._loss()), ("call", event.site)],
            event.params,
            explains=event.params,
        )

    def _created(self, pids: Iterable[ParamId]) -> list[tuple[str, Site]]:
        return [("created", self.history.params[pid].created) for pid in pids]

    def _loss(self) -> Site:
        if self._backward is None:
            return NOWHERE
        roots = [op for root in self._backward.roots if (op := self.history.graph.get(root.nid)) is not None]
        return roots[0].site if roots else self._backward.site

    def _use(self, pids: set[ParamId]) -> Site:
        """The last line that used one of these, as the loss sees it; the wrapper itself has only looked at them."""
        graph = self.history.graph
        writes = {op.inputs[0] for op in graph.ops.values() if op.kind == "written"}  # its initialisation
        users = [
            op for op in graph.ops.values()
            if op.site and op.live and op.name not in SHAPING and op.nid not in writes
            and any(set(params_of(source)) & pids for source in graph.inputs(op))
        ]  # fmt: skip
        if not users or self._backward is None:
            return NOWHERE
        last = max(users, key=lambda op: op.nid)
        root = graph.get(self._backward.roots[0].nid) if self._backward.roots else None
        return used_in(self.history, last, root) if root is not None else last.site

    @classmethod
    def compare(cls, ranks: Sequence[Rule]) -> Iterable[Across]:
        mine = [rank for rank in ranks if isinstance(rank, RankDivergentGraph)]
        for index, rank in enumerate(mine):
            for event in rank._refused:
                for other, theirs in enumerate(mine):
                    fed = _fed_there(rank.history, theirs.history, event)
                    if other != index and fed:
                        yield _some_only(mine, other, index, fed)
        for other in range(1, len(mine)):
            for one, two in ((0, other), (other, 0)):
                if only := _only_here(mine[one], mine[two]):
                    yield _some_only(mine, one, two, only)


def _fed_there(here: History, there: History, event: Unreduced) -> list[ParamId]:
    """Those that have got gradient on the other rank, by its own numbers."""
    wrappers = [history.ranks.wrappers.get(event.wrapper) for history in (here, there)]
    if wrappers[0] is None or wrappers[1] is None or len(wrappers[0].params) != len(wrappers[1].params):
        return []
    same = dict(zip(wrappers[0].params, wrappers[1].params, strict=True))
    return [same[pid] for pid in event.params if same.get(pid) in there.ever_fed]


def _only_here(one: RankDivergentGraph, two: RankDivergentGraph) -> list[ParamId]:
    """What the script averages by itself, and only this rank has gradient of; the other is waited for in vain."""
    found = list[ParamId]()
    for oid, optimizer in one.history.optimizers.items():
        other = two.history.optimizers.get(oid)
        if (
            other is None
            or len(other.params) != len(optimizer.params)
            or not two._pending & set(other.params)
        ):
            continue
        exchanged = one.history.ranks.exchanged["gradient"]
        found += [
            pid
            for pid, same in zip(optimizer.params, other.params, strict=True)
            if pid in one._pending and same not in two._pending and exchanged
        ]
    return found


def _some_only(ranks: list[RankDivergentGraph], one: int, two: int, pids: list[ParamId]) -> Across:
    rule, groups = ranks[one], [ranks[index].history.ranks.group for index in (one, two)]
    numbers = [
        group.rank if group is not None else index for group, index in zip(groups, (one, two), strict=True)
    ]
    history = rule.history
    site = rule._use(set(pids)) or rule._loss()
    verdict = Verdict(
        site,
        f"{networks(history, pids)} gets gradient from the loss on {line(history, rule._loss())} on rank {numbers[0]} "
        f"and none on rank {numbers[1]}: while one rank averages it, the other waits for something else",
        [*rule._created(pids), ("use", site), ("loss", rule._loss())],
        pids,
        explains=pids,
        key="ranks",
    )
    return Across((one, two), verdict, history.iteration)


rule = RankDivergentGraph
