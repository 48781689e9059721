"""Brings a report to where it was asked for: the terminal, a file, or both in short."""

from __future__ import annotations

import contextlib
import io
import os
import sys

from gradsan.cli import baselines
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import Report
from gradsan.observe import last_resort
from gradsan.observe.last_resort import attempt
from gradsan.render import render
from gradsan.render.fresh_line import FreshLine
from gradsan.render.live import Live
from gradsan.render.output import Output, OutputError, OutputFile, StandardOutput
from gradsan.render.page import Page, plain
from gradsan.render.text import ending, summary
from gradsan.runner.bare import say


def write_html(report: Report, file: OutputFile) -> None:
    from gradsan.render.html import render as render_html  # not before it is needed: it loads Jinja

    file.write(render_html(report))


class Publisher:
    """Keeps the standard error of the start: the script may put another in its place."""

    def __init__(
        self,
        script: str,
        format_: str,
        output: Output | None,
        quiet: bool = False,
        html: OutputFile | None = None,
        who: str = "",
    ) -> None:
        self._html = html
        self._script = script
        self._format = format_
        self._output = output
        self._quiet = quiet
        self._stream = sys.stderr or io.StringIO()  # there is none where the caller closed it
        # A machine reads what goes to stderr in another format than text: no lines in between.
        talks = not quiet and (format_ == "text" or output is not None)
        self._fresh = FreshLine(self._stream)
        self.live = Live(self._stream, self._fresh, who) if talks else None

    def publish(self, report: Report) -> None:
        report.script = self._script
        if self.live is not None:
            attempt("status line", self.live.flush)
        try:
            self._publish(report)
        except Exception:
            last_resort.note("the report")
            self._say_at_least(report)
        if self._html is not None:
            attempt("the HTML report", self._publish_html, report, self._html)
        attempt("the report", self._fresh.leave)

    def keep(self, report: Report, file: OutputFile, old: Baseline | None) -> bool:
        """Write the findings down as known; whether that was possible."""
        try:
            said = baselines.write(report, file, old)
        except OutputError as error:
            self._say(f"gradsan: {error}\n")
            return False
        if self.live is not None:
            self._say(f"gradsan: {said}\n")
        return True

    def _publish(self, report: Report) -> None:
        if self._output is None:
            told = report.findings or report.faults or report.errors_explained or not report.watched
            if self._format != "text" or not self._quiet or told:
                apart = "\n" if self.live is not None and report.findings else ""
                self._say(apart + render(self._format, report, Page.of(self._stream)))
            return
        try:
            self._output.write(render(self._format, report, Page(width=100)))
        except OutputError as error:
            self._say(f"gradsan: {error}\n")
            self._say(render("text", report, Page.of(self._stream)))
        else:
            if not self._quiet or not report.watched:
                self._say_in_short(report, self._output)

    def _say_at_least(self, report: Report) -> None:
        """Without any of what makes a report pleasant to read: each finding, and where it is."""
        lines = [
            f"gradsan: {f.severity} {f.rule} {f.name} "
            + (f"{f.culprit.file}:{f.culprit.line}: " if f.culprit is not None else "")
            + f.message
            for f in report.findings
        ]
        lines += [f"gradsan fault in {fault['tap']}:\n{fault['traceback']}" for fault in report.faults]
        lines.append(f"gradsan: {len(lines)} findings and faults; the report could not be drawn")
        say("\n".join(map(str, lines)))

    def _publish_html(self, report: Report, file: OutputFile) -> None:
        try:
            write_html(report, file)
        except OutputError as error:
            self._say(f"gradsan: {error}\n")
        else:
            if not self._quiet:
                self._say(f"gradsan: the HTML report is in {plain(file.shown)}\n")

    def _say_in_short(self, report: Report, output: Output) -> None:
        page = Page.of(self._stream)
        console = page.console()
        console.print(summary(report), soft_wrap=True)
        if last := ending(report):
            console.print(last, soft_wrap=True)
        if not isinstance(output, StandardOutput):
            console.print(f"gradsan: the report is in {plain(output.shown)}", soft_wrap=True)
        self._say(page.text_of(console))

    def _say(self, text: str) -> None:
        text = (attempt("the report", self._fresh.start) or "") + text
        with contextlib.suppress(
            OSError, ValueError
        ):  # a stream that was closed; faults of ours do not get here
            try:
                self._stream.write(text)
                self._stream.flush()
            except RuntimeError:  # a signal stopped the program in the middle of a write of its own
                os.write(self._stream.fileno(), text.encode())
