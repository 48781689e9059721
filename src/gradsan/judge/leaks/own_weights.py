"""Log-probabilities of choices that are weighed with something that the same policy made, live: its ratio, its
entropy, a reward with its own divergence in it.

`-(weight * advantage * log_prob)` is a score function: what multiplies the log-probability is a number that says how
good the choice was. Expectations under another policy (`ratio * (log_prob - reference)`), entropies and focal losses
have two live factors, too, and are right: there no advantage takes part, or the score is a divergence.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.objective.scores import SURPRISES, picks_one_of_all
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Backward, Op, ValueId

PICKING = {"gather", "take_along_dim", "getitem"}
CASTS = {"float", "to", "double", "type", "type_as", "half", "bfloat16"}
LINEAR = (
    flow.SHAPING
    | flow.REDUCING
    | {"add", "sub", "rsub", "neg", "mul", "div", "std", "var", "clamp", "stack", "cumsum", "roll"}
)


def weighs_own_choice(
    history: History,
    contribution: Contribution,
    product: Op,
    score: Op,
    weight: Op,
    within: dict[ValueId, Op],
) -> bool:
    """`score` is the log-probability of choices and nothing else, `weight` is made by the same parameters, and an
    advantage that takes both signs has a part in it."""
    graph = history.graph
    chosen = list(_terms(graph, score))
    if not chosen or not all(scores_a_choice(graph, op) for op in chosen):
        return False
    if not graph.live_params([score.nid]) & graph.live_params([weight.nid]):
        return False
    return goes_both_ways(contribution.event, graph, score) and (
        _is_multiplied(graph, product, within) or _has_factor(graph, weight) or _has_summand(graph, weight)
    )


def weighs_by_own_judge(history: History, contribution: Contribution, score: Op, weight: Op) -> bool:
    """The log-probability of choices is weighed with what another network, which learns by losses of its own, says of
    them, and the policy moves that: by the mean over its own probabilities, or by an action of its own to compare
    with."""
    graph, consumed = history.graph, contribution.consumed_pids()
    scored, weighed = graph.live_params([score.nid]), graph.live_params([weight.nid])
    others = weighed - scored - consumed
    if not scored & weighed & consumed or not any(history.owner_of(pid) for pid in others):
        return False
    chosen = [op for op in _terms(graph, score) if op.live]
    return bool(chosen) and all(scores_a_choice(graph, op) for op in chosen)


def imitates_by_own_certainty(
    graph: Provenance, roots: list[ValueId], product: Op, score: Op, weight: Op
) -> bool:
    """`-(p * log p)` of what was chosen, to be made small: each choice is weighed with its own probability, live. Below
    1/e that makes it less likely. With the other sign it is one choice's share of an entropy, to be made large."""
    chosen = list(flow.terms(graph, score))
    if len(chosen) != 1 or not scores_a_choice(graph, chosen[0].op):
        return False
    if not _is_probability_of(graph, weight, chosen[0].op):
        return False
    found = [term for nid in roots if (root := graph.get(nid)) for term in flow.terms(graph, root)]
    entering = {term.sign for term in found if term.op.nid == product.nid}
    turned = -1 if chosen[0].op.name in SURPRISES else 1
    return entering == {-chosen[0].sign * turned}


def _is_probability_of(graph: Provenance, weight: Op, choice: Op) -> bool:
    """`choice.exp()`, or the same choice from the softmax of the same logits; also `p * (1 - p)`."""
    if weight.name == "mul" and len(weight.inputs) == 2:
        live = [i for i in graph.inputs(weight) if i.live]
        return any(i.name == "exp" and _is_probability_of(graph, i, choice) for i in live)
    while weight.name in flow.SHAPING:
        source = next((i for i in graph.inputs(weight) if i.live), None)
        if source is None:
            return False
        weight = source
    if weight.name == "exp":
        inside = [term for i in graph.inputs(weight) for term in flow.terms(graph, i)]
        return [term.op.nid for term in inside] == [choice.nid]
    of = next(graph.inputs(weight), None)
    if weight.name not in PICKING or len(weight.inputs) < 2 or of is None or of.name != "softmax":
        return False
    logits = next(graph.inputs(of), None)
    return logits is not None and logits.nid in _logits_of(graph, choice)


