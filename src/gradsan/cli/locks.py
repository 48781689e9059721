"""`--locked` and `gradsan lock`: the lock file of a run, read before it and written after it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from gradsan.cli import options
from gradsan.cli.exit_status import NOT_WATCHED
from gradsan.cli.publish import Publisher
from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.lock.file import NAME, LockFile, program_entry
from gradsan.lock.model import Flow
from gradsan.lock.sink import CODE, LockSink, is_spoiled
from gradsan.lock.text import LockError
from gradsan.render.output import OutputError, OutputFile
from gradsan.render.page import plain
from gradsan.runner.execute import ProgramOutcome
from gradsan.runner.program import Program


class Lock(NamedTuple):
    """`target`: where the entry `name` is to be written, if it is; else the run is compared with it."""

    file: LockFile
    name: str
    arguments: str
    sink: LockSink
    target: OutputFile | None


def chosen(given: dict[str, Any], program: Program, engine: Engine) -> Lock | None:
    writes = given.get("write_lock", False)
    if not given["locked"] and not writes:
        return None
    if given["code"] is not None:
        options.stop("a lock is kept of a SCRIPT or of -m MODULE, not of -c CODE")
    try:
        file = LockFile(Path(given["lock"] or NAME))
        name = program_entry(program.shown, file.path.parent)
        locked = None if writes else file.locked(name)
    except LockError as error:
        options.stop(str(error))
    target = options.output_file(file.shown) if writes else None
    return Lock(file, name, shlex.join(program.argv[1:]), file.sink(engine, locked), target)


def qualify(lock: Lock | None, report: Report) -> bool:
    """Say in the report where the run could not be compared, or not in full; whether it was compared at all. After a
    fault of ours, wherever it was, the judge says nothing more."""
    if lock is None or lock.target is not None:
        return True
    if lock.sink.untraced:
        reason = "nothing was traced: only who trains, feeds and clips what was compared"
        report.not_evaluated.append({"rule": CODE, "reason": reason})
    return not is_spoiled(report.faults)


def write(lock: Lock, report: Report, publisher: Publisher, outcome: ProgramOutcome) -> int:
    """The exit status, after the entry was written, or it was said why not."""
    assert lock.target is not None
    if outcome.status or is_spoiled(report.faults) or not report.watched:
        publisher.publish(report)
        because = report.not_watched or (
            f"the program ended with status {outcome.status}" if outcome.status else ""
        )
        _say(f"{lock.file.shown} is left as it is: {because or 'gradsan itself has failed'}")
        return outcome.status or NOT_WATCHED
    flow = lock.sink.flow
    flow.arguments = lock.arguments
    changes = lock.file.changes(lock.name, flow)
    try:
        lock.target.write(lock.file.with_entry(lock.name, flow))
    except OutputError as error:
        _say(str(error))
        return 2
    for change in changes:
        _say(change)
    _say(f"{_told(flow)} of {lock.name.partition(' ')[2]} are in {lock.file.shown}" + _remark(report))
    return 0


def _told(flow: Flow) -> str:
    losses, networks = len(flow.losses), len(flow.networks)
    return f"{losses} {'loss' if losses == 1 else 'losses'} and {networks} {'network' if networks == 1 else 'networks'}"


def _remark(report: Report) -> str:
    number = len(report.findings)
    findings = "1 finding" if number == 1 else f"{number} findings"
    return f", and so is what is wrong: {findings}, see `gradsan run`" if number else ""


def _say(line: str) -> None:
    click.echo(f"gradsan: {plain(line)}", err=True)
