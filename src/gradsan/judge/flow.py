"""Reading a loss off the provenance graph: its terms, its cuts, and how a value enters it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import prod

from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, Site, ValueId

# Operations that only rearrange what they get, or take a part of it.
SHAPING = {
    "squeeze", "unsqueeze", "view", "reshape", "flatten", "transpose", "permute", "T", "mT", "expand",
    "contiguous", "clone", "to", "float", "double", "type", "view_as", "expand_as", "reshape_as", "ravel",
    "movedim", "swapaxes", "alias", "flip", "repeat", "tile", "unflatten", "swapdims", "t", "type_as", "requires_grad_",
    "half", "bfloat16", "cpu", "cuda", "as_strided", "diagonal", "repeat_interleave", "atleast_1d",
}  # fmt: skip
SELECTING = {
    "narrow",
    "select",
    "getitem",
    "index_select",
    "unbind",
    "split",
    "chunk",
    "roll",
    "gather",
    "take_along_dim",
}
SAME = {"clone", "contiguous", "to", "float", "double"}
REDUCING = {"mean", "sum", "nanmean", "nansum"}
JOINING = {
    "stack",
    "cat",
    "hstack",
    "vstack",
    "setitem",
    "index_put",
    "copy",
    "where",
    "scatter",
    "masked_fill",
}
LAID_TOGETHER = {"cat", "concat", "concatenate", "hstack", "vstack", "stack"}  # all of them, and nothing else
ADDED_AT = {"index_add", "scatter_add"}  # a sum in which one side is put to the places that an index says
ADDITIVE = {"add", "sub", "rsub", "neg", "sum"}
LINEAR = SHAPING | SELECTING | REDUCING | ADDITIVE | {"mul", "div", "min", "minimum", "amin"}
SCALING = SHAPING | REDUCING | {"mul", "div", "neg"}
AVERAGING = LINEAR | JOINING | {"clamp", "max", "maximum"}
BOUNDING = {"min", "max", "minimum", "maximum"}  # of two values: rising in both
# A value as it is, taken out of its graph.
TAKEN_OUT = {"detach", "data", "item", "float", "numpy", "array", "tolist"}
CHOOSING = {
    "argmax", "argmin", "multinomial", "bernoulli", "sample", "one_hot", "randint", "poisson", "normal",
    "categorical", "topk", "sort", "argsort",
}  # fmt: skip


def first_scalar(op: Op) -> float:
    """The number among the arguments, where there is one."""
    return op.facts.scalars[0] if op.facts.scalars else 1.0


def weighs_nothing(graph: Provenance, op: Op | None) -> bool:
    """Multiplied by the number zero: a term that somebody has switched off."""
    while op is not None and (op.name in SAME or op.name in SCALING):
        inputs = list(graph.inputs(op))
        if op.name == "mul" and len(inputs) == 1 and first_scalar(op) == 0:
            return True
        op = inputs[0] if len(inputs) == 1 else None
    return False


@dataclass(slots=True)
class Term:
    """One summand of a value: `sign * (scaled?) op`."""

    op: Op
    sign: int
    scaled: bool  # multiplied by something on the way (a discount, a mask, a coefficient)
    level: int  # how many values deep it was reached
    factor: float = 1.0  # of the numbers that it was multiplied with
    weighed: bool = False  # by a value, not by a number


def terms(
    graph: Provenance, root: Op, limit: int = 400, through_joins: bool = False, reshape: bool = True
) -> list[Term]:
    """The summands that `root` is made of, followed through everything that keeps a sum a sum. Without
    `reshape`, elements stay where they are: equal summands then really are equal."""
    found: list[Term] = []
    stack = [Term(root, 1, False, 0)]
    seen: set[tuple[ValueId, int]] = set()
    while stack and len(seen) < limit:
        term = stack.pop()
        key = (term.op.nid, term.sign)
        if key in seen:
            continue
        seen.add(key)
        parts = _parts(graph, term, through_joins, reshape)
        if parts is None:
            found.append(term)
        else:
            stack.extend(parts)
    return found + stack


def _parts(graph: Provenance, term: Term, through_joins: bool, reshape: bool) -> list[Term] | None:
    op, sign = term.op, term.sign
    rest = (term.scaled, term.level + 1, term.factor, term.weighed)
    if not op.live:  # whatever it was made of: to the gradient it is one constant
        return None
    inputs = [graph.get(nid) for nid in op.inputs]
    known = [i for i in inputs if i is not None]
    if not known or len(known) != len(inputs):
        return None
    name = op.name
    alpha = op.facts.alpha
    if name == "add":
        flipped = sign if alpha >= 0 else -sign
        return [Term(i, sign if n == 0 else flipped, *rest) for n, i in enumerate(known)]
    if name == "sub":
        return [Term(i, sign if n == 0 else -sign, *rest) for n, i in enumerate(known)]
    if name in ("rsub", "neg"):
        return [Term(i, -sign if n == 0 else sign, *rest) for n, i in enumerate(known)]
    if name in ("mul", "div"):
        return _product_parts(op, known, term)
    if name in SAME or (reshape and (name in SHAPING or name in REDUCING or _adds_axes(op, known))):
        return [Term(known[0], sign, *rest)]
    if through_joins and name in JOINING | ADDED_AT:
        floating = [i for i in known if i.floating]
        return [Term(i, sign, *rest) for i in floating] or None
    return None


def _adds_axes(op: Op, known: list[Op]) -> bool:
    """`x[:, None]` is `unsqueeze`, written as an index."""
    longer = len(op.shape) > len(known[0].shape)
    return op.name == "getitem" and longer and len(known) == 1 and prod(op.shape) == prod(known[0].shape)


def _product_parts(op: Op, known: list[Op], term: Term) -> list[Term] | None:
    sign, level = term.sign, term.level + 1
    if len(known) == 1:
        factor = first_scalar(op)
        size = abs(factor) if op.name == "mul" else 1 / max(abs(factor), 1e-30)
        flipped = sign if factor >= 0 else -sign
        scaled = term.scaled or abs(factor) != 1.0
        return [Term(known[0], flipped, scaled, level, term.factor * size, term.weighed)]
    live = [i for i in known if i.live]
    if op.name == "div":
        return (
            [Term(known[0], sign, True, level, term.factor, True)]
            if known[0].live and not known[1].live
            else None
        )
    if len(live) == 1:
        return [Term(live[0], sign, True, level, term.factor, True)]
    return None


def inner(graph: Provenance, term: Term) -> Term:
    """What a constant term consists of, behind signs, averages and factors."""
    op, sign, factor = term.op, term.sign, term.factor
    while (op.name in SCALING or op.name in TAKEN_OUT) and op.inputs:
        source = graph.get(op.inputs[0])
        if source is None or source.live or (op.name in ("mul", "div") and len(op.inputs) > 1):
            break
        flips = op.name == "neg" or (op.name in ("mul", "div") and first_scalar(op) < 0)
        if op.name in ("mul", "div"):
            size = max(abs(first_scalar(op)), 1e-30)
            factor *= size if op.name == "mul" else 1 / size
        op, sign = source, -sign if flips else sign
    return Term(op, sign, term.scaled, term.level, factor, term.weighed)


def constant_terms(graph: Provenance, term: Term) -> list[Term]:
    """The difference of what a network says of two things (a reference model of two answers) is two terms."""
    part = inner(graph, term)
    sources = list(graph.inputs(part.op))
    if part.op.name != "sub" or len(sources) != 2 or not all(graph.value_params([s.nid]) for s in sources):
        return [term]
    signed = zip(sources, (part.sign, -part.sign), strict=True)
    return [
        t for op, sign in signed for t in constant_terms(graph, Term(op, sign, part.scaled, part.level + 1))
    ]


def same_kind(graph: Provenance, constant: Op, live: Op) -> bool:
    """Whether the constant was computed like the live value: by the same call, or from that very value. Of a product,
    or a sum, so must be what it is made of."""
    if constant.name in TAKEN_OUT:
        return live.nid in graph.ancestors([constant.nid])
    if constant.name in JOINING and live.name not in JOINING:  # step by step, in a rollout
        constant = unshaped(graph, constant, JOINING | SHAPING)
    if constant.name in SELECTING and constant.name != live.name:  # a step of what was scored as a whole
        constant, live = (unshaped(graph, op, SELECTING | SHAPING) for op in (constant, live))
    if constant.name in ADDITIVE | {"mul", "div"}:
        made_of = [
            sorted(unshaped(graph, i, SHAPING | TAKEN_OUT).name for i in graph.inputs(op))
            for op in (constant, live)
        ]
        if made_of[0] != made_of[1]:
            return False
    return constant.name == live.name and set(constant.tags) - {"no_grad", "inference_mode"} == set(live.tags)


def is_straight_through(graph: Provenance, group: list[Term]) -> bool:
    """`hard + soft - soft.detach()`: the detached twin is there for its value, the gradient does flow."""
    live = {term.op.nid for term in group if term.op.live}
    for term in group:
        if term.op.live or term.op.name not in TAKEN_OUT:
            continue
        if any(nid in live for nid in term.op.inputs):
            return True
        source = graph.get(term.op.inputs[0]) if term.op.inputs else None
        if source is not None and {t.op.nid for t in terms(graph, source)} & live:
            return True
    return False


def cuts_behind(graph: Provenance, roots: Iterable[ValueId]) -> dict[ValueId, tuple[Op, set[ParamId]]]:
    """Every cut among the values that the roots were made from, with the parameters behind it."""
    found: dict[ValueId, tuple[Op, set[ParamId]]] = {}
    for op in graph.ancestors(roots).values():
        if graph.is_cut(op):
            live = [i.nid for i in graph.inputs(op) if i.live]
            behind = graph.live_params(live)
            if behind:
                found[op.nid] = (op, behind)
    return found


def cut_off(
    graph: Provenance, roots: Iterable[ValueId], sources: Iterable[ValueId] | None = None
) -> Op | None:
    """The last cut before the roots that lies behind one of the sources (any value with a graph, if not given),
    parameters or not."""
    cuts = [op for op in graph.ancestors(roots).values() if graph.is_cut(op)]
    if sources is not None:
        wanted = set(sources)
        cuts = [op for op in cuts if wanted.intersection(graph.ancestors([op.nid]))]
    return max(cuts, key=lambda op: op.nid, default=None)


def is_choice(graph: Provenance, op: Op) -> bool:
    """Whether the cut is the choosing of an action: sampling, arg max, a threshold on a random number."""
    if "sample" in op.tags and "rsample" not in op.tags:
        return True
    return op.name in CHOOSING or (op.name in ("max", "min") and not op.floating)


def culprit_of(op: Op) -> Site:
    """The line to change: where gradients were switched off, or the cutting operation itself."""
    return op.facts.grad_off or op.site


def is_linear_in(graph: Provenance, root: Op, stop: set[ValueId]) -> bool:
    """Whether the way from `root` down to the values `stop` only averages, adds, scales or takes minima."""
    stack, seen = [root], set()
    while stack:
        op = stack.pop()
        if op.nid in seen or op.nid in stop or not op.live:
            continue
        seen.add(op.nid)
        if op.name not in LINEAR:
            return False
        stack.extend(i for i in graph.inputs(op) if i.live)
    return True


def is_averaged(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether, on the way from `op` to the loss, nothing is done but averaging, adding, scaling and limiting. The steps
    of a rollout have most of that way in common: it is gone once."""
    kept = graph.remembered.get(("averaged", id(within)))
    if kept is None or kept[0] is not within:
        kept = graph.remembered["averaged", id(within)] = (within, dict[ValueId, bool]())
    known: dict[ValueId, bool] = kept[1]
    stack = [op.nid]
    while stack:
        nid = stack[-1]
        if nid in known:
            stack.pop()
            continue
        onward = [n for n in graph.consumers.get(nid, ()) if n > nid and n in within]
        straight = all(within[n].name in AVERAGING for n in onward)
        if straight and (missing := [n for n in onward if n not in known]):
            stack += missing
            continue
        known[nid] = straight and all(known[n] for n in onward)
        stack.pop()
    return known[op.nid]


