"""Parameters that no optimizer owns, and optimizers that own what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, argument, call_of, method, only, value_of, writes_to


def owned(case: Case) -> Iterator[Proposal]:
    """A module list for a list, a parameter for a tensor; else the optimizer is given what it lacks."""
    yield from _registered(case)
    yield from _parameter(case)
    yield from _added(case)


def without(case: Case) -> Iterator[Proposal]:
    """What the optimizer should not own is taken out of its list."""
    roots = {_root(name) for name in case.finding.subjects} | {
        _module_path(name) for name in case.finding.subjects
    }
    for given in case.source.inside(case.culprit, cst.List) if case.culprit is not None else ():
        wrong = {f"*{root}.parameters()" for root in roots}
        kept = [e for e in given.elements if case.source.code(e).rstrip(", ") not in wrong]
        if kept and len(kept) < len(given.elements):
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            new = given.with_changes(elements=kept)
            yield Proposal(case.change().turn(given, lambda _, n=new: n), "take the target out")  # type: ignore[misc]


def renewed(case: Case) -> Iterator[Proposal]:
    """The new network's values are loaded into the old one, or the optimizer is made anew."""
    yield from _loaded(case)
    replaced, made = case.culprit, case.statements("optimizer")
    if replaced is None or not made or made[0] is replaced:
        return
    optimizer = made[0]
    code = case.source.code(optimizer).strip().partition("  #")[0]
    if (
        case.source.class_around(replaced) is case.source.class_around(optimizer)
        and call_of(optimizer) is not None
    ):
        yield Proposal(case.change().after(replaced, code), "make the optimizer anew")


def live(case: Case) -> Iterator[Proposal]:
    """The optimizer is given the network that is used."""
    culprit = case.culprit
    new = [t for t in writes_to(culprit) if isinstance(t, cst.Name)] if culprit is not None else []
    for optimizer in case.statements("optimizer"):
        call = call_of(optimizer)
        given = argument(call, 0, "params") if call is not None else None
        if (
            optimizer is culprit
            or not isinstance(given, cst.Call)
            or not isinstance(given.func, cst.Attribute)
        ):
            continue
        for target in new if method(given) == "parameters" else ():
            change = case.change().replace(given.func.value, target.value)
            yield Proposal(change, "give the optimizer the network that is used")
    yield from complete(case)


def complete(case: Case) -> Iterator[Proposal]:
    """An optimizer that is made before the network is complete is made afterwards."""
    for optimizer in case.statements("optimizer"):
        beside = case.source.beside(optimizer)
        later = [s for s in case.statements("parameter made", "replacement") if s in beside]
        for made in later:
            if beside.index(optimizer) < beside.index(made):
                change = case.change().move_after(optimizer, made)
                yield Proposal(change, "make the optimizer when the network is complete")


def _registered(case: Case) -> Iterator[Proposal]:
    for statement in case.statements("plain container"):
        value = value_of(only(statement))
        if value is None:
            continue
        kind = "ModuleDict" if isinstance(value, cst.Dict | cst.DictComp) else "ModuleList"
        code = f"torch.nn.{kind}({case.source.code(value)})"
        yield Proposal(case.change().replace(value, code), f"register them in a `{kind}`")


def _parameter(case: Case) -> Iterator[Proposal]:
    """`self.x = torch.zeros(2, requires_grad=True)` in a module is no parameter of it."""
    for statement in case.statements("parameter made"):
        call = call_of(statement)
        target = writes_to(statement)
        if call is None or len(target) != 1 or not isinstance(target[0], cst.Attribute):
            continue
        kept = [a for a in call.args if a.keyword is None or a.keyword.value != "requires_grad"]
        if len(kept) < len(call.args):
            kept = [*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if kept else []
            code = f"torch.nn.Parameter({case.source.code(call.with_changes(args=kept))})"
            yield Proposal(case.change().replace(call, code), "make it a parameter")


def _added(case: Case) -> Iterator[Proposal]:
    lacking = [name for name in case.finding.subjects if re.fullmatch(r"[A-Za-z_][\w.\[\]'\"]*", name)]
    if len(lacking) < len(case.finding.subjects):
        return
    for statement in dict.fromkeys([case.culprit, *case.statements("optimizer")]):
        given = _given(statement)
        for parts in _expressions(lacking) if given is not None else ():
            assert given is not None
            if isinstance(given, cst.List) and any(isinstance(e.value, cst.Dict) for e in given.elements):
                parts = [f'{{"params": {part.lstrip("*")}}}' for part in parts]
            code = f"[{_spread(case, given)}, {', '.join(parts)}]"
            yield Proposal(case.change().replace(given, code), "give the optimizer what it lacks")


def _given(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    """The collection of parameters: what the optimizer is given, or the list made for it."""
    call = call_of(statement)
    if call is None:
        value = value_of(only(statement))
        return value if isinstance(value, cst.List) else None
    if method(call) in ("list", "tuple", "chain"):
        return call
    given = argument(call, 0, "params")
    return None if isinstance(given, cst.Name) else given


def _spread(case: Case, given: cst.BaseExpression) -> str:
    if isinstance(given, cst.List):
        return case.source.code(given).strip()[1:-1].strip().rstrip(",")
    if isinstance(given, cst.Call) and method(given) in ("list", "tuple") and given.args:
        return f"*{case.source.code(given.args[0].value)}"
    return f"*{case.source.code(given)}"


def _expressions(lacking: list[str]) -> Iterator[list[str]]:
    """How the lacking ones may be written where the optimizer is made: whole networks or their parts, as they are
    called at the outside or as an object's own."""
    for network in (_root, _module_path):
        roots = list(dict.fromkeys(name if "." not in name else network(name) for name in lacking))
        yield [root if root in lacking else f"*{root}.parameters()" for root in roots]
        own = [re.sub(r"^[^.]+\.", "self.", root) for root in roots]
        if own != roots:
            yield [o if root in lacking else f"*{o}.parameters()" for o, root in zip(own, roots, strict=True)]


def _root(name: str) -> str:
    return name.partition(".")[0]


def _module_path(name: str) -> str:
    """`agent.mixer.0.weight` → `agent.mixer`."""
    parts = name.split(".")[:-1]
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return ".".join(parts)


def _loaded(case: Case) -> Iterator[Proposal]:
    statement = case.culprit
    small = only(statement)
    if statement is None or not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return
    target, value = small.targets[0].target, small.value
    if (
        isinstance(target, cst.Tuple)
        and isinstance(value, cst.Tuple)
        and len(target.elements) == len(value.elements)
    ):
        pairs = [(t.value, v.value) for t, v in zip(target.elements, value.elements, strict=True)]
    else:
        pairs = [(target, value)]
    if not all(isinstance(t, cst.Attribute) for t, _ in pairs):
        return
    codes = [f"{case.source.code(t)}.load_state_dict({_module(case, v)}.state_dict())" for t, v in pairs]
    change = case.change().before(statement, *codes[:-1])
    last = case.source.new_statement(codes[-1]).body[0]
    yield Proposal(change.turn(small, lambda _: last), "load the values into the network that is trained")


def _module(case: Case, value: cst.BaseExpression) -> str:
    if isinstance(value, cst.Call) and method(value) in ("deepcopy", "copy") and value.args:
        return case.source.code(value.args[0].value)
    return case.source.code(value)
