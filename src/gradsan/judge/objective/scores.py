"""Differences of log-probabilities: ratios to an old policy, divergences from a reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in, way_of
from gradsan.judge.objective import ratios
from gradsan.judge.provenance import Provenance, params_of
from gradsan.judge.shapes.written_densities import noise_in
from gradsan.record.events import Op, ParamId, Site, ValueId

NEAR = 40  # operations between a draw and what is scored in its place
SAME = 1e-5  # log-probabilities that are computed alike differ by rounding
DROPPING = {"dropout", "alpha_dropout", "feature_dropout"}
PASSED_ON = flow.SHAPING | flow.SELECTING | flow.JOINING | flow.REDUCING | flow.TAKEN_OUT
PASSED_ON = PASSED_ON | {"tensor", "as_tensor", "from_numpy", "clamp"}
SURPRISES = {"cross_entropy", "nll_loss"}
COMPARING = ("sub", "kl_div")
MEASURED = ("div", "clamp")  # a quotient of probabilities, and what is clipped around one
SCORING = SURPRISES | {"gather", "getitem", "log_softmax"}


@dataclass(slots=True)
class Difference:
    """A log-probability that is learned, less a constant one (or the other way round)."""

    op: Op
    live: Op
    constant: Op
    low: float
    high: float
    mean: float
    turned: bool = False  # both sides are log-probabilities with a minus

    @property
    def largest(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def forward(self) -> bool:
        """Whether the constant is subtracted from the learned one; of what has a minus, the other way round."""
        if self.op.name == "div":  # of probabilities, or of their exponentials
            return True
        return self.op.name == "sub" and (self.op.inputs[0] == self.live.nid) != self.turned


def differences(graph: Provenance, roots: list[ValueId]) -> Iterator[Difference]:
    within = graph.live_ancestors(roots)
    yield from quotients(graph, within)
    for op in graph.named(within, COMPARING):
        sides = [graph.get(nid) for nid in op.inputs[:2]] if len(op.facts.apart) == 3 else []
        live = next((s for s in sides if s is not None and s.live), None)
        constant = next((s for s in sides if s is not None and not s.live), None)
        if live is not None and constant is not None:
            low, high, mean = op.facts.apart
            difference = Difference(op, live, constant, low, high, mean, _is_surprise(graph, live))
            if not difference.turned or ratio_of(graph, difference, within) is not None:
                yield difference


def quotients(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Difference]:
    """Ratios that no difference of known log-probabilities tells: of probabilities, or of densities written by hand."""
    told = set[ValueId]()
    for op in graph.named(within, MEASURED):
        parts = ratios.parts_of(graph, op) if len(op.facts.apart) == 3 else None
        if (
            parts is None
            or parts.op.nid in told
            or (parts.op.name == "sub" and len(parts.op.facts.apart) == 3)
        ):
            continue
        told.add(parts.op.nid)
        low, high, mean = op.facts.apart
        yield Difference(parts.op, parts.live, parts.constant, low, high, mean)


def _is_surprise(graph: Provenance, op: Op) -> bool:
    """Minus a log-probability, behind what reshaped and picked it."""
    turned = False
    while "log_prob" not in op.tags and not picks_one_of_all(graph, op):
        source = _passed_on(graph, op)
        if source is None:
            break
        turned ^= op.name == "neg"
        op = source
    return turned != (op.name in SURPRISES)


def _passed_on(graph: Provenance, op: Op) -> Op | None:
    """What was only reshaped, picked, masked, averaged over its tokens, or had its sign turned."""
    if op.name in PASSED_ON | {"neg"}:
        return next((i for i in graph.inputs(op) if i.floating), None)
    return masked(graph, op)


def masked(graph: Provenance, op: Op) -> Op | None:
    """What was multiplied with a mask, or divided by a count: of two operands the only one that a network has made."""
    sources = list(graph.inputs(op)) if op.name in ("mul", "div") and len(op.inputs) == 2 else []
    made_by = [graph.value_params([i.nid]) for i in sources]
    if len(sources) != 2 or bool(made_by[0]) == bool(made_by[1]) or (op.name == "div" and not made_by[0]):
        return None
    return sources[0] if made_by[0] else sources[1]


def ratio_of(graph: Provenance, difference: Difference, within: dict[ValueId, Op]) -> Op | None:
    """The importance ratio that is made of it."""
    if not difference.forward:
        return None
    if difference.op.name == "div":
        return difference.op
    users = flow.users_through(graph, difference.op, within, flow.SHAPING | flow.REDUCING | {"clamp"})
    return next((user for user in users if user.name == "exp"), None)


def is_clipped_around_one(graph: Provenance, ratio: Op, within: dict[ValueId, Op]) -> bool:
    """As in PPO: what is cut on both sides is expected to be near one. A weight that corrects for another policy is
    cut above only."""
    users = flow.users_through(graph, ratio, within, flow.SHAPING)
    bounds = [sorted(u.facts.scalars) for u in users if u.name == "clamp"]
    return any(len(b) == 2 and b[0] < 1.0 < b[1] for b in bounds)


def scoring(graph: Provenance, op: Op) -> dict[ValueId, Op]:
    """What a log-probability was computed from, up to the choice of what it scores: how the actions before came
    about is another matter."""
    return graph.ancestors([op.nid], lambda user, _: not chooses(user))


def chooses(op: Op) -> bool:
    return "sample" in op.tags or op.name in flow.CHOOSING


def reads(history: History, region: dict[ValueId, Op]) -> dict[ParamId, set[ValueId]]:
    """The parameters in a region, and what was read of each: a step makes another value of it. (How many steps there
    were is not known of iterations that were only counted.)"""
    found: dict[ParamId, set[ValueId]] = {}
    for nid in region:
        if (read := history.param_nodes.get(nid)) is not None:
            found.setdefault(read[0], set()).add(nid)
    return found


def is_taken_out(graph: Provenance, difference: Difference) -> bool:
    """`logp - logp.detach()`: the constant is that very value."""
    return difference.live.nid in graph.ancestors([difference.constant.nid])


def newest_use(graph: Provenance, region: dict[ValueId, Op]) -> ValueId:
    """The last operation in a region that read a weight."""
    uses = [op.nid for op in region.values() if any(params_of(i) for i in graph.inputs(op))]
    return max(uses, default=ValueId(0))


def made(graph: Provenance, op: Op) -> Op:
    """The operation that made a log-probability, behind what stored and picked it: the last, where many did."""
    found: list[Op] = []
    stack, seen = [op], set()
    while stack:
        current = stack.pop()
        if current.nid in seen:
            continue
        seen.add(current.nid)
        compared = current.name in ("sub", "neg") and _are_scores(graph, current)
        if (
            "log_prob" in current.tags
            or picks_one_of_all(graph, current)
            or not (compared or current.name in PASSED_ON)
        ):
            found.append(current)
        else:
            stack.extend(i for i in graph.inputs(current) if i.floating)
        if not compared and current.name in ("mul", "div") and (source := masked(graph, current)) is not None:
            stack.append(source)
    scored = [o for o in found if "log_prob" in o.tags or o.name in SCORING]
    return max(scored or found or [op], key=lambda o: o.nid)


def _are_scores(graph: Provenance, op: Op) -> bool:
    """What a network says of one thing, less what it says of another (a preference), or minus a cross-entropy."""
    sources = list(graph.inputs(op))
    if op.name == "neg":
        return all(s.name in PASSED_ON | SURPRISES for s in sources)
    return len(sources) == 2 and op.name == "sub" and all(_is_score(graph, s) for s in sources)


def _is_score(graph: Provenance, op: Op) -> bool:
    while not picks_one_of_all(graph, op) and "log_prob" not in op.tags:
        source = _passed_on(graph, op)
        if source is None:
            break
        op = source
    return "log_prob" in op.tags or op.name in SCORING


def picks_one_of_all(graph: Provenance, op: Op) -> bool:
    """Whether it picks the log-probability of a choice from those of all."""
    source = next(graph.inputs(op), None)
    picking = op.name in ("gather", "getitem", "take_along_dim")
    return picking and source is not None and source.name in ("log_softmax", "log", "sub")


def line_of(history: History, difference: Difference) -> Site:
    """The line that made the constant side, as the code sees it that subtracts: where one helper made both, the one
    that asked for this one."""
    graph = history.graph
    own, other = made(graph, difference.constant), made(graph, difference.live)
    if own.site == other.site or not own.site:
        return used_in(history, own, difference.op)
    return own.site


def line_that_scored(history: History, difference: Difference) -> Site:
    """As `line_of`; of a helper that made both, the innermost call that made only this one."""
    apart = _calls_apart(history, difference)
    return line_of(history, difference) if apart is None else apart[0]


def line_that_scored_otherwise(history: History, difference: Difference) -> Site | None:
    """Of a helper that made both, the call that scored what was made of a choice. The other scores the very choice that
    was drawn, and so does it right."""
    apart = _calls_apart(history, difference)
    return None if apart is None or changed_choice(history.graph, difference) is None else apart[1]


def _calls_apart(history: History, difference: Difference) -> tuple[Site, Site] | None:
    own, other = made(history.graph, difference.constant), made(history.graph, difference.live)
    if own.site != other.site or not own.site:
        return None
    own, other = _parting(history.graph, own, other)
    calls = zip(way_of(history, own), way_of(history, other), strict=False)
    return next(((site, theirs) for site, theirs in calls if site != theirs), None)


def changed_choice(graph: Provenance, difference: Difference) -> Op | None:
    """What was done last to a choice before the learned side scored it; the other side scores it as it was drawn."""
    both = made(graph, difference.constant), made(graph, difference.live)
    stack, seen = [both, _parting(graph, *both)], set[ValueId]()
    while stack:
        sides = stack.pop()
        seen.add(sides[0].nid)
        for ours, theirs in zip(*(graph.inputs(side) for side in sides), strict=False):
            drawn = _handed(graph, ours)
            if chooses(drawn) or noise_in(graph, drawn):
                changed = _made_of(graph, drawn, _all_handed(graph, theirs, PASSED_ON - {"clamp"}))
                if changed is not None:
                    return changed
            if ours.nid not in seen and "log_prob" in ours.tags and "log_prob" in theirs.tags:
                stack.append((ours, theirs))
    return None


def _parting(graph: Provenance, own: Op, other: Op) -> tuple[Op, Op]:
    """Of two values that were made alike, the operations up to which they were: the newest that a network has a part in
    and whose inputs were made by different operations. The values themselves, where nothing differs."""
    found, stack, seen = list[tuple[Op, Op]](), [(own, other)], set[ValueId]()
    while stack:
        ours, theirs = stack.pop()
        if ours.nid in seen or ours.nid == theirs.nid:
            continue
        seen.add(ours.nid)
        inputs = [[_handed(graph, i) for i in graph.inputs(op)] for op in (ours, theirs)]
        pairs = list(zip(*inputs, strict=False))
        if len(inputs[0]) != len(inputs[1]) or any(
            a.kind == b.kind == "operation" and a.name != b.name for a, b in pairs
        ):
            found.append((ours, theirs))
        else:
            stack += [pair for pair in pairs if graph.value_params([pair[0].nid])]
    return max(found, key=lambda pair: pair[0].nid, default=(own, other))


def _handed(graph: Provenance, op: Op, passing: set[str] = PASSED_ON) -> Op:
    """What was passed on, before it was reshaped, picked or put together."""
    return flow.unshaped(graph, op, passing)


def _all_handed(graph: Provenance, op: Op, passing: set[str]) -> set[ValueId]:
    """As `_handed`, of every part that was put together."""
    stack, seen, found = [op], set[ValueId](), set[ValueId]()
    while stack:
        if (here := stack.pop()).nid in seen:
            continue
        seen.add(here.nid)
        sources = list(graph.inputs(here)) if here.name in passing else []
        found |= set() if sources else {here.nid}
        stack += sources
    return found


def _made_of(graph: Provenance, drawn: Op, among: set[ValueId]) -> Op | None:
    """Which of these was made of what was drawn, in a few operations."""
    stack, seen = [drawn.nid], {drawn.nid}
    while stack and len(seen) < NEAR:
        for nid in graph.consumers.get(stack.pop(0), ()):
            if nid in among:
                return graph.get(nid)
            if nid not in seen:
                seen.add(nid)
                stack.append(nid)
    return None


def batches(graph: Provenance, live: Op) -> list[Op]:
    """The data that a learned log-probability was computed for, before rows were picked from it."""
    found: dict[ValueId, Op] = {}
    within = graph.live_ancestors([live.nid])
    stack = [i for op in within.values() for i in graph.inputs(op) if not i.live and i.kind != "parameter"]
    seen: set[ValueId] = set()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if op.name in flow.SELECTING | flow.SHAPING | {"long", "int"} and op.inputs:
            stack.extend(i for i in graph.inputs(op) if i.kind != "parameter")
            if op.name in flow.SELECTING:
                continue
        found[op.nid] = op
    return list(found.values())


def identity(graph: Provenance, batch: Op) -> tuple[ValueId, ...]:
    """What it is known by: prompts and answers that are joined anew for every update are the same batch, as long as all
    of them are the same."""
    if batch.name not in ("cat", "stack"):
        return (batch.nid,)
    return tuple(nid for part in graph.inputs(batch) for nid in identity(graph, part)) or (batch.nid,)


def rows(op: Op) -> int:
    """How many samples a value holds: a row of numbers is one."""
    size = 1
    for length in op.shape:
        size *= length
    return size // op.shape[-1] if op.floating and len(op.shape) > 1 and op.shape[-1] else size
