"""Runs a piece of training code under a session and gives back the report."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import re
import textwrap
import types

import torch

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.observe.session import Session
from gradsan.picture.collector import PictureCollector
from gradsan.record.events import Event
from gradsan.record.recorder import Recorder
from gradsan.record.sinks import Sink

_numbers = itertools.count()
MARK = "# BUG"


def run_code(code: str, mode: str = "deep", name: str = "example", may_raise: bool = False) -> Report:
    """Execute `code` as a script of its own. Many a bug raises: with `may_raise` the report is read after
    that; without, an exception is the test's, for a program that broke off half-way was not judged."""
    engine, picture = Engine(), PictureCollector()
    _run(code, mode, name, may_raise, [engine, picture])
    report = engine.report()
    report.picture = picture.picture(report.findings)
    return report


class Events(list[Event]):
    """A sink that keeps everything."""

    feed = list.append

    def finish(self) -> None: ...


def record_code(code: str, mode: str = "deep") -> Events:
    """The events of a run, to be judged as often as one likes."""
    events = Events()
    _run(code, mode, "recorded", True, [events])
    return events


def _run(code: str, mode: str, name: str, may_raise: bool, sinks: list[Sink]) -> None:
    code = textwrap.dedent(code)
    file = f"<{name}-{next(_numbers)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    torch.manual_seed(0)
    module = types.ModuleType("__main__")
    session = Session(Recorder(sinks), mode)
    with contextlib.redirect_stdout(io.StringIO()), session:
        try:
            exec(compile(code, file, "exec"), module.__dict__)
        except Exception as error:
            if not may_raise:
                raise
            session.explain(error)


def marked_lines(code: str) -> list[int]:
    lines = textwrap.dedent(code).splitlines()
    return [n for n, line in enumerate(lines, 1) if re.search(re.escape(MARK) + r"\b", line)]
