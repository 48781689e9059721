"""`action = torch.tanh_(raw)`, and `raw` is read afterwards for what it was: one memory under two names, of which only
one was to be changed.

Autograd has no objection. Whoever writes in place on purpose goes on with one of the two names; masks and limits are
left out, which are often put into a value for good (`probs = logits.masked_fill_(…).softmax(-1)`)."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.lines.source import around, called_name, names_in, tree_of
from gradsan.record.events import NOTHING, NOWHERE, Op, SiteSeen, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

BENDING = {
    "tanh",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sigmoid",
    "sqrt",
    "rsqrt",
    "square",
    "pow",
    "neg",
    "reciprocal",
}
BENDING |= {"div", "mul", "softplus", "logit", "atanh", "sin", "cos", "abs"}


SCALING = {"div", "mul"}  # what data are brought into form by, in place


class Overwritten(NamedTuple):
    op: Op
    name: str
    read: Op


def overwritten_names(history: History, within: dict[ValueId, Op]) -> Iterator[Overwritten]:
    graph = history.graph
    for op in graph.named(within, BENDING):
        seen = history.sites.get(op.site)
        part = _sliced(history, op)
        if (
            seen is None
            or not (op.live or part)
            or not (names := _written(seen.file, seen.line, op.name, bool(part)))
        ):
            continue
        known = [(seen, names), *_handed_in(history, op, seen, names)]
        written = part or op.nid
        users = [within[n] for n in graph.consumers.get(written, ()) if n in within]
        reads = [(user, name) for user in users if (name := _read_by(history, user, known))]
        if reads:
            yield Overwritten(op, reads[0][1], reads[0][0])


def _sliced(history: History, op: Op) -> ValueId:
    """Data, of which a slice is changed in place where its new value is used: `goal = a - obs[:, :1].tanh_()`. What
    the whole is from then on."""
    graph = history.graph
    view = next(graph.inputs(op), None)
    if op.live or op.name in SCALING or view is None or view.name != "getitem" or view.site != op.site:
        return NOTHING
    users = (graph.get(nid) for nid in graph.consumers.get(op.nid, ()))
    return next(
        (u.nid for u in users if u is not None and u.name == "alias" and u.inputs[0] in view.inputs), NOTHING
    )


def _handed_in(
    history: History, op: Op, seen: SiteSeen, names: frozenset[str]
) -> Iterator[tuple[SiteSeen, frozenset[str]]]:
    """The caller's own names for what its helper changes."""
    caller = history.sites.get(next(iter(history.chains.get(op.chain, ())), NOWHERE))
    function, statement = around(seen.file, seen.line)[0], None
    if caller is not None and function is not None:
        statement = around(caller.file, caller.line)[1]
    given = [a.arg for a in function.args.args] if function is not None else []
    for call in ast.walk(statement) if statement is not None else ():
        if (
            caller is not None
            and isinstance(call, ast.Call)
            and function
            and called_name(call) == function.name
        ):
            pairs = zip(given, call.args, strict=False)
            own = {a.id for name, a in pairs if name in names and isinstance(a, ast.Name)}
            yield caller, frozenset(own - _bound_from(caller.file, caller.line))


def _read_by(history: History, user: Op, known: list[tuple[SiteSeen, frozenset[str]]]) -> str:
    at = history.sites.get(user.site)
    found = (_read_at(seen, at, names) for seen, names in known if at is not None)
    return next(filter(None, found), "")


def _read_at(written: SiteSeen, read: SiteSeen, names: frozenset[str]) -> str:
    """Which of the names a later line of the same function reads."""
    if read.file != written.file or read.line <= written.line:
        return ""
    (inner, _), (other, statement) = (around(s.file, s.line) for s in (written, read))
    found = names & names_in(statement) if inner is other and statement is not None else frozenset()
    return min(found, default="")


@functools.lru_cache(maxsize=1024)
def _written(file: str, line: int, name: str, part: bool) -> frozenset[str]:
    """The variables that a call on this line changes in place, or a part of each, where its result is given to others
    and they keep their value until the function ends."""
    statement = around(file, line)[1]
    if not isinstance(statement, ast.Assign):
        return frozenset()
    calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call) and called_name(n) == name + "_"]
    if part:
        calls = [call for call in calls if call is not statement.value]
    found = {variable for call in calls for variable in _receiver(call, statement, part)}
    return frozenset(found - _bound_from(file, line))


def _bound_from(file: str, line: int) -> set[str]:
    """What the function gives another value to, from this statement on."""
    function, statement = around(file, line)
    scope = function or tree_of(file)
    names = [n for n in ast.walk(scope) if isinstance(n, ast.Name)] if scope is not None else []
    first = statement.lineno if statement is not None else line
    return {n.id for n in names if isinstance(n.ctx, ast.Store) and n.lineno >= first}


def _receiver(call: ast.Call, statement: ast.Assign, part: bool) -> set[str]:
    """`x.tanh_()`, `torch.tanh_(x)`; in a comprehension over several variables, those."""
    given = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(given, ast.Name) and given.id in ("torch", "F") and call.args:
        given = call.args[0]
    if part and isinstance(given, ast.Subscript):
        given = given.value
    if not isinstance(given, ast.Name):
        return set()
    loops = [g for n in ast.walk(statement.value) for g in getattr(n, "generators", [])]
    for loop in loops:
        if isinstance(loop.target, ast.Name) and loop.target.id == given.id:
            parts = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else []
            return {part.id for part in parts if isinstance(part, ast.Name)}
    return {given.id}
