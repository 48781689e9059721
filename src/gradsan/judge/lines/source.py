"""Reading the user's source: excerpts and assignments."""

from __future__ import annotations

import ast
import functools
import linecache
import os
from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.lines.named_targets import is_called, set_by_name
from gradsan.judge.report.cells import cell_of, file_of


def line_of(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


_base: list[str] = []


def pin_base(base: str = "") -> None:
    """Paths stay relative to the present working directory, even if the script goes to another."""
    _base[:] = [base or os.getcwd()]


def shown_path(file: str) -> str:
    """Relative to the working directory where it lies below it; a notebook's cell by its number."""
    if cell := cell_of(file):
        return cell
    if file.startswith("<") or not file:
        return file
    relative = os.path.relpath(file, *_base)
    return file if relative.startswith("..") else relative


def real_path(shown: str) -> str:
    """The way back from `shown_path`."""
    if cell := file_of(shown):
        return cell
    return shown if shown.startswith("<") else os.path.join(*_base, shown)


class Binding(NamedTuple):
    """One assignment to a name or attribute in the source."""

    line: int
    end: int
    function: str
    plain: bool  # the right-hand side is a name, an attribute or a subscript: no new object is made
    constant: bool
    given: frozenset[str]  # the names and attributes on the right-hand side
    handed: bool = False  # plain, or by methods that give back the network they are called on
    value: str = ""  # the right-hand side as it is written


@functools.lru_cache(maxsize=256)
def tree_of(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def gives_back(file: str, attribute: str) -> bool:
    """Whether a function of this file returns what the attribute holds, as it is."""
    tree = tree_of(file)
    returned = (n.value for n in ast.walk(tree) if isinstance(n, ast.Return)) if tree is not None else ()
    return any(isinstance(value, ast.Attribute) and value.attr == attribute for value in returned)


@functools.lru_cache(maxsize=1024)
def bindings(file: str, name: str) -> tuple[Binding, ...]:
    """Every assignment to the variable or attribute `name` in this file, in order."""
    tree = tree_of(file)
    found: list[Binding] = []
    if tree is not None:
        _collect(tree, name, "<module>", found)
    return tuple(found)


def _collect(node: ast.AST, name: str, function: str, found: list[Binding]) -> None:
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        if isinstance(child, ast.Assign):
            for target in child.targets:
                _match(target, child.value, child, name, inner, found)
        elif isinstance(child, ast.AnnAssign) and child.value is not None:
            _match(child.target, child.value, child, name, inner, found)
        elif isinstance(child, ast.Expr) and (set_to := set_by_name(child.value, name)) is not None:
            _match(ast.Name(name), set_to, child, name, inner, found)
        _collect(child, name, inner, found)


def _match(
    target: ast.expr, value: ast.expr, statement: ast.stmt, name: str, function: str, found: list[Binding]
) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else [value] * len(target.elts)
        for part, part_value in zip(target.elts, values, strict=False):
            _match(part, part_value, statement, name, function, found)
        return
    if is_called(target, name):
        plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) or _is_same(value)
        end = statement.end_lineno or statement.lineno
        attributes = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
        given = frozenset(names_in(value) | attributes)
        constant, handed = isinstance(value, ast.Constant), plain or _hands_on(value)
        found.append(
            Binding(statement.lineno, end, function, plain, constant, given, handed, ast.unparse(value))
        )


def _is_same(value: ast.expr) -> bool:
    """`copy.copy(net)` makes a new module of the same parameters; `getattr(self, part)` makes nothing."""
    same = ("copy.copy", "copy", "getattr")
    return isinstance(value, ast.Call) and ast.unparse(value.func) in same and bool(value.args)


OF_ITSELF = {
    "to",
    "cuda",
    "cpu",
    "eval",
    "train",
    "float",
    "double",
    "half",
    "bfloat16",
    "requires_grad_",
    "share_memory",
    "apply",
    "type",
}  # a module gives back itself


def _hands_on(value: ast.expr) -> bool:
    """`net.to(device).eval()` is the network itself."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in OF_ITSELF:
            return False
        value = value.func.value
    return isinstance(value, ast.Name | ast.Attribute | ast.Subscript)


STORING = {
    "append",
    "appendleft",
    "extend",
    "insert",
    "add",
    "push",
    "put",
    "store",
    "remember",
    "log",
    "record",
}


def uncalled_at(file: str, line: int, method: str) -> int:
    """Where, in the function around this line, a method stands as a statement without its parentheses; 0 if nowhere,
    or in several places."""
    scope: ast.AST | None = around(file, line)[0] or tree_of(file)
    found = [
        node.lineno
        for node in ast.walk(scope or ast.Module([], []))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == method
    ]
    return found[0] if len(found) == 1 else 0


def stored_at(file: str, line: int) -> int:
    """Where what this line computes is put away as it is (`losses.append(loss)`, `self.last = loss`), in the same
    function, perhaps in the next round of its loop; 0 where that cannot be told, the line itself where it does so."""
    tree = tree_of(file)
    if tree is None:
        return 0
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    own = [s for s in statements if s.lineno <= line <= (s.end_lineno or 0) and not hasattr(s, "body")]
    if own and _stores(own[-1], None):
        return line
    names = {
        n.id for s in own for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    scope = function_around(tree, line)
    storing = [s.lineno for s in statements if not hasattr(s, "body") and _stores(s, names)]
    found = [at for at in storing if function_around(tree, at) == scope]
    loop = min((n.lineno for n in loops_around(file, line)[-1:]), default=line)
    again = (at for at in found if loop < at < line)
    return min((at for at in found if at > line), default=min(again, default=0))


def _stores(statement: ast.stmt, names: set[str] | None) -> bool:
    """Whether it hands one of the names, as it is, to a container, an attribute or an item; without names, any."""
    for node in ast.walk(statement):
        given: list[ast.expr] = []
        if (
            isinstance(node, ast.Call)
            and called_name(node) in STORING
            and isinstance(node.func, ast.Attribute)
        ):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            given = [node.value]
        plain = [part for value in given for part in _parts(value)]
        if given and (names is None or any(isinstance(p, ast.Name) and p.id in names for p in plain)):
            return True
    return False


def _parts(value: ast.expr) -> list[ast.expr]:
    """What a display, or the making of a record, holds."""
    inner: list[ast.expr] = []
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        inner = value.elts
    elif isinstance(value, ast.Dict):
        inner = value.values
    elif isinstance(value, ast.Call) and called_name(value)[:1].isupper():  # a class
        inner = [*value.args, *(keyword.value for keyword in value.keywords)]
    return [value, *(part for item in inner for part in _parts(item))]


def called_on(file: str, line: int, method: str) -> str:
    """The name of the variable or attribute that has this method called on the line; empty where there is none."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == method and node.lineno == line:
            owner = node.value
            return owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return ""


def happens_once(file: str, line: int) -> bool:
    """Whether the statement on this line, or every call of its function in this file, stands behind a condition that
    a counter meets only once: `step == 100`, with no remainder taken and the counter not set back behind it."""
    tree = tree_of(file)
    if tree is None:
        return False
    conditions = _conditions_of(tree, line)
    if not conditions and (name := function_around(tree, line)):
        calls = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and called_name(n) == name]
        ways = [way for at in calls if (way := _conditions_of(tree, at))]
        return bool(ways) and all(_only_once(way) for way in ways)
    return _only_once(conditions)


