"""`%load_ext gradsan` and `%%gradsan`: one cell of a notebook under the sanitizer."""

from __future__ import annotations

import ast
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from gradsan.api import errors
from gradsan.api.report import WatchReport
from gradsan.api.watch import watch
from gradsan.api.watch_context import WatchContext
from gradsan.judge.report.cells import cell_of


def load_ipython_extension(shell: InteractiveShell) -> None:
    shell.register_magics(GradsanMagics)


@magics_class
class GradsanMagics(Magics):
    @magic_arguments()
    @argument("--mode", default="adaptive", help="adaptive (default), deep or light.")
    @argument("--select", action="append", default=[], help="Judge by these rules only: code, name or GS4.")
    @argument("--ignore", action="append", default=[], help="Judge by all rules but these.")
    @argument("--include", action="append", default=[], help="An installed package that counts as your code.")
    @argument("--fail-on", choices=["error", "warning", "never"], default="never",
              help="Let the cell fail at its end on a finding at least this severe.")  # fmt: skip
    @argument("--raise-on", choices=["error", "warning", "info"], default=None,
              help="Stop at the line of the first finding at least this severe.")  # fmt: skip
    @argument("--report", metavar="NAME", default="", help="Keep the report in a variable of this name.")
    @cell_magic
    def gradsan(self, line: str, cell: str) -> Any:
        """Run this cell under the sanitizer, and show what it found."""
        __tracebackhide__ = "__ipython_bottom__"  # the traceback of an error begins with the cell's own line
        shell: Any = self.shell
        options = parse_argstring(self.gradsan, line)
        watching = _watch(options)
        watching.speaks = False
        try:
            with watching:
                value = self._run(line, cell)
        finally:
            if options.report:
                shell.user_ns[options.report] = watching.report
            display(watching.report)
        _fail(watching.report, options.fail_on)
        return value

    def _run(self, line: str, cell: str) -> Any:
        """As IPython itself would, from the magic's own line on, so that lines keep their numbers."""
        __tracebackhide__ = True
        shell: Any = self.shell
        raw = f"#%%gradsan {line}".rstrip() + "\n" + cell
        source = shell.transform_cell(raw)
        name = shell.compile.cache(source, _number(shell), raw_code=raw)
        tree = shell.transform_ast(shell.compile.ast_parse(source, name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if last is not None and source.rstrip().endswith(";"):  # as everywhere in a notebook: show nothing
            tree.body.append(last)
            last = None
        exec(compile(tree, name, "exec"), shell.user_ns)
        if last is None:
            return None
        return eval(compile(ast.Expression(last.value), name, "eval"), shell.user_ns)


def _number(shell: InteractiveShell) -> int:
    """Of the cell that is running. IPython may have gone on counting already, so the cell itself is asked."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if cell := cell_of(frame.f_code.co_filename):
            return int(cell.removeprefix("In[").removesuffix("]"))
    return int(shell.execution_count)


def _watch(options: Any) -> WatchContext:
    try:
        return watch(
            options.mode, select=_codes(options.select), ignore=_codes(options.ignore),
            include=options.include, raise_on=options.raise_on,
        )  # fmt: skip
    except ValueError as error:
        raise UsageError(f"%%gradsan: {error}") from None


def _codes(given: list[str]) -> list[str]:
    return [code for codes in given for code in codes.split(",") if code]


def _fail(report: WatchReport, fail_on: str) -> None:
    __tracebackhide__ = True
    if fail_on == "never":
        return
    found = [finding for finding in report.findings if errors.is_at_least(finding, fail_on)]
    if found:
        raise errors.of_finding(found[0])
