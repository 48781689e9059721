"""The wrong network, parameter or optimizer in a place where another is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.syntax import (
    OPTIMIZERS,
    assigned,
    block_lines,
    called,
    copies,
    dotted,
    factories,
    forwards,
    lines,
    method,
    networks,
    optimizers,
    owner,
    scope,
    taken_out,
    uses,
    without_gradient,
)


def creations(source: Source) -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """(name, call, what it is given to optimise) of every optimizer."""
    for name, call in optimizers(source).items():
        if call.args:
            yield name, call, call.args[0]


@operator("optimize-other-network", "ownership", "GS205 GS206 GS308 GS404 GS204 GS302")
def optimize_other(source: Source) -> Iterator[Change]:
    """The optimizer is given another network's parameters."""
    for _, call, given in creations(source):
        if called(given) == "parameters" and isinstance(given, ast.Call) and owner(given):
            others = sorted(networks(source) - {owner(given)})
            if others and isinstance(given.func, ast.Attribute):
                yield Change((source.put(given.func.value, others[0]),), lines(source.statement(call)))


@operator("optimizer-misses-part", "ownership", "GS205")
def optimizer_misses_part(source: Source) -> Iterator[Change]:
    """One of several networks is forgotten in the list that the optimizer is given."""
    made = OPTIMIZERS | factories(source)
    given = [call.args[0] for call in source.calls if called(call) in made and call.args]
    names = {dotted(node) for part in given for node in ast.walk(part)} - {""}
    inside = {node for part in given for node in ast.walk(part)}
    lists = [n for n in source.nodes if isinstance(n, ast.List) and len(n.elts) > 1]
    for node in lists:
        if node not in inside and not names.intersection(assigned(source.statement(node))):
            continue  # another list of parameters: what is synced, what is clipped
        if all(isinstance(e, ast.Starred) and called(e.value) == "parameters" for e in node.elts):
            start, end = source.span(node.elts[-2])[1], source.span(node.elts[-1])[1]
            statement = source.statement(node)
            yield Change(((start, end, ""),), (*lines(statement), *uses(source, statement)))


@operator("optimize-target-too", "ownership", "GS302 GS204 GS207")
def optimize_target_too(source: Source) -> Iterator[Change]:
    """The target network's parameters are given to the optimizer as well."""
    for copy, original, made in copies(source):
        for _, call, given in creations(source):
            later = call.lineno > made.lineno
            if later and called(given) == "parameters" and owner(given) == original:
                text = f"[*{source.text(given)}, *{copy}.parameters()]"
                yield Change((source.put(given, text),), lines(source.statement(call)))


@operator("optimize-a-copy", "ownership", "GS206 GS205")
def optimize_a_copy(source: Source) -> Iterator[Change]:
    """The optimizer is given the parameters of a copy that nobody uses: the live network never moves."""
    for _, call, given in creations(source):
        if called(given) == "parameters" and isinstance(given, ast.Call) and owner(given):
            text = f"__import__('copy').deepcopy({owner(given)}).parameters()"
            yield Change((source.put(given, text),), lines(source.statement(call)))


@operator("rebuild-after-optimizer", "ownership", "GS206 GS205")
def rebuild_after_optimizer(source: Source) -> Iterator[Change]:
    """The network is replaced by a copy of itself after its optimizer was made."""
    for _, call, given in creations(source):
        statement, name = source.statement(call), owner(given)
        if called(given) == "parameters" and name and statement.lineno == statement.end_lineno:
            text = f"; {name} = __import__('copy').deepcopy({name})"
            yield Change((source.after(statement, text),), lines(statement))


@operator("plain-list", "ownership", "GS205")
def plain_list(source: Source) -> Iterator[Change]:
    """A plain list in place of `nn.ModuleList`: its members' parameters are not found."""
    for call in source.calls:
        if called(call) in {"ModuleList", "ParameterList"} and len(call.args) == 1:
            made = tuple(n for c in optimizers(source).values() for n in lines(source.statement(c)))
            change = source.put(call.func, "list")
            yield Change((change,), (*lines(source.statement(call)), *made))


@operator("parameter-as-tensor", "ownership", "GS205 GS201")
def parameter_as_tensor(source: Source) -> Iterator[Change]:
    """A tensor that requires grad in place of `nn.Parameter`: the optimizer never hears of it."""
    for call in source.calls:
        if called(call) == "Parameter" and len(call.args) == 1:
            made = tuple(n for c in optimizers(source).values() for n in lines(source.statement(c)))
            text = f"({source.text(call.args[0])}).requires_grad_()"
            yield Change((source.put(call, text),), (*lines(source.statement(call)), *made))