def _conditions_of(tree: ast.AST, line: int) -> list[ast.If]:
    """The conditions around the line, within its function."""
    found: list[ast.If] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.clear()  # the walk goes from the outside in
        elif isinstance(node, ast.If):
            found.append(node)
    return found


def _only_once(conditions: list[ast.If]) -> bool:
    remainders = any(isinstance(n, ast.Mod | ast.Call) for c in conditions for n in ast.walk(c.test))
    counted = [c for c in conditions if isinstance(c.test, ast.Compare) and isinstance(c.test.ops[0], ast.Eq)]
    set_back = any(
        isinstance(n, ast.Name | ast.Attribute)
        and isinstance(n.ctx, ast.Store)
        and ast.unparse(n) in ast.unparse(c.test)
        for c in counted
        for statement in c.body
        for n in ast.walk(statement)
    )
    return bool(counted) and not remainders and not set_back


def function_around(tree: ast.AST, line: int) -> str:
    around = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return around[-1] if around else ""


def function_at(file: str, line: int) -> str:
    tree = tree_of(file)
    return (function_around(tree, line) if tree is not None else "") or "<module>"


def names_in(node: ast.AST, use: type[ast.expr_context] = ast.expr_context) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, use)}


def called_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def collected_at(file: str, line: int) -> int:
    """Where the argument list of a call on this line was put together, if that was an earlier line.

    `params = list(agent.parameters())` and then `RMSprop(params)`: the line to change is the first.
    """
    tree = tree_of(file)
    if tree is None:
        return line
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.Call)
            or node.lineno > line
            or (node.end_lineno or 0) < line
            or not node.args
        ):
            continue
        first = node.args[0]
        if isinstance(first, ast.Name | ast.Attribute):
            name = first.id if isinstance(first, ast.Name) else first.attr
            earlier = [b.line for b in bindings(file, name) if b.line <= line]
            if earlier:
                return max(earlier)
    return line


