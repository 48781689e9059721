"""GS601: `[B]` meets `[B, 1]` and becomes `[B, B]`."""

from __future__ import annotations

from gradsan.judge.effect import never_computed
from gradsan.judge.lines.callers import meeting as meeting_of
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.other_ways_out import returned_otherwise
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.judge.shapes.averaged_choices import choices_of_all_rows_averaged
from gradsan.judge.shapes.axis_identity import rows_along_columns
from gradsan.judge.shapes.late_weights import late_weights
from gradsan.judge.shapes.meetings import (
    Meeting,
    all_choices_for_all_rows,
    are_pairs_in_vain,
    axis_made_by,
    choices_scored_for_all_rows,
    columns_against_all,
    is_only_averaged,
    levels_along_targets,
    rows_laid_behind,
    spread_both,
)
from gradsan.judge.shapes.written_blocks import blocks_written
from gradsan.record.events import NOWHERE, Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

ELEMENTWISE = {"add", "sub", "rsub", "mul", "div", "rdiv", "minimum", "maximum", "min", "max", "where", "pow"}
MEETING = ELEMENTWISE | LIBRARY_LOSSES
MAKES_COLUMN = {"unsqueeze", "getitem", "view", "reshape"}


class BroadcastLoss(Rule):
    code = "GS601"
    name = "broadcast-loss"
    severity = "error"
    needs_deep = True
    what = """
        On the way to the loss a tensor of shape `[B]` meets one of shape `[B, 1]`. Broadcasting makes a `[B, B]` matrix
        of it: every prediction is compared with every target. Or other axes meet by accident: a target per sample `[B,
        1]` with the values of all actions `[B, A]`, or a weight per sequence `[B]` with the steps of `[B, T]`. Or the
        levels of a quantile loss lie along the targets instead of the predictions.
    """
    why = """
        The loss is finite and falls, but its minimum is the same value for every state: the mean of all
        targets. The agent learns a constant, and nothing raises. `mse_loss` and its like print a
        warning about sizes, a plain subtraction does not even do that.
    """
    symptom = """
        The loss falls and settles at about the variance of the targets; the predictions become the same
        for all states, and the return stays near that of a random policy.
    """
    fix = "bring both to one shape: `q.squeeze(-1)` or `target.unsqueeze(-1)`"
    fix_of_columns = "take the value of the action that was chosen: `q.gather(1, action)`"
    fix_of_rows = "lay it along the rows: `weight.unsqueeze(-1)`"
    fix_of_blocks = "choose one place in each row: `table[torch.arange(len(actions)), actions] = targets`"
    fix_of_scores = "give it one choice per row: `dist.log_prob(action.squeeze(-1))`"
    fix_of_levels = (
        "lay the levels along the predictions: give them their size on the predictions' axis, 1 on the other"
    )
    deliberate = (
        "Pairs made on purpose (`x[:, None] - y`, quantile losses with `[B, N, 1]` and `[B, 1, N]`) are not "
        "reported."
    )
    bad = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        chosen = q(s).gather(1, a)
        loss = (chosen - target).pow(2).mean()  # BUG
        loss.backward()
        """,
        """
        import torch
        v, pi = torch.nn.Linear(3, 1), torch.nn.Linear(3, 2)
        s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        advantage = returns - v(s).detach()  # BUG
        log_prob = torch.distributions.Categorical(logits=pi(s)).log_prob(a)
        loss = -(log_prob * advantage).mean()
        loss.backward()
        """,
        """
        import torch
        import warnings
        warnings.simplefilter("ignore")
        v = torch.nn.Linear(3, 1)
        loss = torch.nn.functional.mse_loss(v(torch.randn(8, 3)), torch.randn(8))  # BUG
        loss.backward()
        """,
    )
    good = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        chosen = q(s).gather(1, a).squeeze(1)
        loss = (chosen - target).pow(2).mean()
        loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 5)
        current, target = net(torch.randn(8, 3)), torch.randn(8, 5)
        error = target.unsqueeze(1) - current.unsqueeze(2)
        error.abs().mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        x = net(torch.randn(8, 3)).squeeze(1)
        spread = (x[:, None] - x).pow(2).mean()
        spread.backward()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for meeting in columns_against_all(graph, within):
            what = "is compared with the values of all actions"
            yield self._verdict(event, meeting, what, self.fix_of_columns)
        for meeting in all_choices_for_all_rows(graph, within):
            what = "is compared with the choices of all rows at once,"
            yield self._verdict(event, meeting, what, self.fix_of_columns)
        for meeting in choices_of_all_rows_averaged(graph, within):
            what = "is taken, in every row, from"
            yield self._verdict(event, meeting, what, self.fix_of_columns)
        for meeting in blocks_written(graph, within):
            what = "is written, in every row, into the columns that all rows have chosen, of"
            yield self._verdict(event, meeting, what, self.fix_of_blocks)
        for meeting in choices_scored_for_all_rows(graph, within):
            what = "scores the choices of all rows in every row of"
            yield self._verdict(event, meeting, what, self.fix_of_scores)
        for meeting in levels_along_targets(graph, within):
            what = "varies along the targets, not along the predictions, of the pairs"
            yield self._verdict(event, meeting, what, self.fix_of_levels)
        for meeting in rows_along_columns(graph, within):
            what = "belongs to the rows and is laid along the columns of"
            yield self._verdict(event, meeting, what, self.fix_of_rows)
        for meeting in late_weights(self.history, within):
            yield self._too_late(event, meeting)
        for op in graph.named(within, MEETING):
            pair = self._pair(op, within)
            spread = spread_both(graph, op) or rows_laid_behind(graph, op, within) if pair is None else None
            if spread is not None:
                yield self._spread(event, op, spread)
            if pair:
                shapes = [_shape(s.shape) for s in sorted(pair, key=lambda side: op.inputs.index(side.nid))]
                size = max(pair[1].shape)
                harmless = is_only_averaged(graph, op, within)
                right = (
                    "; only sums and their mean are taken, so the gradient is right, and costly"
                    if harmless
                    else ""
                )
                returned = returned_otherwise(self.history, axis_made_by(graph, pair[0]), op)
                met = f" on {line(self.history, op.site)}" if returned else ""
                yield Verdict(
                    returned or op.site,
                    f"`{op.name}` of {shapes[0]} and {shapes[1]}{met} makes a [{size}, {size}] matrix of "
                    f"pairs on the way to the loss on {line(self.history, event.site)}{right}",
                    [*self._made(pair, op), ("broadcast", op.site), ("backward", event.site)],
                    event.reached,
                    measure=None if harmless else never_computed,
                    severity="info" if harmless else "",
                )

    def _too_late(self, event: Backward, meeting: Meeting) -> Verdict:
        weights, average = meeting.one, meeting.other
        return Verdict(
            meeting.op.site,
            f"the weights {_shape(weights.shape)} come too late: `{average.name}` on "
            f"{line(self.history, average.site)} has made one number of all samples, so that each weight multiplies "
            "the same number and only their mean counts",
            [("averaged", average.site), ("weighed", meeting.op.site), ("backward", event.site)],
            event.reached,
            fix="weigh each sample first: `(weights * mse_loss(q, y, reduction='none')).mean()`",
        )

    def _spread(self, event: Backward, op: Op, pair: tuple[Op, Op]) -> Verdict:
        shapes = " and ".join(_shape(side.shape) for side in pair)
        return Verdict(
            op.site,
            f"`{op.name}` of {shapes} spreads both: it pairs every row with others, on the way to the loss on "
            f"{line(self.history, event.site)}",
            [*self._made(pair[::-1], op), ("broadcast", op.site), ("backward", event.site)],
            event.reached,
            measure=never_computed,
        )

    def _made(self, pair: tuple[Op, Op], op: Op) -> list[tuple[str, Site]]:
        """The lines that gave the two their forms, up to the function in which they met: either may be wrong."""
        there, (column, row) = way_of(self.history, op), pair
        made: dict[Site, str] = {}
        for o in (column, axis_made_by(self.history.graph, column), row):
            path = way_of(self.history, o)
            for site in path[: meeting_of(self.history, path, there) + 1]:
                made.setdefault(site, "other side" if o is row else "made")
        return [(role, site) for site, role in made.items() if site != op.site]

    def _verdict(self, event: Backward, meeting: Meeting, what: str, fix: str) -> Verdict:
        shapes = [_shape(o.shape) for o in (meeting.one, meeting.other)]
        culprit = (meeting.made or meeting.op).site
        return Verdict(
            culprit,
            f"in `{meeting.op.name}`, {shapes[0]} {what} {shapes[1]}, on the way to the loss on "
            f"{line(self.history, event.site)}",
            [
                ("made", meeting.made.site if meeting.made is not None else NOWHERE),
                ("broadcast", meeting.op.site),
                ("backward", event.site),
            ],
            event.reached,
            measure=never_computed,
            fix=fix,
        )

    def _pair(self, op: Op, within: dict[ValueId, Op]) -> tuple[Op, Op] | None:
        """The `[…, B, 1]` and the `[…, B]` that met in this operation by accident; also `[B, 1, 1]` and `[B, 1]`."""
        graph = self.history.graph
        # A number of tokens is a whole number; what is made of two of those is no loss.
        sides = [i for i in graph.inputs(op) if i.floating or op.floating]
        for column in sides:
            for row in sides:
                behind = column.shape[len(column.shape) - len(row.shape) - 1 :]
                if max(row.shape, default=1) < 2 or behind != (*row.shape, 1):
                    continue
                if column.shape != behind:  # `[E, B, 1]` of an ensemble, or of atoms against their support
                    if are_pairs_in_vain(graph, op, within):
                        return column, row
                    continue
                # A column that was made on this very line was made for it, unless nothing comes of the pairs.
                made_here = column.site == op.site and _makes_column(graph, column)
                if op.name in LIBRARY_LOSSES or not made_here or are_pairs_in_vain(graph, op, within):
                    return column, row
        return None


def _makes_column(graph: Provenance, column: Op) -> bool:
    """`x[:, None]`; not `x[1:]` of what was a column before, nor `x[:, :1]`, which keeps the axes there are."""
    source = next(graph.inputs(column), None)
    same_axes = source is not None and len(source.shape) == len(column.shape)
    was_one = same_axes and source is not None and (source.shape[-1:] == (1,) or column.name == "getitem")
    return column.name in MAKES_COLUMN and not was_one


def _shape(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


rule = BroadcastLoss
