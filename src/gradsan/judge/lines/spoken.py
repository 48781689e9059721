"""What a message calls the value of a line, and a write: as the source writes it, without comments."""

from __future__ import annotations

import ast
import linecache

from gradsan.judge.lines.source import around

LONGEST = 60  # characters of code inside a sentence
PUT_INTO = {"append", "appendleft", "extend", "add", "insert", "put", "push"}
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}


def spoken(file: str, line: int) -> str:
    """The variable that the value goes to, what a function returns, what is put into a list; else the code."""
    function, statement = around(file, line)
    match statement:
        case ast.Assign(targets=[target, *_]) | ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _quoted(file, target)
        case ast.Return() if function is not None:
            return f"what `{function.name}` returns"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr=attr))) if attr in PUT_INTO:
            return f"what is put into {words}" if (words := _quoted(file, kept)) else ""
        case ast.Expr(value=value):
            return _quoted(file, value)
    return ""


def writing(file: str, line: int, operation: str) -> str:
    """`q[:, 0] = …`, `h += …`, `clamp_`: how a write in place is written."""
    statement = around(file, line)[1]
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target]) if operation == "setitem":
            sign = "="
        case ast.AugAssign(target=target, op=op) if type(op) in SIGNS:
            sign = SIGNS[type(op)]
        case _:
            return f"`{operation.removesuffix('_')}_`" if operation != "setitem" else "`x[…] = …`"
    return f"`{words.strip('`')} {sign} …`" if (words := _quoted(file, target)) else f"`x {sign} …`"


def _quoted(file: str, node: ast.expr) -> str:
    """The code of an expression on one line, short enough for a sentence."""
    if node.lineno != node.end_lineno:
        return ""
    text = linecache.getline(file, node.lineno).encode()[node.col_offset : node.end_col_offset].decode()
    return f"`{text}`" if 0 < len(text) <= LONGEST else ""
