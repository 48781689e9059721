"""What can be known about a training program from its syntax: its networks, optimizers, copies and their uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gradsan_benchmark.edits import Source

OPTIMIZERS = {"Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "NAdam", "RAdam", "LBFGS", "Adamax", "FusedAdam"}
NO_GRAD = {"no_grad", "inference_mode"}


def dotted(node: ast.AST | None) -> str:
    """`self.actor` for that expression, "" for what is no such name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def called(node: ast.AST) -> str:
    """The last name of what is called: `clip_grad_norm_` for `nn.utils.clip_grad_norm_(…)`."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def owner(node: ast.AST) -> str:
    """`self.optimizer` for `self.optimizer.step()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return dotted(node.func.value)
    return ""


def lines(statement: ast.stmt) -> tuple[int, ...]:
    """The lines of a simple statement; of a block, those of its head."""
    body = getattr(statement, "body", None)
    last = max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno
    return tuple(range(statement.lineno, last + 1))


def block_lines(statement: ast.stmt) -> tuple[int, ...]:
    return tuple(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))


def assigned(statement: ast.stmt) -> list[str]:
    """The names that a statement binds; `x.append(…)` counts as binding x."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and called(statement.value) in {"append", "insert", "extend"}:
        return [name for name in [owner(statement.value)] if name]
    else:
        return []
    found = []
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for part in parts:
            inner = part.value if isinstance(part, ast.Subscript | ast.Starred) else part
            found.append(dotted(inner))
    return [name for name in found if name]


def scope(source: Source, node: ast.AST) -> ast.AST:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((a for a in source.ancestors(node) if isinstance(a, functions)), source.tree)


def uses(source: Source, statement: ast.stmt) -> tuple[int, ...]:
    """The lines that read what the statement binds, in the same function: an attribute is read everywhere."""
    names = assigned(statement)
    found: set[int] = set()
    for name in names:
        inside = source.tree if "." in name else scope(source, statement)
        for node in ast.walk(inside):
            loaded = isinstance(getattr(node, "ctx", None), ast.Load)
            if loaded and dotted(node) == name:
                found.update(lines(source.statement(node)))
    return tuple(sorted(found - set(lines(statement))))


def without_gradient(source: Source, node: ast.AST) -> bool:
    for above in source.ancestors(node):
        if isinstance(above, ast.With) and any(is_no_grad(item.context_expr) for item in above.items):
            return True
        if isinstance(above, ast.FunctionDef) and any(is_no_grad(d) for d in above.decorator_list):
            return True
    return False


def taken_out(source: Source, node: ast.AST) -> bool:
    """Whether this value, or what one takes of it (`q(s).max(1).values.detach()`), is made a constant at once."""
    inner = node
    for above in source.ancestors(node):
        if isinstance(above, ast.Attribute) and above.attr in {"detach", "data"}:
            return True
        called_on = isinstance(above, ast.Call) and above.func is inner
        part_of = isinstance(above, ast.Subscript) and above.value is inner
        if not (isinstance(above, ast.Attribute) or called_on or part_of):
            return False
        inner = above
    return False


def says_constants(source: Source, call: ast.Call) -> bool:
    """Whether the network that is called is of a class of this file whose `forward` detaches all that it returns."""
    made = [value for s in source.simple if isinstance(s, ast.Assign) for target, value in pairs(s)
            if dotted(target) == dotted(call.func)]  # fmt: skip
    names = {called(n) for value in made for n in ast.walk(value)}
    classes = [n for n in source.nodes if isinstance(n, ast.ClassDef) and n.name in names]
    forward = [n for c in classes for n in c.body if isinstance(n, ast.FunctionDef) and n.name == "forward"]
    returned = [n.value for f in forward for n in ast.walk(f) if isinstance(n, ast.Return) and n.value]
    return bool(returned) and all(any(called(n) == "detach" for n in ast.walk(value)) for value in returned)


def is_no_grad(node: ast.AST) -> bool:
    name = called(node) or (node.attr if isinstance(node, ast.Attribute) else "")
    return name in NO_GRAD


def networks(source: Source) -> set[str]:
    """What is asked for its parameters or its state, and the copies of that."""
    asked = {"parameters", "state_dict", "load_state_dict", "named_parameters"}
    found = {owner(call) for call in source.calls if called(call) in asked} - {""}
    return found | {copy for copy, _, _ in copies(source)}


def forwards(source: Source, live: bool = True) -> Iterator[ast.Call]:
    """Calls of networks; the live ones only, unless asked otherwise."""
    known = networks(source)
    for call in source.calls:
        name = dotted(call.func)
        if name in known and not (live and without_gradient(source, call)):
            yield call


def copies(source: Source) -> list[tuple[str, str, ast.Call]]:
    """(copy, original, the call) of every `copy = deepcopy(original)`."""
    found = []
    for statement in source.nodes:
        if not isinstance(statement, ast.Assign):
            continue
        for target, value in pairs(statement):
            if called(value) == "deepcopy" and isinstance(value, ast.Call) and value.args:
                found.append((dotted(target), dotted(value.args[0]), value))
    return [(copy, original, call) for copy, original, call in found if copy and original]


def frozen_copies(source: Source) -> set[str]:
    """Names of copies that are frozen where they are made: `deepcopy(net).requires_grad_(False)`."""
    found = set()
    for statement in (n for n in source.nodes if isinstance(n, ast.Assign)):
        for target, value in pairs(statement):
            inner, frozen = value, False
            while (
                isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and not is_copy(inner)
            ):
                frozen = frozen or inner.func.attr == "requires_grad_"
                inner = inner.func.value
            if frozen and is_copy(inner):
                found.add(dotted(target))
    return found - {""}


def frozen_networks(source: Source) -> set[str]:
    """Networks that are frozen and never thawed: by themselves, or by a loop over their parameters."""
    found, thawed = set[str](), set[str]()
    for call in method(source, "requires_grad_"):
        off = bool(call.args) and getattr(call.args[0], "value", None) is False
        loops = [a for a in source.ancestors(call) if isinstance(a, ast.For)]
        named = {owner(call)} | {
            owner(n) for loop in loops[:1] for n in ast.walk(loop.iter) if called(n) == "parameters"
        }
        (found if off else thawed).update(named)
    return found - thawed - {""}


def is_copy(node: ast.AST) -> bool:
    return called(node) == "deepcopy"


def pairs(statement: ast.Assign) -> Iterable[tuple[ast.AST, ast.AST]]:
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return zip(target.elts, value.elts, strict=True)
    return [(target, value)]


def factories(source: Source) -> set[str]:
    """`adam = partial(torch.optim.Adam, …)`: other names of optimizers."""
    given = (
        (s, s.value) for s in source.simple if isinstance(s, ast.Assign) and called(s.value) == "partial"
    )
    made = {(dotted(s.targets[0]), dotted(v.args[0])) for s, v in given if isinstance(v, ast.Call) and v.args}
    return {name for name, what in made if what.split(".")[-1] in OPTIMIZERS}


def optimizers(source: Source) -> dict[str, ast.Call]:
    """Where each optimizer is made, by its name."""
    found, known = {}, OPTIMIZERS | factories(source)
    for statement in source.nodes:
        if isinstance(statement, ast.Assign):
            for target, value in pairs(statement):
                if called(value) in known and dotted(target):
                    assert isinstance(value, ast.Call)
                    found[dotted(target)] = value
    return found


def method(source: Source, *names: str) -> list[ast.Call]:
    """Calls of these methods."""
    return [c for c in source.calls if isinstance(c.func, ast.Attribute) and c.func.attr in names]


def has_environment(source: Source) -> bool:
    """Whether there is something that says what a reward is."""
    return any(c.args for c in method(source, "step")) or names_environment(source)


def names_environment(source: Source) -> bool:
    """Whether that is something that is called an environment, or what was collected in one."""
    return any(re.search(r"(^|[._])(env|envs|rollout\w*)($|[._])", dotted(n)) for n in source.nodes)


def makes_its_own_environment(source: Source) -> bool:
    """Whether what is called so is a plain class of this very file: nothing says then what its numbers are."""
    plain = {c.name for c in source.nodes if isinstance(c, ast.ClassDef) and not c.bases}
    made = [call for call in source.calls if dotted(call.func) in plain]
    return any(re.search(r"(^|\W)envs?($|\W)|Env", _named_by(source, call)) for call in made)


def _named_by(source: Source, call: ast.Call) -> str:
    """The class, and the name that it is bound to."""
    statement, names = source.statement(call), [dotted(call.func)]
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, statement.value)]  # type: ignore[attr-defined]
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):  # type: ignore[attr-defined]
            pairs = list(zip(target.elts, statement.value.elts, strict=False))  # type: ignore[attr-defined]
        names += [dotted(name) for name, value in pairs if value is call]
    return " ".join(names)


def are_flags(source: Source, value: ast.expr) -> bool:
    """Whether a comparison made it, here or where its name was bound last: nothing is learned through that."""
    if isinstance(value, ast.Name):
        bound = [
            s for s in source.simple
            if isinstance(s, ast.Assign) and s.lineno < value.lineno and dotted(s.targets[0]) == value.id
        ]  # fmt: skip
        value = bound[-1].value if bound else value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        value = value.func.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitAnd | ast.BitOr):
        return are_flags(source, value.left) and are_flags(source, value.right)
    return isinstance(value, ast.Compare)


def bootstraps(source: Source) -> bool:
    """Whether something is discounted, and a network gives values: what it is fitted to is to be large."""
    words = {word for n in source.nodes for word in re.split(r"[._]", dotted(n).lower())}
    return bool(words & {"gamma", "discount"}) and bool(
        words & {"critic", "value", "values", "vf", "q", "qf", "v"}
    )


def steps(source: Source, optimizer: str = "") -> list[ast.Call]:
    """`optimizer.step()`; with a name, that optimizer's. An environment's step takes an argument."""
    found = [c for c in method(source, "step") if not c.args and not c.keywords]
    found = [c for c in found if "sched" not in owner(c).lower()]
    return [c for c in found if optimizer in ("", owner(c))]