def unshaped(graph: Provenance, op: Op, names: Collection[str] = SHAPING) -> Op:
    """The same numbers before they were only laid out in another way: before operations of these names, as far as
    they are known."""
    while op.name in names and (source := next(graph.inputs(op), None)) is not None:
        op = source
    return op


def behind_all(graph: Provenance, op: Op | None, names: Collection[str]) -> Op | None:
    """What operations of these names were given; nothing where it came from outside."""
    while op is not None and op.name in names:
        op = next(graph.inputs(op), None)
    return op


def users_through(graph: Provenance, op: Op, within: dict[ValueId, Op], names: set[str]) -> Iterator[Op]:
    """What is made of a value on the way to the loss, as far as only operations of these names lie between."""
    stack, seen = [op.nid], set[ValueId]()
    while stack:
        for nid in graph.consumers.get(stack.pop(), ()):
            user = within.get(nid)
            if user is None or nid in seen:
                continue
            seen.add(nid)
            yield user
            if user.name in names:
                stack.append(nid)


def param_users(graph: Provenance, within: dict[ValueId, Op], pids: set[ParamId]) -> list[Op]:
    """The operations among `within` that use one of these parameters directly."""
    return [
        op
        for op in within.values()
        if any(set(params_of(i)) & pids for i in graph.inputs(op)) and op.kind != "written"
    ]


def is_upstream(
    graph: Provenance, first: set[ParamId], second: set[ParamId], within: dict[ValueId, Op]
) -> bool:
    """Whether gradient passes through the parameters `second` to reach `first`: actor before critic. In what
    came out of a transform nobody can tell which is before which."""
    users = [op for op in param_users(graph, within, second) if op.live and not graph.is_hidden([op.nid])]
    return any(graph.live_params([op.nid]) & first for op in users)


def live_results(graph: Provenance, op: Op) -> list[Op]:
    """What one call of a custom function has given back, this and others, as far as a gradient can arrive there: they
    have numbers in a row."""
    found = [op]
    for way in (1, -1):
        at = op.nid + way
        while (other := graph.get(ValueId(at))) is not None and (other.name, other.site) == (
            op.name,
            op.site,
        ):
            found.append(other)
            at += way
    return [result for result in found if result.live]
