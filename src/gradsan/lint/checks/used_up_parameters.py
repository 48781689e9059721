"""GS505: a clip gets a generator that the optimizer, or the clip before it, has used up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, Node, line
from gradsan.lint.names import argument, dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

ITERATORS = ("filter", "map", "iter", "zip")
CHAINS = ("itertools.chain", "itertools.chain.from_iterable")
USES_UP = ("list", "tuple", "set", "sum", "sorted", "len")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for call in scope.calls():
            if not file.called(call).startswith("torch.nn.utils.clip_grad"):
                continue
            name = dotted(argument(call, 0, "parameters") or call)
            made = _made(file, scope, name)
            if made is not None and (used := _used_up(file, scope, name, call, made)) is not None:
                yield Mistake(
                    "GS505",
                    scope,
                    call,
                    f"this clips nothing: `{name}` is an iterator, which {line(used)} has used up",
                    (("created", made), ("use", used), ("clip", call)),
                )


def _made(file: SourceFile, scope: Scope, name: str) -> Node | None:
    """Where the name is bound, once and for all, to something that can be gone through only once."""
    values = file.bindings(scope, name) if name else []
    if len(values) != 1 or values[0] is None:
        return None
    value = values[0]
    if isinstance(value, ast.Name):  # another name for it
        holders = [s for s in file.same_class(scope) if any(v is value for v in s.bindings.get(name, []))]
        inner = holders[0].bindings.get(value.id, []) if holders else []
        value = inner[0] if len(inner) == 1 and inner[0] is not None else value
    return value if _is_iterator(file, scope, value) else None


def _is_iterator(file: SourceFile, scope: Scope, value: ast.expr) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call):
        return False
    if dotted(value.func) in ITERATORS or file.called(value) in CHAINS:
        return True
    is_parameters = isinstance(value.func, ast.Attribute) and value.func.attr == "parameters"
    return is_parameters and file.is_module(scope, value.func.value)  # type: ignore[attr-defined]


def _used_up(file: SourceFile, scope: Scope, name: str, clip: ast.Call, made: Node) -> Node | None:
    """An optimizer or a list made of it, before the clip; or the clip itself, in a loop, of what was made outside."""
    for where in file.same_class(scope) if name.startswith("self.") else [scope]:
        for call in where.calls():
            uses = file.is_optimizer(call) or dotted(call.func) in USES_UP
            is_given = bool(call.args) and dotted(call.args[0]) == name
            if uses and is_given and (where is not scope or call.lineno < clip.lineno):
                return call if where.name == "__init__" or where is scope else None
    loops = scope.loops_around(clip)
    outside = bool(loops) and loops[-1] not in scope.loops_around(made) and made in scope.nodes
    return clip if outside else None