def subtrahend_bound_at(file: str, line: int) -> int:
    """For `new - old` or `new - (old - older)` on this line: the line that gave `old` its value, or 0. Where both have
    one name, it is this line that has to make a constant of one."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and node.lineno == line:
            old = node.right
            while isinstance(old, ast.BinOp):
                old = old.left
            if ast.dump(old) == ast.dump(node.left):
                return line
            name = old.attr if isinstance(old, ast.Attribute) else ""
            name = old.id if isinstance(old, ast.Name) else name
            earlier = [b.line for b in bindings(file, name) if b.line < line] if name else []
            if earlier:
                return max(earlier)
    return 0


def given_twice(file: str, names: set[str]) -> int:
    """Where a call is given one of these variables or attributes twice, its second place; 0 where none is."""
    tree = tree_of(file)
    return next((at for name, at in _given_twice(tree) if name in names), 0) if tree is not None else 0


def given_twice_at(file: str, line: int) -> int:
    """The same, for any variable that a call in the statement on this line is given."""
    statement = around(file, line)[1]
    return next((at for name, at in _given_twice(statement) if name), 0) if statement is not None else 0


def _given_twice(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        seen: set[str] = set()
        for part in (*call.args, *(keyword.value for keyword in call.keywords)):
            if ast.unparse(part) in seen:
                yield part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", ""), part.lineno
            seen.add(ast.unparse(part))


def second_name_at(file: str, line: int, names: set[str]) -> int:
    """Where one of the variables on this line was made a second name for one of `names`, in the same function."""
    used, function = words_at(file, line) - names, function_at(file, line)
    found = [b for word in used for b in bindings(file, word) if b.plain and b.given & names]
    return max((b.line for b in found if b.function == function and b.line <= line), default=0)


def loops_around(file: str, line: int) -> list[ast.For | ast.While]:
    """The loops that a line stands in, the innermost last."""
    tree = tree_of(file)
    loops = (n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)) if tree is not None else ()
    return [n for n in loops if n.lineno <= line <= (n.end_lineno or n.lineno)]


def looped_over(file: str, line: int) -> tuple[str, ...]:
    """The names in what the loops around a line run over, the innermost loop first."""
    around = [n for n in loops_around(file, line) if isinstance(n, ast.For)]
    found: list[str] = []
    for loop in sorted(around, key=lambda n: -n.lineno):
        for node in ast.walk(loop.iter):
            if isinstance(node, ast.Name):
                found.append(node.id)
            elif isinstance(node, ast.Attribute):
                found.append(node.attr)
    return tuple(dict.fromkeys(found))


def receiver_at(file: str, line: int) -> str:
    """`self.target.load_state_dict(…)` → "target": the name of what a method on this line is called on."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.lineno == line and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Attribute | ast.Name):
                return owner.attr if isinstance(owner, ast.Attribute) else owner.id
    return ""