def _logits_of(graph: Provenance, choice: Op) -> set[ValueId]:
    """What a chosen log-probability was normalised from, under all the forms that it has had."""
    source = next(graph.inputs(choice), None)
    if choice.name not in SURPRISES and source is not None:
        source = next(graph.inputs(source), None)
    found = set[ValueId]()
    while source is not None:
        found.add(source.nid)
        source = next(graph.inputs(source), None) if source.name in flow.SHAPING else None
    return found


def _terms(graph: Provenance, score: Op) -> Iterator[Op]:
    """The summands of a score, before a part of them was taken."""
    for term in flow.terms(graph, score):
        op = term.op
        while op.live and op.name in flow.SELECTING and len(op.inputs) == 1:
            op = next(graph.inputs(op), op)
        yield op


def is_plain(graph: Provenance, score: Op) -> bool:
    """Whether nothing is subtracted from it that a network made: that is a divergence."""
    return all(op.live or not graph.value_params([op.nid]) for op in _terms(graph, score))


def scores_a_choice(graph: Provenance, op: Op) -> bool:
    """The log-probability of what was chosen, not those of all that could be."""
    if not op.live or op.name == "exp":
        return False
    if "log_prob" in op.tags or op.name in SURPRISES:
        return True
    return len(op.inputs) > 1 and picks_one_of_all(graph, op)


def goes_both_ways(event: Backward, graph: Provenance, score: Op) -> bool:
    """In the user's own backward some choices were made likelier and others less likely."""
    behind = graph.live_ancestors([score.nid])
    return any(
        probe.kind == "log-prob" and probe.value in behind and probe.positive and probe.negative
        for probe in event.facts.probes
    )


def _is_multiplied(graph: Provenance, product: Op, within: dict[ValueId, Op]) -> bool:
    """On the way to where it is averaged, by numbers from outside."""
    op = product
    while True:
        if op.name in ("mul", "div") and any(is_number(graph, i) for i in graph.inputs(op)):
            return True
        users = [within[n] for n in dict.fromkeys(graph.consumers.get(op.nid, ())) if n in within]
        if len(users) != 1 or users[0].name not in flow.SHAPING | {"mul", "div", "neg"}:
            return False
        op = users[0]


def _has_factor(graph: Provenance, weight: Op) -> bool:
    op: Op | None = weight
    while op is not None and op.name in flow.SHAPING | {"mul", "div", "neg"}:
        if op.name == "mul" and any(is_number(graph, i) for i in graph.inputs(op)):
            return True
        live = [i for i in graph.inputs(op) if i.live]
        op = live[0] if len(live) == 1 else None
    return False


def _has_summand(graph: Provenance, weight: Op) -> bool:
    """A reward among the live terms of the weight, normalised or not."""
    behind = graph.ancestors([weight.nid], lambda op, source: op.live and op.name in LINEAR)
    return any(
        op.name in ("add", "sub", "rsub") and any(is_number(graph, i) for i in graph.inputs(op))
        for op in behind.values()
        if op.live
    )


def normalised(graph: Provenance, op: Op) -> Op | None:
    """What `(x - x.mean()) / (x.std() + eps)` was made of: x."""
    here: Op | None = op
    while here is not None and here.name in flow.SHAPING | {"div", "mul", "clamp"}:
        here = next((i for i in graph.inputs(here) if i.live), None)
    sides = list(graph.inputs(here)) if here is not None and here.name == "sub" else []
    mean = sides[1] if len(sides) == 2 else None
    mean = flow.behind_all(graph, mean, flow.SHAPING | flow.REDUCING | {"median"})
    return sides[0] if mean is not None and mean.nid == sides[0].nid else None


def is_number(graph: Provenance, op: Op) -> bool:
    """Many numbers that no network made; not a mask, which only says what counts."""
    if op.live or not op.floating or not any(n > 1 for n in op.shape):
        return False
    base: Op | None = op
    while base is not None and base.name in flow.SHAPING | flow.SELECTING | CASTS:
        source = next(graph.inputs(base), None)
        if source is None:
            break
        if base.name in CASTS and not source.floating:
            return False
        base = source
    return True
