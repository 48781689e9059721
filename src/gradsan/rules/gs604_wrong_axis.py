"""GS604: an operation runs over the batch where its result is used along the actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.module_settings import axis_set_at
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line
from gradsan.judge.shapes.answer_groups import MixedGroup, SpreadOtherwise, mixed_groups, spread_otherwise
from gradsan.judge.shapes.attention_axes import summed_along_another
from gradsan.judge.shapes.axes import (
    BY_SIZE,
    RESHAPING,
    ROWS,
    SPREADING,
    UNITS,
    UNKNOWN,
    Roles,
    is_torn,
    onward,
    roles,
)
from gradsan.judge.shapes.entropy_axes import entropies_of_the_rows
from gradsan.judge.shapes.flat_orders import OtherOrder, other_orders
from gradsan.judge.shapes.joined_columns import of_joined_columns, side_by_side_user
from gradsan.judge.shapes.normalised_otherwise import picked_across, picked_along
from gradsan.judge.shapes.pooled_targets import POOLING, added_to_every_row
from gradsan.judge.shapes.pooling import pooled_for_each_row
from gradsan.judge.shapes.recurrences import ATTENTION, AlongTheBatch, along_the_batch
from gradsan.judge.shapes.turned_groups import Turned, turned_groups
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

NORMALISING = {"softmax", "log_softmax"}
CHOOSING = {"max", "argmax", "amax"}
CHOSEN = {"gather", "argmax", "max", "amax"}
CONSUMING = CHOSEN | {"sum", "logsumexp"}
SMALLER = {"min", "amin", "max", "amax"}
CANDIDATES = NORMALISING | CHOOSING | SMALLER | {"gather", "mean", "logsumexp", "cosine_similarity"}
MIXING = {"matmul", "mm", "bmm", "einsum", "linear", "addmm"}
COMBINING = {"add", "sub"}
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
            if source is not None and source.nid in known and is_torn(op, source, known[source.nid]):
                yield self._torn(event, op, source)
        pooled = [op for op in within.values() if op.name in POOLING and not op.shape and not op.live]
        for op in (*candidates, *(op for op in pooled if op not in candidates)):
            source = next(graph.inputs(op), None)
            if source is None or source.nid not in known:
                continue
            if _runs_over_one_unit(op, source, known) and (op.live or _is_learned(graph, op)):
                yield self._constant(event, op, source)
            used = added_to_every_row(graph, op, source, within, known) if op.name in POOLING else None
            if used is None and op.name in CANDIDATES:
                used = self._used_by(op, source, within, known)
            if used is not None:
                what = "one of the columns is chosen" if op.name == "logsumexp" else "its result is used"
                members = _runs_over_rows_of_members(op, source, known)
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

    def _used_by(
        self, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
    ) -> Op | None:
        """Who uses the result along another axis than the one it was made along."""
        graph = self.history.graph
        used = (
            self._pooled(op, within)
            or picked_along(self.history, op, within)
            or picked_across(self.history, op, within)
        )
        if used is None and op.name in SMALLER and of_joined_columns(graph, op, source, known):
            used = op if self._becomes_a_summand(op, source, within) else None
        if used is None and op.name == "logsumexp":
            used = side_by_side_user(graph, op, source, within, known)
        if used is None and _runs_over_rows_of_members(op, source, known):
            used = self._smallest_for_all(op, source, within)
        if used is None and _runs_over_rows(op, source, known):
            used = self._misused(op, source, within, known)
        return used

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
            f"`{op.name}` makes {list(op.shape)} of {list(source.shape)}: the {source.shape[-1]} columns of one row "
            "end up in several, and no axis means what the lines after it take it for",
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

    def _pooled(self, op: Op, within: dict[ValueId, Op]) -> Op | None:
        """Attention whose weights were normalised over the batch."""
        over_rows = op.name == "softmax" and op.facts.axes == (0,) and len(op.shape) > 1
        return pooled_for_each_row(self.history.graph, op, within) if over_rows else None

    def _misused(
        self, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
    ) -> Op | None:
        if op.name in NORMALISING:
            return self._used_along_units(op, within, known)
        if op.name == "gather":
            return self._first_column_only(op, source)
        if op.name == "mean":
            return self._dueling(op, source, within)
        if op.name == "logsumexp":
            return self._chosen_from(source, within) or self._chosen_from_normalised(op, source, within)
        if op.name == "cosine_similarity":
            return next(iter(onward(self.history.graph, op, within)), None)
        return self._chosen_otherwise(op, source, within, known)

    def _used_along_units(self, op: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]) -> Op | None:
        """Who takes one of the units of each row, sums over them or samples one; nobody who is content with rows."""
        found, stack, seen = None, [op], set()
        while stack:
            for user in onward(self.history.graph, value := stack.pop(), within):
                if user.nid in seen:
                    continue
                seen.add(user.nid)
                if user.name in MIXING or (user.name in CONSUMING and user.facts.axes == op.facts.axes):
                    return None
                if _takes_units(user, value, known) or _picks_one_of_each_row(user, value):
                    found = found or user
                elif user.name in BY_SIZE and user.shape == op.shape:
                    stack.append(user)
        return found

    def _first_column_only(self, op: Op, source: Op) -> Op | None:
        """`q.gather(0, a)` with an index for every row: of the columns, only the first is ever taken."""
        whole = op.facts.axes == (0,) and len(op.shape) == 2 and op.shape[1] == 1 < source.shape[1]
        return op if whole and op.shape[0] == source.shape[0] else None

    def _dueling(self, op: Op, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """What is subtracted from its own source, in a sum that also holds one value for each row."""
        graph = self.history.graph
        for user in onward(graph, op, within):
            if user.name != "sub":
                continue
            summands = list(self._summands(user))
            own = any(s.nid == source.nid for s in summands)
            column = (*source.shape[:1], *[1] * (len(source.shape) - 1))
            around = summands + [s for bigger in onward(graph, user, within) for s in self._summands(bigger)]
            if own and any(s.live and s.shape[:2] == column[:2] and s.name == "linear" for s in around):
                return user
        return None

    def _summands(self, op: Op) -> Iterator[Op]:
        if op.name not in COMBINING:
            yield op
            return
        for part in self.history.graph.inputs(op):
            yield from self._summands(part)

    def _chosen_otherwise(
        self, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
    ) -> Op | None:
        """Elsewhere on the way to this loss, values of the same form are chosen from along their units."""
        if not self._becomes_a_summand(op, source, within):
            return None
        for other in within.values():
            given = next(self.history.graph.inputs(other), None)
            if other.name not in CHOSEN or given is None or given.nid not in known or given.nid == source.nid:
                continue
            last = len(given.shape) - 1
            if (
                given.shape == source.shape
                and other.facts.axes == (last,)
                and known[given.nid][-1:] == (UNITS,)
            ):
                return other
        return None

    def _chosen_from(self, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """Who takes one of the units of each row of the very same value."""
        last = (len(source.shape) - 1,)
        users = onward(self.history.graph, source, within)
        picked = (
            u for u in users if (u.name in CHOSEN and u.facts.axes == last) or _picks_by_rows(u, source)
        )
        return next(picked, None)

    def _chosen_from_normalised(self, op: Op, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """The same, of `x - x.logsumexp(…)`: a log-softmax by hand."""
        users = onward(self.history.graph, op, within)
        made = (u for u in users if u.name == "sub" and source.nid in u.inputs and u.shape == source.shape)
        return next((chosen for u in made if (chosen := self._chosen_from(u, within)) is not None), None)

    def _smallest_for_all(self, op: Op, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """The smallest value in the batch of each critic, as the target of every row."""
        return self._summand(op, within, lambda other: source.shape[1] in other.shape)

    def _becomes_a_summand(self, op: Op, source: Op, within: dict[ValueId, Op]) -> bool:
        """Whether it is scaled and added to something for each row that it is no part of: a target."""
        graph = self.history.graph
        return self._summand(op, within, lambda other: _has_rows_of(other, source, graph)) is not None

    def _summand(self, op: Op, within: dict[ValueId, Op], has_rows: Callable[[Op], bool]) -> Op | None:
        graph, stack, seen = self.history.graph, [op], set()
        while stack:
            value = stack.pop()
            for user in onward(graph, value, within):
                if user.nid in seen:
                    continue
                seen.add(user.nid)
                lessened = user.name == "sub" and user.inputs[0] == value.nid  # `next_q - alpha * log_prob`
                if user.name == "add" or lessened:
                    others = [i for i in graph.inputs(user) if i.nid != value.nid and has_rows(i)]
                    if others and not any(i.live or self._is_part_of(op, i) for i in others):
                        return user
                elif user.name in {"mul", "detach", "item", "float"} | RESHAPING | SPREADING:
                    stack.append(user)
        return None

    def _is_part_of(self, op: Op, other: Op) -> bool:
        """Whether both were made of the same: `q.max() - q` is a regret, and no target; nor is what is taken off before
        an exponential and added again."""
        return bool({op.nid, *op.inputs} & {other.nid, *self.history.graph.ancestors([other.nid])})


def _runs_over_rows(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """Along axes that a layer was given, of several rows with several units each. What is chosen among agents or
    steps counts, too; a softmax over them is attention."""
    shape, words, axes = source.shape, known[source.nid], op.facts.axes
    fewest = 1 if op.name in NORMALISING else 2  # the softmax over one state is one, whatever it is given
    if len(shape) < 2 or shape[0] < fewest or shape[-1] < 2 or words[0] != ROWS or words[-1] != UNITS:
        return False
    if op.name in CHOOSING and len(shape) - 1 not in axes:
        return all(words[a] == ROWS and shape[a] > 1 for a in axes)
    if op.name == "log_softmax" and len(axes) == 1:  # no attention: that needs the weights themselves
        return words[axes[0]] == ROWS and (shape[axes[0]] > 1 or len(shape) == 2)
    return 0 in axes and (op.name not in NORMALISING or len(shape) == 2)


def _runs_over_rows_of_members(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """`[members, B]`, one value of each member of an ensemble for each row, and the smallest is one of the rows'."""
    if op.name not in SMALLER or 1 not in op.facts.axes or len(source.shape) not in (2, 3):
        return False
    if len(source.shape) == 3 and source.shape[2] > 1:
        return False
    return known[source.nid][:2] == (UNKNOWN, ROWS) and min(source.shape[:2]) > 1


