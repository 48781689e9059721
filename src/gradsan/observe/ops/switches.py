"""The lines that switched gradients off: seen as they ran, or looked for in the user's source."""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Literal, NamedTuple

from gradsan.observe.sites import Sites, is_context_decorator, variables_of
from gradsan.record.events import NOWHERE, Site

SWITCH = "set_grad_enabled"
DECORATORS = re.compile(r"\b(no_grad|inference_mode|set_grad_enabled)\b")
WRAPPED = 16  # functions that stand in for one another, as far as they are followed
DEEPEST = 64  # `with torch.no_grad()` inside one another, as far as they are remembered


class SwitchedOff(NamedTuple):
    """Where gradients were switched off, and by what."""

    site: Site = NOWHERE
    how: Literal["", "with", "decorator"] = ""


class GradientSwitches:
    """Where gradients were switched off, and by a decorator or by `with`."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self.by_statement: Site = NOWHERE
        self._inference: list[SwitchedOff] = []
        self._inference_lines: set[Site] = set()
        self._no_grad: list[SwitchedOff] = []  # only known while every operation is traced

    def switched(self, enabled: bool, frame: FrameType | None) -> None:
        self.by_statement = NOWHERE if enabled else self._sites.here(frame)

    def line(self) -> Site:
        """Of the statement that is in force."""
        return self.by_statement or found_switch(self._sites)

    def entered_inference(self, enabled: bool, frame: FrameType | None) -> None:
        entered = context_site(frame, self._sites) if enabled else SwitchedOff()
        self._inference.append(entered)
        if enabled and len(self._inference_lines) < DEEPEST:
            self._inference_lines.add(entered.site)

    def left_inference(self) -> None:
        if self._inference:
            self._inference.pop()

    def entered_no_grad(self, frame: FrameType) -> None:
        self._no_grad.append(context_site(frame, self._sites))
        del self._no_grad[:-DEEPEST]

    def left_no_grad(self) -> None:
        if self._no_grad:
            self._no_grad.pop()

    def inference(self) -> SwitchedOff | None:
        """The block or function in inference mode that runs now."""
        return self._inference[-1] if self._inference and self._inference[-1].site else None

    def only_inference(self) -> Site:
        """The line that has made every inference tensor of this run, where there is just one."""
        return next(iter(self._inference_lines)) if len(self._inference_lines) == 1 else NOWHERE

    def innermost(self, tags: tuple[str, ...]) -> SwitchedOff | None:
        """The one that cut off an operation with these tags."""
        for tag, entered in (("no_grad", self._no_grad), ("inference_mode", self._inference)):
            if tag in tags and entered:
                return entered[-1]
        return None


def found_switch(sites: Sites) -> Site:
    """The one statement `torch.set_grad_enabled(…)` in the user's code, unless it switches gradients on.
    As a statement it stays in force; where there are several, no one can tell which."""
    found = [(file, line, function) for file in _user_files(sites) for line, function in _switches(file)]
    return sites.at(*found[0]) if len(found) == 1 else NOWHERE


def _user_files(sites: Sites) -> list[str]:
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = {*sites.user_files(), *(file for file in loaded if file and sites.is_user_file(file))}
    return sorted(file for file in files if not file.endswith((".so", ".pyc")))


def _switches(file: str) -> list[tuple[int, str]]:
    source = "".join(linecache.getlines(file))
    if SWITCH not in source:
        return []
    statements = _statements(ast.parse(source), "<module>")
    return [(node.lineno, function) for function, node in statements if _switches_off(node.value)]


def _switches_off(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith(SWITCH):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not any(isinstance(value, ast.Constant) and value.value for value in given)


def _statements(tree: ast.AST, function: str) -> Iterator[tuple[str, ast.Expr]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr):
            yield function, node
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _statements(node, inside)


def context_site(frame: FrameType | None, sites: Sites) -> SwitchedOff:
    """Where gradients were switched off: the `with` line, or the decorator's."""
    current = frame
    while current is not None and not sites.is_user(current.f_code):
        if is_context_decorator(current.f_code):
            code = _decorated(variables_of(current).get("func"), sites)
            if code is not None:
                line = _line_of_switch(code.co_filename, code.co_firstlineno)
                return SwitchedOff(sites.at(code.co_filename, line, code.co_name), "decorator")
        current = current.f_back
    return SwitchedOff(sites.here(current), "with")


def _decorated(function: Any, sites: Sites) -> CodeType | None:
    """The first of the user's own functions behind what was decorated. It may stand in for another one itself
    (`functools.wraps`), which has nothing to do with it."""
    for _ in range(WRAPPED):
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and sites.is_user(code):
            return code
        function = getattr(function, "__wrapped__", None)
    return None


@functools.lru_cache(maxsize=64)
def _line_of_switch(file: str, first: int) -> int:
    """A function with several decorators begins with the first of them: the one that switches gradients off."""
    source = "".join(linecache.getlines(file))
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.decorator_list:
            switches = [d.lineno for d in node.decorator_list if DECORATORS.search(ast.unparse(d))]
            if node.decorator_list[0].lineno == first and len(switches) == 1:
                return switches[0]
    return first


def _parsed(source: str) -> ast.AST:
    try:
        return ast.parse(source)
    except SyntaxError:  # a cell of a notebook, with its magics
        return ast.Module([], [])
