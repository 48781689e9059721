"""What in a target carries gradient, and where it should have lost it."""

from __future__ import annotations

from gradsan.judge.flow import JOINING, LINEAR, SELECTING, SHAPING, Term
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import LOGARITHMS
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import Residual
from gradsan.record.events import Op, ParamId, ValueId

PROBABILITIES = LOGARITHMS | {"softmax", "sigmoid"}
LIMITING = {"clamp", "exp", "div", "min", "minimum", "sub"}
MIXING = {"mul", "add", "sub", "rsub", "neg", *JOINING}  # a sum over atoms or actions is a value


def modelled(graph: Provenance, residual: Residual, consumed: set[ParamId]) -> list[Term]:
    """Terms that stand for data though they are live: what a model says of the reward, where this loss does not train
    the model."""
    return [t for t in residual.live() if not graph.live_params([t.op.nid]) & consumed]


def is_climbed(history: History, value: Op, apart_from: Op) -> bool:
    """Whether a loss takes this value as it is, so that it has to be live there: an imagined return that an actor
    climbs. What multiplies something live is a weight."""
    graph = history.graph
    roots = {root.nid for c in history.ledger.recent.values() if c.consumed_pids() for root in c.event.roots}
    stack, seen = [value.nid], {value.nid, apart_from.nid}
    while stack:
        nid = stack.pop()
        if nid in roots:
            return True
        for user in graph.consumers.get(nid, ()):
            op = graph.get(user)
            if op is not None and user not in seen and op.live and _is_plain(graph, op):
                seen.add(user)
                stack.append(user)
    return False


def _is_plain(graph: Provenance, op: Op) -> bool:
    alone = op.name not in ("mul", "div") or sum(i.live for i in graph.inputs(op)) == 1
    return alone and op.name in LINEAR | JOINING


def policy_weight(graph: Provenance, target: list[Term]) -> Op | None:
    """The value that makes a target live, where that is a ratio or a probability of the policy: a trace, a truncated
    importance weight. The values themselves are constants then."""
    stack, seen, weights = [term.op for term in target], set[ValueId](), list[Op]()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        live = [i for i in graph.inputs(op) if i.live]
        through = op.name in MIXING  # traces of later steps in those of earlier ones
        if (through and live) or (op.name in SHAPING | SELECTING and len(live) == 1):
            stack += live
        elif _is_of_a_policy(graph, op):
            weights.append(op)
        else:
            return None
    return min(weights, key=lambda op: op.nid, default=None)


def _is_of_a_policy(graph: Provenance, op: Op) -> bool:
    while op.name not in PROBABILITIES and "log_prob" not in op.tags:
        live = [i for i in graph.inputs(op) if i.live]
        scaled = op.name == "mul" and len(op.inputs) == 1
        if len(live) != 1 or not (scaled or op.name in SHAPING | SELECTING | LIMITING):
            return False
        op = live[0]
    return True
