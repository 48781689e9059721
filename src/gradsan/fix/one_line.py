"""A fix as a small change to the source, for the rules where the change can be read off the line.

Nothing is written anywhere: the change is shown.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import re
from collections.abc import Callable

from gradsan.judge.findings import Finding
from gradsan.judge.source import real_path

Lines = list[str]
CUTS = (".detach()", ".item()", ".data", ".tolist()")
# They overwrite all of a tensor, and what has the same name without the underscore is something else or nothing.
FILLING = ("normal", "uniform", "exponential", "bernoulli", "random", "cauchy", "log_normal", "geometric")
STEP = re.compile(r"([\w.\[\]\"']+)\.step\(")


def mend(finding: Finding) -> tuple[Lines, Lines] | None:
    """The source before and after, or None where a line alone does not say what to write instead."""
    change = CHANGES.get(finding.rule)
    if change is None or finding.culprit is None:
        return None
    before = [line.rstrip("\n") for line in linecache.getlines(real_path(finding.culprit.file))]
    number = finding.culprit.line - 1
    if number >= len(before) or before[number].strip() != finding.culprit.code:
        return None  # the file has changed since the run
    try:
        after = change(finding, list(before), number)
        ast.parse("\n".join(after or before))
    except (SyntaxError, ValueError, IndexError):
        return None
    return None if after is None or after == before else (before, after)


def diff(finding: Finding) -> Lines:
    """The lines of a unified diff with one line of context, without its header; [] where there is none."""
    mended = mend(finding)
    if mended is None:
        return []
    lines = difflib.unified_diff(*mended, n=1, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++"))]


# -- one function per kind of change: the new lines, or None ---------------------------------------------


def _detach(finding: Finding, lines: Lines, number: int) -> Lines | None:
    statement = _statement(lines[number])
    if not isinstance(statement, ast.Assign) or _makes_the_loss(finding):
        return None
    line, value = lines[number], statement.value
    indent = len(line) - len(line.lstrip())
    start, end = value.col_offset + indent, (value.end_col_offset or 0) + indent
    code = line[start:end]
    if not isinstance(value, ast.Call | ast.Name | ast.Attribute | ast.Subscript):
        code = f"({code})"
    lines[number] = f"{line[:start]}{code}.detach(){line[end:]}"
    return lines


def _uncut(finding: Finding, lines: Lines, number: int) -> Lines | None:
    line = lines[number]
    found = [cut for cut in CUTS for _ in range(line.count(cut))]
    if len(found) == 1:
        lines[number] = line.replace(found[0], "")
    elif re.search(r"torch\.tensor\([\w.]+\)", line) and not found:
        lines[number] = re.sub(r"torch\.tensor\(([\w.]+)\)", r"torch.stack(\1)", line)
    else:
        return None
    return lines


def _clear_first(finding: Finding, lines: Lines, number: int) -> Lines | None:
    step = STEP.search(lines[number])
    backward = [
        s.location.line - 1
        for s in finding.sites
        if s.role in ("backward", "own backward") and finding.culprit and s.location.file == finding.culprit.file
    ]  # fmt: skip
    if step is None or not backward or backward[0] >= number or "backward" not in lines[backward[0]]:
        return None
    before = lines[backward[0]]
    indent = before[: len(before) - len(before.lstrip())]
    lines.insert(backward[0], f"{indent}{step.group(1)}.zero_grad()")
    return lines


def _clear_between(finding: Finding, lines: Lines, number: int) -> Lines | None:
    """Only where the foreign gradient is left over from below; else a clearing would not part the two."""
    others = [s.location.line - 1 for s in finding.sites if s.role == "other backward"]
    steps = [s.location.line - 1 for s in finding.sites if s.role == "step"]
    apart = others and steps and min(others) > steps[-1]
    return _clear_first(finding, lines, steps[-1]) if apart else None


def _clip_before_step(finding: Finding, lines: Lines, number: int) -> Lines | None:
    steps = [s.location.line - 1 for s in finding.sites if s.role == "step"]
    if len(steps) != 1 or steps[0] >= number or _indent(lines[steps[0]]) != _indent(lines[number]):
        return None
    if _statement(lines[number]) is None:
        return None
    lines.insert(steps[0], lines.pop(number))
    return lines


def _out_of_place(finding: Finding, lines: Lines, number: int) -> Lines | None:
    line, statement = lines[number], _statement(lines[number])
    indent = _indent(line)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        name = statement.target.id
        lines[number] = re.sub(r"^(\s*)\w+\s*(\*\*|//|[-+*/@])=\s*", rf"\1{name} = {name} \2 ", line)
        return lines
    if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Subscript):
        name = ast.unparse(target.value)
        lines.insert(number, f"{indent}{name} = {name}.clone()")
        return lines
    written = re.match(r"^\s*([\w.]+)\.(\w+)_\((.*)$", line)
    if isinstance(statement, ast.Expr) and written and written.group(2) not in ("copy", "fill", "zero"):
        name, method, rest = written.groups()
        call = f"clone().{method}_" if method in FILLING else method
        lines[number] = f"{indent}{name} = {name}.{call}({rest}"
        return lines
    return None


def _forget_graph(finding: Finding, lines: Lines, number: int) -> Lines | None:
    lines[number] = re.sub(r",?\s*retain_graph\s*=\s*True", "", lines[number])
    return lines


def _statement(line: str) -> ast.stmt | None:
    """The statement, where the line holds exactly one and all of it."""
    try:
        body = ast.parse(line.strip()).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 else None


def _makes_the_loss(finding: Finding) -> bool:
    """Prediction and target on one line: detached as a whole, nothing would be left to learn from."""
    return any(s.role == "loss" and s.location == finding.culprit for s in finding.sites)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


CHANGES: dict[str, Callable[[Finding, Lines, int], Lines | None]] = {
    "GS101": _out_of_place,
    "GS201": _uncut,
    "GS202": _uncut,
    "GS301": _detach,
    "GS303": _detach,
    "GS304": _clear_between,
    "GS401": _clear_first,
    "GS406": _forget_graph,
    "GS504": _clip_before_step,
}
