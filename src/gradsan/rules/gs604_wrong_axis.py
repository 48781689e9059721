"""GS604: an operation runs over the batch where its result is used along the actions."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.lines.module_settings import axis_set_at
from gradsan.judge.report.wording import line
from gradsan.judge.shapes.against_time import AgainstTime, against_time
from gradsan.judge.shapes.answer_groups import MixedGroup, SpreadOtherwise, mixed_groups, spread_otherwise
from gradsan.judge.shapes.attention_axes import summed_along_another
from gradsan.judge.shapes.axes import roles
from gradsan.judge.shapes.crossed_rows import CrossedRows, crossed_rows
from gradsan.judge.shapes.entropy_axes import entropies_of_the_rows
from gradsan.judge.shapes.flat_orders import OtherOrder, other_orders
from gradsan.judge.shapes.misread_gathers import MisreadGather, misread_gathers
from gradsan.judge.shapes.pooled_targets import POOLING, added_to_every_row, total_beside_rows
from gradsan.judge.shapes.recurrences import ATTENTION, AlongTheBatch, along_the_batch
from gradsan.judge.shapes.rows_and_units import (
    CHOOSING,
    NORMALISING,
    SMALLER,
    is_learned,
    runs_over_one_unit,
    runs_over_rows_of_members,
)
from gradsan.judge.shapes.torn_views import is_torn
from gradsan.judge.shapes.turned_groups import Turned, turned_groups
from gradsan.judge.shapes.uneven_scaling import UnevenScaling, uneven_scaling
from gradsan.judge.shapes.used_otherwise import used_along_another
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

CANDIDATES = NORMALISING | CHOOSING | SMALLER | {"gather", "mean", "logsumexp", "cosine_similarity"}
TIMES = 4  # a line takes the same one of several agents' sequences by chance


class WrongAxis(Rule):
    code = "GS604"
    name = "wrong-axis"
    severity = "error"
    needs_deep = True
    what = """
        A softmax, a maximum, a `gather` or the mean of a dueling head runs over the batch, while its result is used
        along the actions. Or a softmax runs over an axis of one element. Or a recurrent layer or attention runs from
        sample to sample of the batch, because its input is not in the order it was made for.
    """
    why = """
        The shapes fit, so nothing raises. But the numbers of one state then depend on which other states are in the
        batch. A softmax over the batch does not sum to one for any state, a maximum over the batch is the value of
        another state, and a mean over all shifts the values of a state by what the others are worth.
    """
    symptom = "The loss falls a little and stays; results change with the batch size, and acting on one state differs."
    fix = (
        "run it along the actions: `dim=-1` (with `keepdim=True` where the result meets what it was made of)"
    )
    deliberate = """
        Attention and pooling over rows are used along the rows, and are not reported. A softmax over the samples
        on purpose: allow it on the line.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(4, 3)
        log_probs = []
        for _ in range(4):
            p = torch.softmax(net(torch.randn(1, 4)), dim=0)  # BUG
            log_probs.append(p.gather(1, torch.multinomial(p, 1)).log())  # gradsan: allow unstable-log-prob
        (-(torch.cat(log_probs) * torch.randn(4, 1)).mean()).backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(policy(s), dim=0)  # BUG
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, advantage = torch.randn(8, 4), torch.randn(8)
        probs = policy(s).softmax(0)  # BUG
        dist = torch.distributions.Categorical(probs)
        (-(dist.log_prob(dist.sample()) * advantage).mean()).backward()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(4, 3)  # one state at a time
        log_probs = []
        for _ in range(4):
            p = torch.softmax(net(torch.randn(1, 4)), dim=-1)
            log_probs.append(p.gather(1, torch.multinomial(p, 1)).log())  # gradsan: allow unstable-log-prob
        (-(torch.cat(log_probs) * torch.randn(4, 1)).mean()).backward()
        """,
        """
        import torch
        score, body = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)  # pooling over a set that has one member so far
        items = torch.randn(1, 4)
        (score(items).softmax(0) * body(items)).sum(0).pow(2).sum().backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(policy(s), dim=1)
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._taken: dict[Site, list[int]] = {}  # the settings with which a line took something out

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for mixed in mixed_groups(graph, within):
            yield self._mixed(event, mixed)
        for spread in spread_otherwise(graph, within):
            yield self._spread(event, spread)
        for found in along_the_batch(graph, within):
            if found.sure or self._is_always_taken(found.told):
                yield self._along_the_batch(event, found)
        for other in other_orders(graph, within):
            yield self._other_order(event, other)
        for turned in turned_groups(graph, within):
            yield self._turned(event, turned)
        for summed, averaged in entropies_of_the_rows(graph, within):
            yield self._entropy_of_the_rows(event, summed, averaged)
        for gather in misread_gathers(graph, within):
            yield self._misread(event, gather)
        for uneven in uneven_scaling(graph, within):
            yield self._uneven(event, uneven)
        for running in against_time(graph, within):
            yield self._against_time(event, running)
        for crossed in crossed_rows(graph, within):
            yield self._rows_are_gone(event, crossed)
        yield from self._by_roles(event, within)

    def _by_roles(self, event: Backward, within: dict[ValueId, Op]) -> Verdicts:
        """What only the roles of the axes tell."""
        graph = self.history.graph
        candidates = [op for op in within.values() if op.name in CANDIDATES and op.facts.axes]
        reshaped = [op for op in within.values() if op.name in ("view", "reshape") and op.live]
        if not candidates and not reshaped:
            return
        for weights in candidates:
            if (product := summed_along_another(graph, weights, within)) is not None:
                yield self._crossed(event, weights, product)
        known = roles(graph, within)
        for op in reshaped:
            source = next(graph.inputs(op), None)
            if source is not None and source.nid in known and is_torn(graph, op, source, known[source.nid]):
                yield self._torn(event, op, source)
        pooled = [op for op in within.values() if op.name in POOLING and not op.shape]
        for op in (*candidates, *(op for op in pooled if op not in candidates)):
            source = next(graph.inputs(op), None)
            if source is None or source.nid not in known:
                continue
            if runs_over_one_unit(op, source, known) and (op.live or is_learned(graph, op)):
                yield self._constant(event, op, source)
            used = added_to_every_row(graph, op, source, within, known) if op.name in POOLING else None
            used = used or total_beside_rows(graph, op, source, within, known)
            if used is None and op.name in CANDIDATES:
                used = used_along_another(self.history, op, source, within, known)
            if used is not None:
                what = "one of the columns is chosen" if op.name == "logsumexp" else "its result is used"
                members = runs_over_rows_of_members(op, source, known)
                where = (
                    f"over the {source.shape[1]} rows of each member" if members else _in_words(op, source)
                )
                chosen = axis_set_at(self.history, op)
                yield Verdict(
                    chosen,
                    f"`{op.name}` of {list(source.shape)} runs {where}, and {what} for each row on "
                    f"{line(self.history, used.site)}",
                    [
                        ("axis", chosen),
                        ("wrong axis", op.site),
                        ("used", used.site),
                        ("backward", event.site),
                    ],
                    event.reached,
                )

    def _misread(self, event: Backward, found: MisreadGather) -> Verdict:
        op = found.op
        return Verdict(
            op.site,
            f"`{op.name}` runs along axis {found.axis}, and its index has one element along axis {found.other}: of the "
            f"{found.size} places there only the first is ever read",
            [("wrong axis", op.site), ("backward", event.site)],
            event.reached,
            fix="choose along the axis where the index has one element: `q.gather(1, action.unsqueeze(1))`",
        )

    def _uneven(self, event: Backward, found: UnevenScaling) -> Verdict:
        mean, spread = found.mean, found.spread
        return Verdict(
            found.divided.site,
            f"the mean is taken along axis {mean.facts.axes[0]} and the deviation along axis {spread.facts.axes[0]}: "
            "what is divided has neither a deviation of one along the one nor along the other",
            [("divided", found.divided.site), ("mean", mean.site), ("wrong axis", spread.site),
             ("backward", event.site)],
            event.reached,
            fix="take both along the same axis",
        )  # fmt: skip

    def _against_time(self, event: Backward, found: AgainstTime) -> Verdict:
        op, told = found.op, found.told
        how = "turns round" if told.name == "flip" else "puts together step by step"
        return Verdict(
            op.site,
            f"`{op.name}` runs along axis {found.axis}, and time is axis {found.time}: {line(self.history, told.site)} "
            f"{how} what is taken along it",
            [("wrong axis", op.site), ("time", told.site), ("backward", event.site)],
            event.reached,
            fix=f"run it along the steps: `dim={found.time}`",
        )

    def _rows_are_gone(self, event: Backward, found: CrossedRows) -> Verdict:
        op = found.reduced
        return Verdict(
            op.site,
            f"`{op.name}` runs over the rows, and what is left of them, one number for each of {found.size} columns, "
            f"is put together with one for each row on {line(self.history, found.met.site)}: there are as many",
            [("wrong axis", op.site), ("used", found.met.site), ("backward", event.site)],
            event.reached,
        )

    def _crossed(self, event: Backward, weights: Op, product: Op) -> Verdict:
        axis, last = weights.facts.axes[0], len(weights.shape) - 1
        return Verdict(
            weights.site,
            f"`softmax` of {list(weights.shape)} runs along axis {axis}, and the product on "
            f"{line(self.history, product.site)} sums over axis {last}: the weights of what is added up are not shares "
            "of one",
            [("wrong axis", weights.site), ("used", product.site), ("backward", event.site)],
            event.reached,
            fix="normalise over what is attended to: `softmax(dim=-1)` for `weights @ values`",
        )

    def _entropy_of_the_rows(self, event: Backward, summed: Op, averaged: Op) -> Verdict:
        return Verdict(
            summed.site,
            f"p log p is summed over the rows of the batch, and {line(self.history, averaged.site)} averages over the "
            "actions: the entropy is that of a row times their number, divided by that of the actions, so it grows "
            "with the batch",
            [("wrong axis", summed.site), ("averaged", averaged.site), ("backward", event.site)],
            event.reached,
            fix="sum over the actions, then average over the rows: `-(p * log_p).sum(-1).mean()`",
        )

    def _spread(self, event: Backward, found: SpreadOtherwise) -> Verdict:
        site, (groups, size) = found.spread.site, found.folded.shape
        right = "repeat_interleave" if found.spread.name != "repeat_interleave" else "repeat"
        return Verdict(
            site,
            f"`{found.spread.name}` lays the means of {[groups, size]} along axis {found.mean.facts.axes[0]} out in "
            "another order than the rows that they are subtracted from: most rows get the mean of others",
            [("wrong order", site), ("mean", found.mean.site), ("folded", found.folded.site),
             ("backward", event.site)],
            event.reached,
            fix=f"`{right}` in place of `{found.spread.name}`, or subtract before flattening: "
            "`(g - g.mean(1, keepdim=True)).flatten()`",
        )  # fmt: skip

    def _mixed(self, event: Backward, mixed: MixedGroup) -> Verdict:
        history, repeated = self.history, mixed.repeated
        culprit = (mixed.folded if mixed.wrong_form else mixed.mean).site
        order = "one after the other" if repeated.name == "repeat_interleave" else "in turn"
        return Verdict(
            culprit,
            f"the {mixed.mean.name} of {list(mixed.folded.shape)} along axis {mixed.mean.facts.axes[0]} is one of "
            f"answers to different prompts: `{repeated.name}` on {line(history, repeated.site)} made {mixed.answers} "
            f"rows of each of {mixed.prompts}, {order}",
            [
                ("wrong axis", culprit),
                ("mean", mixed.mean.site),
                ("repeated", repeated.site),
                ("backward", event.site),
            ],
            event.reached,
            fix="after `repeat_interleave(k, 0)`: `rewards.view(-1, k)` and `mean(1)`; after `repeat(k, 1)`: "
            "`rewards.view(k, -1)` and `mean(0)`",
        )

    def _other_order(self, event: Backward, found: OtherOrder) -> Verdict:
        odd, usual = (" × ".join(map(str, order)) for order in (found.order, found.usual))
        return Verdict(
            found.odd.site,
            f"flattened from {odd} here, it meets what was flattened from {usual} on "
            f"{line(self.history, found.met.site)}: as many elements, but hardly one meets its own",
            [("other order", found.odd.site), ("met", found.met.site), ("backward", event.site)],
            event.reached,
            fix="give both the same axes in the same order before flattening: `torch.stack(parts)`, or "
            "`x.transpose(0, 1).flatten()`",
        )

    def _turned(self, event: Backward, found: Turned) -> Verdict:
        return Verdict(
            found.flattened.site,
            "the samples were laid out as groups, turned, and are flattened here as they lie: what "
            f"{line(self.history, found.met.site)} puts them together with is in the order from before, so each gets "
            "what belongs to another",
            [("other order", found.flattened.site), ("met", found.met.site), ("backward", event.site)],
            event.reached,
            fix="turn the groups back before flattening: `groups.t().flatten()`",
        )

    def _is_always_taken(self, taken: Op) -> bool:
        """Time after time the same one: where agents are trained one after the other, it is another each time."""
        met = self._taken.setdefault(taken.site, [])
        if len(met) < TIMES:
            met.append(taken.facts.settings)
        elif taken.facts.settings not in met:
            met[0] = taken.facts.settings
        return len(met) == TIMES and len(set(met)) == 1

    def _along_the_batch(self, event: Backward, found: AlongTheBatch) -> Verdict:
        op, history = found.op, self.history
        kind = "attention" if op.name == ATTENTION else f"`{op.name}`"
        return Verdict(
            op.site,
            f"{kind} of {list(op.shape)} runs along axis {found.axis}, from sample to sample of the batch: "
            f"{line(history, found.told.site)} {found.what}",
            [("wrong axis", op.site), ("other axis", found.told.site), ("backward", event.site)],
            event.reached,
            fix="say which axis is time: `batch_first=True` for what is `[batch, time, …]`, and nothing (the default) "
            "for `[time, batch, …]`, or exchange the axes before",
        )

    def _torn(self, event: Backward, op: Op, source: Op) -> Verdict:
        return Verdict(
            op.site,
            f"`{op.name}` makes {list(op.shape)} of {list(source.shape)}: it moves no number, so those of one row end "
            "up in several, and no axis means what the lines after it take it for",
            [("wrong axis", op.site), ("backward", event.site)],
            event.reached,
            fix="exchange the axes with `transpose` or `permute`; `reshape` moves no number",
        )

    def _constant(self, event: Backward, op: Op, source: Op) -> Verdict:
        """Of one unit the softmax is one. A layer with one action may be configured so; scores of several rows that
        are to be compared with each other are not."""
        return Verdict(
            op.site,
            f"`{op.name}` of {list(source.shape)} runs along an axis of one element: its result is the same "
            f"whatever it is given{', and no gradient comes through' if op.live else ''}",
            [("wrong axis", op.site), ("backward", event.site)],
            event.reached,
            severity="error" if len(source.shape) > 2 else "warning",
            fix="run it along the axis of what is compared (`dim=1` of scores `[B, N, 1]`); for one unit, `sigmoid`",
        )


def _in_words(op: Op, source: Op) -> str:
    if len(op.facts.axes) == len(source.shape):
        return "over everything, rows and columns"
    width = source.shape[-1]
    return f"along axis {op.facts.axes[0]}, not along the {f'{width} columns' if width != 1 else 'last one'}"


rule = WrongAxis