def _has_rows_of(other: Op, source: Op, graph: Provenance) -> bool:
    parts = list(graph.inputs(source)) if source.name == "cat" else []
    return any(other.shape[:1] == value.shape[:1] for value in (source, *parts))


def _runs_over_one_unit(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(source.shape) - 1
    alone = last > 0 and source.shape[last] == 1 and known[source.nid][last] == UNITS
    return alone and op.name in NORMALISING and op.facts.axes == (last,)


def _is_learned(graph: Provenance, op: Op) -> bool:
    """A score that a network gives and that another loss uses as a number; not the choice of a distribution."""
    return "distribution" not in op.tags and bool(graph.value_params([op.nid]))


def _takes_units(user: Op, value: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(value.shape) - 1
    return user.name in CONSUMING and user.facts.axes == (last,) and known[value.nid][last] == UNITS


def _picks_one_of_each_row(user: Op, value: Op) -> bool:
    """`multinomial`, the parameters of a distribution, `x[torch.arange(n), a]`."""
    if user.name == "multinomial" or (
        "distribution" in user.tags and user.facts.axes == (len(value.shape) - 1,)
    ):
        return True
    if user.name == "getitem" and len(user.inputs) == 1 and value.shape[0] == 1 and len(value.shape) == 2:
        return not user.shape  # `x[0, i]` of a single row
    return _picks_by_rows(user, value)


def _picks_by_rows(user: Op, value: Op) -> bool:
    """`x[torch.arange(n), a]`; of `[B, A, N]` too, a distribution for each action."""
    return (
        user.name == "getitem" and len(user.inputs) == 3 and user.shape == value.shape[:1] + value.shape[2:]
    )


def _in_words(op: Op, source: Op) -> str:
    if len(op.facts.axes) == len(source.shape):
        return "over everything, rows and columns"
    width = source.shape[-1]
    return f"along axis {op.facts.axes[0]}, not along the {f'{width} columns' if width != 1 else 'last one'}"


rule = WrongAxis