def assigned_name(file: str, line: int) -> str:
    """The variable that the statement on this line gives its value to, or ""."""
    tree = tree_of(file)
    if tree is None:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            target = node.targets[0]
            if isinstance(target, ast.Name | ast.Attribute):
                return ast.unparse(target)
    return ""


def names_bound_at(file: str, line: int) -> set[str]:
    """The variables that the statement on this line gives a value to."""
    statement = around(file, line)[1]
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return set()
    stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {name.id for name in stored}


def left_between(file: str, first: int, last: int) -> int:
    """The `break` between two lines of one loop's body that leaves the second out; 0 where there is none."""
    tree = tree_of(file)
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)] if tree is not None else []
    inner = [n for n in loops if n.lineno < first and last <= (n.end_lineno or 0)]
    body = inner[-1].body if inner else []
    between = [s for s in body if first < s.lineno <= (s.end_lineno or 0) < last and isinstance(s, ast.If)]
    return next((n.lineno for s in between for n in ast.walk(s) if isinstance(n, ast.Break)), 0)


class BackwardSource(NamedTuple):
    """The backward of a custom function as it is written."""

    returns: (
        int  # the line of its last return; of the first that spells out a None for an input, if there is one
    )
    unread: tuple[int, ...]  # the outputs whose gradient it takes and never reads
    names: tuple[str, ...]  # what it calls the gradients
    writes: int  # the first line that writes into one of them in place; 0 where there is none
    narrowed: tuple[
        tuple[int, int], ...
    ] = ()  # outputs of whose gradient it reads one element only, and where


@functools.lru_cache(maxsize=256)
def _beginning_at(file: str, line: int) -> ast.FunctionDef | None:
    """The function that begins on this line, its decorators included."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == line:
                return node
    return None


def defined_at(file: str, line: int) -> int:
    """The line with the `def` of the function that begins on this one, perhaps with a decorator."""
    node = _beginning_at(file, line)
    return node.lineno if node is not None else line


def backward_at(file: str, line: int) -> BackwardSource | None:
    """What the backward that begins on this line does; None where not all of it can be told."""
    node = _beginning_at(file, line)
    return _read_backward(node) if node is not None else None


def _read_backward(node: ast.FunctionDef) -> BackwardSource:
    names = tuple(a.arg for a in node.args.args[1:])
    parts = list(ast.walk(node))
    read = {n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    # `locals()` and the like may read anything.
    opaque = node.args.vararg is not None or read & {"locals", "vars", "eval", "exec"}
    unread = () if opaque else tuple(i for i, name in enumerate(names) if name not in read)
    returns = [n for n in parts if isinstance(n, ast.Return)]
    spelt = [n for n in returns if _has_none(n.value)]
    last = max((n.lineno for n in returns), default=node.lineno)
    placed = [n for n in parts if isinstance(n, ast.expr | ast.stmt)]
    writes = [n.lineno for n in placed if _written_in_place(n) in names]
    narrowed = (
        () if opaque else tuple((i, at) for i, name in enumerate(names) if (at := _narrowed(node, name)))
    )
    return BackwardSource(spelt[0].lineno if spelt else last, unread, names, min(writes, default=0), narrowed)


ABOUT = {
    "shape",
    "dtype",
    "device",
    "size",
    "numel",
    "dim",
    "ndim",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
}
FORMING = {"flatten", "view", "reshape", "contiguous", "squeeze", "ravel", "detach", "clone", "float"}


def _narrowed(node: ast.FunctionDef, name: str) -> int:
    """The line that reads one element (or one row, or the mean) of this tensor, where nothing else is read of it."""
    parents = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    bound = [n for n in names if isinstance(n.ctx, ast.Store)]
    read = [n for n in names if n not in bound and not _is_asked_about(parents[n])]
    if bound:  # `g = g[0]`: what comes later is that
        read = [n for n in read if n.lineno <= bound[0].lineno]
    return read[0].lineno if read and all(_is_one_of(n, parents) for n in read) else 0


def _is_asked_about(parent: ast.AST) -> bool:
    return isinstance(parent, ast.Compare) or (isinstance(parent, ast.Attribute) and parent.attr in ABOUT)


def _is_one_of(use: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """`g[0]`, `g.flatten()[0]`, `g.mean()`."""
    parent = parents[use]
    while isinstance(parent, ast.Attribute) and parent.attr in FORMING:
        use = parents[parent]
        parent = parents[use]
    if isinstance(parent, ast.Subscript) and parent.value is use:
        index = parent.slice.elts if isinstance(parent.slice, ast.Tuple) else [parent.slice]
        return isinstance(index[0], ast.Constant | ast.UnaryOp) and getattr(index[0], "value", 0) is not None
    call = parents.get(parent)
    return (
        isinstance(parent, ast.Attribute)
        and parent.attr == "mean"
        and isinstance(call, ast.Call)
        and not call.args
    )


def _written_in_place(node: ast.AST) -> str:
    """The name in `x.mul_(…)`, `x *= …` or `x[…] = …`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method, target = node.func.attr, node.func.value
        in_place = method.endswith("_") and not method.endswith("__")
        return target.id if in_place and isinstance(target, ast.Name) else ""
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        target = node
    else:
        return ""
    inner = target.value if isinstance(target, ast.Subscript) else target
    return inner.id if isinstance(inner, ast.Name) else ""


