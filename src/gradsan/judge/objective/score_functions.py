"""Score functions, `log_prob * weight`, next to what the environment gave: is what was rewarded made likelier?

Whether a weight is a reward or a cost cannot be told from a loss. It can where the weight is made of returns, and the
rewards that they are the sum of are known: then more is better, because an environment says so."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import BOUNDING, JOINING, REDUCING, SELECTING, SHAPING, TAKEN_OUT, first_scalar
from gradsan.judge.history import History
from gradsan.judge.meaning import head
from gradsan.judge.objective.scores import SURPRISES
from gradsan.judge.objective.weighed import DIFFERENCES, Met, entries, is_score, met_in
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.return_laws import ReturnRow, Series
from gradsan.record.events import NOWHERE, Backward, Op, ParamId, Site, ValueId

PLAIN = SHAPING | SELECTING | REDUCING | JOINING | TAKEN_OUT | {"exp", "clamp", "alias"}


def weighed_scores(history: History, event: Backward) -> Iterator[tuple[Met, int]]:
    """Log-probabilities that returns weigh, and the way that a step down the loss moves them: 1 where it raises those
    of what was rewarded more."""
    roots = [root.nid for root in event.roots]
    for met in met_in(history, event):
        if met.op.name != "mul" or met.constant is None or not is_score(history, met.live):
            continue
        signs = (
            score_sign(history, met.live) * _weight(history, met) * sign_in_loss(history, met.op.nid, roots)
        )
        if signs:
            yield met, -signs


def critics_of_rewards(history: History, event: Backward) -> set[ParamId]:
    """Heads that are fitted to returns of the rewards that an environment gave: they are to be large."""
    found: set[ParamId] = set()
    for met in met_in(history, event):
        if met.op.name in DIFFERENCES and met.constant is not None:
            series = Series(entries(history, met))
            if series.is_large_enough() and _rises_with_predictions(series):
                found |= head(history.graph, met.live.nid)
    return found


def _rises_with_predictions(series: Series) -> bool:
    """Whether each number is its reward and what is expected or known of the next step."""
    law = series.backward_law(all(e.prediction is not None for e in series.entries.values()))
    share = law.next + law.value
    if not law.exact or not 0.05 < share < 1.0 + 1e-4 or min(law.next, law.value) < -1e-4:
        return False
    return law.reward > 0.0 if series.varied_rewards else series.adds_up_to_reward(law) and law.constant > 0.0


def sign_of_step(op: Op) -> int:
    """The sign of an operation with one value that counts; 0 where it is not known."""
    if op.name in PLAIN | BOUNDING | {"add", "sub"}:
        return 1
    if op.name in ("neg", "rsub"):
        return -1
    if op.name in ("mul", "div") and len(op.inputs) == 1:
        return 1 if first_scalar(op) > 0 else -1
    if op.name in ("mul", "div") and op.facts.operand:
        return 1 if op.facts.operand > 0 else -1
    return 0


def score_sign(history: History, op: Op) -> int:
    """With which sign the log-probability stands in this value; 0 where that is not known."""
    turns = _turns(history, op)
    return 0 if turns is None else (-1) ** len(turns)


def turned_at(history: History, op: Op) -> Site:
    """Where the sign was turned, in a value that falls when the log-probability in it rises."""
    turns = _turns(history, op)
    return turns[-1].site if turns is not None and len(turns) % 2 else NOWHERE


def _turns(history: History, op: Op) -> list[Op] | None:
    """The operations that turn the sign of the log-probability in this value, the first one last; None where it is not
    known what becomes of it."""
    graph, turns = history.graph, list[Op]()
    while "log_prob" not in op.tags and op.name != "log_softmax":
        live = [source for source in graph.inputs(op) if source.live]
        if op.name in SURPRISES:
            return [*turns, op]
        if op.name == "log" and live and live[0].name in PLAIN | {"softmax"}:
            return turns
        turned = len(op.inputs) == 2 and op.name == "sub" and op.inputs[1] == (live[0].nid if live else 0)
        step = -1 if turned else sign_of_step(op)
        if not step or not live or (len(live) > 1 and op.name not in JOINING):
            return None
        if step < 0:
            turns.append(op)
        op = live[0]
    return turns


def sign_in_loss(history: History, nid: ValueId, roots: list[ValueId]) -> int:
    """With which sign a value stands in the loss, on every way to it."""
    graph = history.graph
    within, signs, stack = graph.live_ancestors(roots), set[int](), [(nid, 1)]
    seen: set[tuple[ValueId, int]] = set()
    while stack:
        now, sign = stack.pop()
        if now in roots:
            signs.add(sign)
        for user in (within[n] for n in graph.consumers.get(now, ()) if n in within):
            turned = user.name == "sub" and len(user.inputs) == 2 and user.inputs[1] == now
            step = -1 if turned else sign_of_step(user)
            if not step:
                return 0
            if (onward := (user.nid, sign * step)) not in seen:
                seen.add(onward)
                stack.append(onward)
    return signs.pop() if len(signs) == 1 else 0


def _weight(history: History, met: Met) -> int:
    """1 where the weight rises with the rewards that follow, -1 where it falls."""
    assert met.constant is not None
    graph, book, found = history.graph, history.experience, set[int]()
    known = book.rows_behind(met.live, len(met.numbers))
    if known is None:
        return 0
    stack, seen, centred = [(met.constant, 1)], set[ValueId](), set[int]()
    while stack:
        op, sign = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        numbers = book.numbers.get(op.nid, ())
        if len(numbers) == len(met.numbers):
            rows = [
                ReturnRow(row, number) for row, number in zip(known, numbers, strict=True) if row is not None
            ]
            series = Series(rows)
            if rising := _rises_with_reward(series):
                if rising > 0 or series.varied_rewards or not _changes_sign(series):
                    if _is_sum_so_far(series, rising):
                        return 0
                    found.add(sign * rising)
                    continue
                centred.add(sign * rising)
        stack += _summands(op, list(graph.inputs(op)), sign)
    if not found and not _is_summed_forward(graph, met.constant):
        found = centred
    return found.pop() if len(found) == 1 else 0


def _changes_sign(series: Series) -> bool:
    numbers = [e.number for e in series.entries.values()]
    return min(numbers) < -series.tolerance and max(numbers) > series.tolerance


def _is_sum_so_far(series: Series, rising: int) -> bool:
    """What grows with time and has the sign of a reward that is always the same: those that were given already."""
    rewards = [e.number * e.transition.reward for e in series.entries.values()]
    return rising < 0 and not series.varied_rewards and min(rewards) > -series.tolerance


def _is_summed_forward(graph: Provenance, weight: Op) -> bool:
    behind = {op.name for op in graph.ancestors([weight.nid]).values()}
    return "cumsum" in behind and "flip" not in behind


def _summands(op: Op, inputs: list[Op], sign: int) -> list[tuple[Op, int]]:
    if op.name in ("add", "sub") and len(inputs) == 2:
        return [(inputs[0], sign), (inputs[1], -sign if op.name == "sub" else sign)]
    if op.name == "div" and inputs:  # by a deviation
        return [(inputs[0], sign)]
    same_rows = op.name in SHAPING | TAKEN_OUT | {"alias", "sub", "add", "neg", "mul"}
    return (
        [(inputs[0], sign * sign_of_step(op))] if same_rows and len(inputs) == 1 and sign_of_step(op) else []
    )


def _rises_with_reward(series: Series) -> int:
    if not series.is_large_enough():
        return 0
    law = series.backward_law(with_predictions=False)
    if not law.exact or not 0.05 < law.next < 1.0 + 1e-4:
        return 0
    if series.varied_rewards:
        return (law.reward > 0.0) - (law.reward < 0.0)
    # The same at every step: more of them are left in the beginning.
    reward = series.pairs[0][0].transition.reward
    falls = [e.number - following.number > series.tolerance for e, following in series.pairs]
    rises = [following.number - e.number > series.tolerance for e, following in series.pairs]
    return (all(falls) - all(rises)) * ((reward > 0.0) - (reward < 0.0))
