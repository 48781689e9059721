"""One trial run of `gradsan fix`, in a process of its own: `python -m gradsan.runner.trial REQUEST RESULT`.

The request and the result are JSON files. The program runs as under `gradsan run`, with other source text in place
of some files, and ends after enough updates; the result says how it ended, what was found, and the digests of the
gradients that its optimizers took.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any, NoReturn

from gradsan.judge.engine import Engine
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.findings import Finding, Report
from gradsan.observe.import_hook import ImportHook
from gradsan.runner import program as programs
from gradsan.runner.consumed import ConsumedSink
from gradsan.runner.execute import Course, execute
from gradsan.runner.replaced import ReplacedSources
from gradsan.runner.signals import last_words
from gradsan.runner.watch import Watch

BOUNDED = "bounded"  # it would have gone on
ENDED = "ended"
SEED = 0


class Trial:
    def __init__(self, request: dict[str, Any], result: Path) -> None:
        self._request, self._result = request, result
        self._limit: int | None = request["updates"]
        self._needed: dict[int, int] = {}
        self._engine = Engine(on_finding=self._found, most_subjects=sys.maxsize)
        self.watch = TrialWatch(self._engine, request["mode"], tuple(request["include"]), self._after_update)
        self._consumed = ConsumedSink(self._engine.history, self._after_update)
        self.watch.recorder.sinks.add(self._consumed)

    def run(self) -> int:
        sources = {path: Path(text).read_bytes() for path, text in self._request["sources"].items()}
        replaced = ReplacedSources(sources)
        replaced.install()
        program = replaced.in_place_of(self._program())
        pin_base()
        _seed_what_the_program_does_not()
        self.watch.start()
        course = Course()
        with last_words(lambda: self._write(ENDED, self.watch.finish_at_once(), 1, None)):
            if self.watch.refusal:
                return 3
            outcome = execute(program, course, self.watch.headroom)
        report = self.watch.finish(outcome.error, goes_on=False)
        self._write(ENDED, report, outcome.status, outcome.error)
        return outcome.status

    def _program(self) -> programs.Program:
        module, words = self._request["module"], self._request["words"]
        if module is not None:
            return programs.from_module(module, words)
        return programs.from_script(words[0], words[1:])

    def _found(self, finding: Finding) -> None:
        self._needed[id(finding)] = self.watch.iteration + 1

    def _after_update(self) -> None:
        if self._limit is not None and self.watch.iteration >= self._limit and not self.watch.is_in_child:
            self._stop()

    def _stop(self) -> NoReturn:
        """At once: what the program would still do (evaluate, save, plot) is no part of the trial."""
        with contextlib.suppress(Exception):
            self._write(BOUNDED, self.watch.finish_at_once(), 0, None)
        os._exit(0)

    def _write(self, ending: str, report: Report, status: int, error: BaseException | None) -> None:
        if self._result.exists():  # to end at once is an ending, too
            return
        found = [f.as_dict() | {"needed": self._needed.get(id(f), 0)} for f in report.findings]
        result = {
            "ending": ending,
            "status": status,
            "error": f"{type(error).__name__}: {error}".removesuffix(": ") if error is not None else "",
            "updates": report.iterations,
            "watched": report.watched,
            "not_watched": report.not_watched,
            "faults": report.faults,
            "findings": found,
            "not_evaluated": [entry["rule"] for entry in report.not_evaluated],
            **self._consumed.as_dict(),
        }
        part = self._result.with_suffix(".part")
        part.write_text(json.dumps(result), encoding="utf-8")
        part.replace(self._result)


class TrialWatch(Watch):
    """A watch that also tells what the optimizers take."""

    def __init__(self, engine: Engine, mode: str, include: tuple[str, ...], after_update: Any) -> None:
        super().__init__(engine, None, mode, include, refuses=True)
        self._after_update = after_update

    def _install(self) -> None:
        super()._install()
        _seed_torch()
        if self.session is not None and self.watched:
            from gradsan.observe.training.consumption import ConsumptionTap  # not before torch is there

            tap = ConsumptionTap(
                self.session.containment, self.recorder, self.session.known, self._after_update
            )
            tap.install()

    @property
    def watched(self) -> bool:
        return not self.not_watched


def _seed_what_the_program_does_not() -> None:
    """Two runs are compared: a program that sets no seed gets the same one in both."""
    random.seed(SEED)
    ImportHook("numpy", lambda: sys.modules["numpy"].random.seed(SEED)).start()


def _seed_torch() -> None:
    sys.modules["torch"].manual_seed(SEED)


def main(request: str, result: str) -> int:
    try:
        return Trial(json.loads(Path(request).read_text(encoding="utf-8")), Path(result)).run()
    except programs.ProgramError as error:
        Path(result).write_text(json.dumps({"failure": str(error)}), encoding="utf-8")
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
