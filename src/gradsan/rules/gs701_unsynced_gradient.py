"""GS701: ranks step with different gradients, or hold different parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradsan.judge.drift import Drift, apart, drifts, side_by_side
from gradsan.judge.history import History
from gradsan.judge.report.findings import AcrossRanks
from gradsan.judge.report.wording import name_of, networks, quoted
from gradsan.rules.base import Across, Rule, Verdict

JOB = """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 1)
"""
START = (
    JOB
    + """\
        model = DistributedDataParallel(net)
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        torch.manual_seed(dist.get_rank())
"""
)
MOST_ROWS = 20  # of the table


class UnsyncedGradient(Rule):
    code = "GS701"
    name = "unsynced-gradient"
    severity = "error"
    across_ranks = True
    what = """
        The ranks of one job step with different gradients, or hold different parameters, of a network that they are
        meant to train together.
    """
    why = """
        Data-parallel training is one training: every rank has the same weights, computes the gradient of its own part
        of the batch, and steps with the average. A rank that steps with its own gradient, even once, has other weights
        from then on, and nothing brings them together again: the averages that follow are of gradients of different
        networks.
    """
    symptom = """
        Nothing is raised. The loss falls more slowly than the batch size promises, evaluation on rank 0 is worse than
        the training loss says, and a checkpoint depends on which rank has written it.
    """
    fix = (
        "let the last backward before every step run outside of `no_sync()`, and change weights (loading, "
        "re-initialising) on every rank alike, or before the network is wrapped"
    )
    deliberate = """
        Local SGD averages weights now and then; it is recognised where the script itself averages them, or a
        communication hook does.
    """
    bad = (
        START
        + """\
        for _ in range(4):
            opt.zero_grad()
            with model.no_sync():
                loss = (model(torch.randn(8, 4)) - 1.0).pow(2).mean()
                loss.backward()
            opt.step()  # BUG
        """,
        START
        + """\
        # Initialised once more, on each rank by itself.
        torch.nn.init.normal_(net.weight)
        for _ in range(4):
            opt.zero_grad()
            loss = (model(torch.randn(8, 4)) - 1.0).pow(2).mean()
            loss.backward()
            opt.step()  # BUG
        """,
    )
    good = (
        START
        + """\
        # Accumulated over two micro-batches, and averaged with the second.
        for _ in range(4):
            opt.zero_grad()
            with model.no_sync():
                (model(torch.randn(8, 4)) - 1.0).pow(2).mean().backward()
            (model(torch.randn(8, 4)) - 1.0).pow(2).mean().backward()
            opt.step()
        """,
        JOB
        + """\
        # Each rank has an agent of its own.
        torch.manual_seed(dist.get_rank())
        own = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(own.parameters(), lr=0.1)
        for _ in range(4):
            opt.zero_grad()
            (own(torch.randn(8, 4)) - 1.0).pow(2).mean().backward()
            opt.step()
        """,
    )

    @classmethod
    def compare(cls, ranks: Sequence[Rule]) -> Iterable[Across]:
        history = ranks[0].history
        for drift in drifts([rank.history for rank in ranks]):
            site = drift.step.site or history.optimizers[drift.step.oid].last_step
            pids = [pair.pid for pair in drift.pairs]
            verdict = Verdict(
                site,
                _sentence(history, ranks, drift),
                [("optimizer", history.optimizers[drift.step.oid].site), ("step", site)],
                pids,
                unless_explained=pids,
                across_ranks=_table(history, [rank.history for rank in ranks], drift),
            )
            yield Across((0, *drift.others), verdict, drift.step.iteration)


def _sentence(history: History, ranks: Sequence[Rule], drift: Drift) -> str:
    pair = drift.pairs[0]
    numbers = [_rank(ranks[index]) for index in (0, drift.others[0])]
    what = "step with different gradients" if drift.in_gradient else "hold different parameters"
    norms = (
        (pair.mine.gradient, pair.other.gradient)
        if drift.in_gradient
        else (pair.mine.weight, pair.other.weight)
    )
    kind = "gradient" if drift.in_gradient else "weight"
    others = ", ".join(str(_rank(ranks[index])) for index in drift.others[:8])
    said = (
        f"rank {numbers[0]} and rank{'s' * (len(drift.others) > 1)} {others} {what} of "
        f"{networks(history, [p.pid for p in drift.pairs])} from iteration {drift.step.iteration + 1:,} on: the "
        f"{kind} of {quoted(name_of(history, pair.pid))} has the norm {norms[0]:.4g} on rank {numbers[0]} and "
        f"{norms[1]:.4g} on rank {numbers[1]}"
    )
    if all(not p.averaged and p.local for p in drift.step.passes) and drift.step.passes:
        said += "; every forward since the step before ran under `no_sync`, so nothing was averaged"
    if share := apart(drift.last):
        said += f"; when they were last compared, the weights were {100 * share:.2g} % apart"
    return said


def _table(history: History, ranks: Sequence[History], drift: Drift) -> list[AcrossRanks]:
    numbers = [group.rank for rank in ranks if (group := rank.ranks.group) is not None]
    rows = []
    for pair, digests in zip(drift.pairs[:MOST_ROWS], side_by_side(ranks, drift), strict=False):
        name = name_of(history, pair.pid)
        norms = {n: (d.gradient if drift.in_gradient else d.weight) for n, d in digests.items()}
        shown = {n: norms.get(n) for n in numbers}
        rows.append(AcrossRanks(name, "gradient" if drift.in_gradient else "weight", shown))
    return rows


def _rank(rule: Rule) -> int:
    group = rule.history.ranks.group
    return group.rank if group is not None else 0


rule = UnsyncedGradient