def _has_none(value: ast.expr | None) -> bool:
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(p is None or (isinstance(p, ast.Constant) and p.value is None) for p in parts)


def arguments_at(file: str, line: int) -> set[str]:
    """What the function around this line is given, itself left out."""
    function = around(file, line)[0]
    given = ast.walk(function.args) if function is not None else ()
    return {a.arg for a in given if isinstance(a, ast.arg)} - {"self", "cls"}


def decided_by_caller(file: str, line: int, among: frozenset[str] = frozenset()) -> frozenset[str]:
    """The arguments of its function that the statement on this line takes a value from (of those called as in
    `among`, if any are given): then the line that calls the function decides."""
    function, statement = around(file, line)
    if function is None or statement is None:
        return frozenset()
    own = arguments_at(file, line)
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr | ast.Return) else None
    parts = value.args + [k.value for k in value.keywords] if isinstance(value, ast.Call) else [value]
    used = set[str]().union(*(names_in(part) for part in parts if part))
    return frozenset(used & own & among if among else used & own)


def words_at(file: str, line: int) -> set[str]:
    """The names and attributes in the statement on this line."""
    statement = around(file, line)[1]
    found = list(ast.walk(statement)) if statement is not None else []
    return {n.id for n in found if isinstance(n, ast.Name)} | {
        n.attr for n in found if isinstance(n, ast.Attribute)
    }


def is_assignment(file: str, line: int) -> bool:
    return isinstance(around(file, line)[1], ast.Assign | ast.AnnAssign)


def extent(file: str, line: int) -> tuple[int, int]:
    """First and last line of the `with` block that begins on this line, or of the function that it decorates."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.With) and node.lineno == line:
            return line, node.end_lineno or line
        if isinstance(node, ast.FunctionDef) and line in (d.lineno for d in node.decorator_list):
            return line, node.end_lineno or line
    return line, line


def around(file: str, line: int) -> tuple[ast.FunctionDef | None, ast.stmt | None]:
    """The innermost function and the innermost statement that this line belongs to."""
    function, statement = None, None
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():  # outer ones come first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            statement = node
            function = node if isinstance(node, ast.FunctionDef) else function
    return function, statement