@operator("freeze-network", "ownership", "GS207 GS201 GS202 GS404")
def freeze_network(source: Source) -> Iterator[Change]:
    """A network that is to be trained is frozen: `requires_grad_(False)`."""
    trained = {owner(given) for _, _, given in creations(source) if called(given) == "parameters"}
    for _, call, given in creations(source):
        if isinstance(given, ast.Call) and owner(given) in trained and isinstance(given.func, ast.Attribute):
            change = source.after(given.func.value, ".requires_grad_(False)")
            yield Change((change,), lines(source.statement(call)))


@operator("drop-requires-grad", "ownership", "GS201 GS202 GS404 GS207 GS204")
def drop_requires_grad(source: Source) -> Iterator[Change]:
    """`requires_grad=True` is forgotten."""
    for call in source.calls:
        for keyword in call.keywords:
            if keyword.arg == "requires_grad" and getattr(keyword.value, "value", None) is True:
                statement = source.statement(call)
                change = source.put(keyword.value, "False")
                yield Change((change,), (*lines(statement), *uses(source, statement)))


def picks_by_flag(source: Source) -> bool:
    """`[p for p in model.parameters() if p.requires_grad]`."""
    tests = [test for n in source.nodes if isinstance(n, ast.comprehension) for test in n.ifs]
    return any(isinstance(n, ast.Attribute) and n.attr == "requires_grad" for t in tests for n in ast.walk(t))


@operator(
    "drop-freeze",
    "ownership",
    "GS302 GS304 GS205 GS808 GS103 GS305",
    leaves="programs that pick what they train by `requires_grad`: to train all of a network is a setting then",
)
def drop_freeze(source: Source) -> Iterator[Change]:
    """`requires_grad_(False)` is forgotten on what must stay as it is."""
    for call in () if picks_by_flag(source) else method(source, "requires_grad_"):
        frozen = call.args and getattr(call.args[0], "value", None) is False
        if frozen and isinstance(call.func, ast.Attribute):
            statement = source.statement(call)
            change = source.tail(call.func.value, call)
            read = uses(source, statement)
            loops = [n for n in source.nodes if isinstance(n, ast.For) and n.lineno in read]
            written = [line for loop in loops for line in block_lines(loop)]  # a sync with gradients on
            asked = while_frozen(source, call) if isinstance(statement, ast.Expr) else []
            yield Change((change,), (*lines(statement), *read, *written, *asked))


def while_frozen(source: Source, call: ast.Call) -> list[int]:
    """`critic.requires_grad_(False)`, and later `(True)`: what asks it in between is where the gradient comes in."""
    name, inside = owner(call), scope(source, call)
    later = [
        c
        for c in method(source, "requires_grad_")
        if owner(c) == name and c.lineno > call.lineno and scope(source, c) is inside
    ]
    end = min((c.lineno for c in later), default=0)
    read = [n for n in ast.walk(inside) if isinstance(n, ast.Call) and dotted(n.func) == name]
    return [n.lineno for n in read if call.lineno < n.lineno < end]


def judges_another(source: Source, call: ast.Call) -> bool:
    """`q1(s, actor(s))`: what it is asked about comes out of a network that learns from the answer."""
    known = networks(source)
    names = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    inside = [n for n in ast.walk(scope(source, call)) if isinstance(n, ast.Assign)]
    bound = [s.value for s in inside if s.lineno < call.lineno and names.intersection(assigned(s))]
    asked = [n for part in (*call.args, *bound) for n in ast.walk(part) if isinstance(n, ast.Call)]
    return any(dotted(n.func) in known and not without_gradient(source, n) for n in asked)


@operator(
    "target-for-online",
    "ownership",
    "GS302 GS201 GS204 GS205 GS206 GS404 GS202 GS809 GS307",
    leaves="what is detached: either network may be asked for a target; and what judges another network's action: an "
    "old critic may do so",
)
def target_for_online(source: Source) -> Iterator[Change]:
    """The target network predicts where the online network is trained."""
    target = {original: copy for copy, original, _ in copies(source)}
    for call in forwards(source):
        constant = taken_out(source, call) or judges_another(source, call)
        if dotted(call.func) in target and not constant:
            yield Change((source.put(call.func, target[dotted(call.func)]),), lines(source.statement(call)))


@operator(
    "twin-for-twin",
    "ownership",
    "GS204 GS304 GS404 GS202 GS606",
    leaves="what judges another network's action alone: either of the twins may do so",
)
def twin_for_twin(source: Source) -> Iterator[Change]:
    """The second critic is asked where the first is meant: one of them is never trained."""
    for call in forwards(source):
        name = dotted(call.func)
        twin = re.sub(r"([12])(\D*)$", lambda m: f"{3 - int(m[1])}{m[2]}", name)
        beside = any(
            dotted(c.func) == twin for c in ast.walk(source.statement(call)) if isinstance(c, ast.Call)
        )
        if judges_another(source, call) and not beside:
            continue
        if twin != name and twin in networks(source):
            made = tuple(n for c in optimizers(source).values() for n in lines(source.statement(c)))
            yield Change((source.put(call.func, twin),), (*lines(source.statement(call)), *made))
