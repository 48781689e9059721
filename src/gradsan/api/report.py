"""The report of a watch: live while the block runs, final when it has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradsan.judge.report.findings import Finding, Report

if TYPE_CHECKING:
    from gradsan.runner.watch import Watch


class WatchReport:
    """What `watch` has found so far. In a notebook it shows itself; `print(report)` gives the text."""

    def __init__(self, accepts: Callable[[Finding], bool] = lambda finding: True) -> None:
        self._accepts = accepts
        self._watch: Watch | None = None
        self._before: dict[Any, int] = {}
        self._final: Report | None = None
        self.script = ""

    def begin(self, watch: Watch) -> None:
        self._watch = watch
        self._final = None
        self._before = {key: f.count for key, f in watch.engine.findings.items()}

    def end(self, report: Report) -> None:
        self._final = self._own(report)
        self._watch = None  # a kept report must not keep the whole history of the run alive

    @property
    def findings(self) -> list[Finding]:
        """Worst first. Those of an enclosing watch that did not happen again inside are left out."""
        return self.snapshot().findings

    @property
    def iterations(self) -> int:
        """How often an optimizer stepped, as far as it was seen."""
        return self.snapshot().iterations

    @property
    def not_evaluated(self) -> list[dict[str, str]]:
        """Rules that could not look, each with the reason: not the same as clean."""
        return self.snapshot().not_evaluated

    @property
    def faults(self) -> list[dict[str, str]]:
        """What broke inside gradsan itself."""
        return self.snapshot().faults

    @property
    def watched(self) -> bool:
        """False where torch was there and gradsan could not watch it: not the same as clean."""
        return self.snapshot().watched

    @property
    def not_watched(self) -> str:
        """Why nothing could be watched; empty where it could."""
        return self.snapshot().not_watched

    @property
    def finished(self) -> bool:
        """Whether the watch is over; before, `findings` still grows."""
        return self._final is not None

    def snapshot(self) -> Report:
        """Everything a renderer needs, as of now."""
        if self._final is not None:
            return self._final
        return Report(script=self.script) if self._watch is None else self._own(self._watch.snapshot())

    def as_dict(self) -> dict[str, Any]:
        """The JSON report of `gradsan run --format json`."""
        return self.snapshot().as_dict()

    def text(self, width: int | None = None, colour: bool = False) -> str:
        """The report of the terminal, as wide as the one that is printed on unless told otherwise."""
        from gradsan.render import render
        from gradsan.render.page import Page

        return render("text", self.snapshot(), Page(width=width or Page.printed().width, colour=colour))

    def _own(self, report: Report) -> Report:
        if self._watch is not None:
            again = [f for k, f in self._watch.engine.findings.items() if f.count > self._before.get(k, 0)]
            report.findings = [f for f in report.findings if self._accepts(f) and any(f is a for a in again)]
        report.script = report.script or self.script
        return report

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        state = "" if self.finished else ", still watching"
        codes = ", ".join(f.rule for f in self.findings)
        codes = codes or ("no findings" if self.watched else "nothing was watched")
        return f"<gradsan report: {codes} in {self.iterations} iterations{state}>"

    def _repr_html_(self) -> str:
        from gradsan.render.notebook import render

        return render(self.snapshot())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
