"""`gradsan run`: a script under the sanitizer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from gradsan.cli import baselines, locks, options, verifying
from gradsan.cli.exit_status import NOT_WATCHED, decide
from gradsan.cli.following import Following
from gradsan.cli.publish import Publisher
from gradsan.fix.trial import Trials
from gradsan.judge.engine import Engine
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import Report
from gradsan.observe import last_resort
from gradsan.observe.last_resort import attempt
from gradsan.processes import child
from gradsan.processes.folder import open_trace
from gradsan.processes.follower import Follower, abandon, new_scratch
from gradsan.processes.identity import identity, is_one_of_several
from gradsan.processes.place import is_folder
from gradsan.record.trace import TraceWriter
from gradsan.render.output import OutputFile
from gradsan.rules.base import Rule
from gradsan.runner import program as programs
from gradsan.runner.bare import fault_of, run_bare, say
from gradsan.runner.execute import Course, ProgramOutcome, execute
from gradsan.runner.signals import Interrupted, last_words
from gradsan.runner.watch import Watch
from gradsan.settings import MODES, PROCESSES, Settings, pinned

DELIBERATE = (click.ClickException, click.exceptions.Exit, click.Abort, Interrupted)


class ProgramCommand(click.Command):
    """Everything after SCRIPT, `-m MODULE` or `-c CODE` belongs to the program, as with `python`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._close_options(args))

    def _close_options(self, args: list[str]) -> list[str]:
        taking = {o for p in self.params if isinstance(p, click.Option) and not p.is_flag for o in p.opts}
        index = 0
        while index < len(args) and args[index].startswith("-") and args[index] != "--":
            word = args[index]
            if word[:2] in ("-m", "-c"):
                index += 1 if len(word) > 2 else 2
                return [*args[:index], "--", *args[index:]] if index <= len(args) else args
            index += 2 if word in taking else 1
        return args


@click.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option("-c", "code", metavar="CODE", help="Run a string of code, as `python -c` does.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="adaptive",
    show_default=True,
    help="Trace every operation while something is new, always, or never.",
)
@options.report_options
@click.option(
    "--trace",
    metavar="FILE|FOLDER",
    help="Record what was seen; `gradsan report` judges it again. A folder holds one file for each process.",
)
@click.option(
    "--processes",
    type=click.Choice(PROCESSES),
    default="all",
    show_default=True,
    help="Follow the processes that the script starts, or watch the main one only.",
)
@click.option(
    "--include", multiple=True, metavar="PACKAGE", help="Count an installed package as your own code."
)
@click.option(
    "--locked/--no-locked", help="Fail where the gradient flows otherwise than the lock says (GS901)."
)
@click.option(
    "--lock", metavar="FILE", help="The lock file; gradsan.lock in the working directory by default."
)
@click.option(
    "--verify-fixes/--no-verify-fixes",
    help="Try the repairs that --html and --format sarif show, as `gradsan fix` does, and show verified ones only.",
)
@click.option("--quiet/--no-quiet", help="Say nothing while the script runs, and nothing if all is well.")
@click.option("--live/--no-live", help="Show a status line on the terminal while the script runs.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **given: Any) -> None:
    """Run a training script, unchanged, and say which line broke the gradient.

    The script's own output, exit status and tracebacks stay what they are; findings go to stderr.
    Exit status: 1 (--finding-status) on a finding at or above --fail-on; else the script's own where it
    failed; else 3 where gradsan could not watch; 2 on bad usage, or a torch that is too old.
    """
    course, running = Course(), None
    try:
        running = _prepare(ctx, given, words)
        _execute(running, course)
    except DELIBERATE:
        raise
    except Exception as error:
        if not course.begun:
            attempt("processes", abandon)
            run_bare(error, given["module"], given["code"], words)
        last_resort.note("the end of the script")
    outcome = course.outcome or ProgramOutcome(1)
    assert running is not None
    try:
        status = _concluded(ctx, running, outcome, given)
    except DELIBERATE:
        raise
    except Exception as error:  # what ends everything else: the script's own status is left
        say(f"{fault_of(error)}; the script was not affected, and there is no report")
        status = outcome.status
    if isinstance(
        outcome.error, KeyboardInterrupt
    ):  # no function of ours: nothing is left to contain its fault
        raise Interrupted
    ctx.exit(status)


class Running(NamedTuple):
    program: programs.Program
    watch: Watch
    publisher: Publisher
    following: Following
    baseline: Baseline | None
    target: OutputFile | None
    defaults: Settings
    rules: list[type[Rule]]
    follower: Follower | None
    lock: locks.Lock | None
    trials: Trials | None  # of repairs, where the report is to show verified ones only

    def whole(self, report: Report) -> Report:
        """With what the other processes of the run have left."""
        if self.follower is None:
            return report
        merged = attempt("processes", self.follower.merge, self.watch, report, self.rules, self.baseline)
        return merged or report


def _prepare(ctx: click.Context, given: dict[str, Any], words: tuple[str, ...]) -> Running:
    defaults = options.with_defaults(ctx, given)
    program = program_of(given["module"], given["code"], words)
    rules = options.chosen_rules(given["select"], given["ignore"])
    include = options.known_packages(given["include"], program.path0)
    output, html = options.report_output(given["output"]), options.output_file(given["html"])
    scalars = options.scalars_folder(given["tensorboard"])
    baseline, target = baselines.chosen(given), options.output_file(given["write_baseline"])
    if given["live"] and given["quiet"]:
        options.stop("give --live or --quiet, not both")
    pin_base()
    who = f"rank {identity()['rank']}" if is_one_of_several() else ""
    publisher = Publisher(program.shown, given["format_"], output, given["quiet"], html, who)
    live = baseline.listener(publisher.live) if baseline and publisher.live else publisher.live
    engine = Engine(rules, live)
    lock = locks.chosen(given, program, engine)
    trials = verifying.trials_of(ctx, given, words, include)
    writer, follower = _writer(given, program)
    book = lock.sink if lock is not None else None
    watch = Watch(engine, writer, given["mode"], include, html is not None, baseline, refuses=True, lock=book)
    following = Following(watch, scalars, given["live"])
    if follower is not None:
        told = tuple(rule.code for rule in rules) if publisher.live is not None else ()
        attempt("processes", follower.start, include, told, html is not None)
    watch.start()
    return Running(
        program, watch, publisher, following, baseline, target, defaults, rules, follower, lock, trials
    )


def _execute(running: Running, course: Course) -> None:
    def end_at_once() -> None:
        running.following.close()
        report = running.whole(running.watch.finish_at_once())
        if not _is_told_later(running):
            running.publisher.publish(report)  # no baseline is written: the run was not whole
        if running.follower is not None:
            running.follower.finish()

    with last_words(end_at_once), pinned(running.defaults):
        if running.watch.refusal:
            course.begun, course.outcome = True, ProgramOutcome()
        else:
            execute(running.program, course, running.watch.headroom)


def _concluded(ctx: click.Context, running: Running, outcome: ProgramOutcome, given: dict[str, Any]) -> int:
    """The exit status, after everything was told. Faults of ours cost neither the script's own nor each other."""
    if running.watch.is_in_child:  # the program forked by itself, and this is not the process that we watch
        attempt("fork", child.finish, outcome.error)
        ctx.exit(outcome.status)
    attempt("signals", running.watch.interruptions.mute)
    try:
        return _conclude(running, outcome, given)
    except DELIBERATE:
        raise
    except Exception:
        last_resort.note("the report")
        return outcome.status
    finally:
        if running.follower is not None:
            attempt("processes", running.follower.finish)
        attempt("signals", running.watch.interruptions.stop)
        for fault in last_resort.take():  # what the report came too late for, or there was none
            say(f"gradsan fault in {fault.tap}; the script was not affected:\n{fault.traceback}")


def _conclude(running: Running, outcome: ProgramOutcome, given: dict[str, Any]) -> int:
    watch, publisher, target = running.watch, running.publisher, running.target
    if running.follower is not None:
        running.follower.wait_for_children()
    report = watch.finish(outcome.error, goes_on=False)
    attempt("following", running.following.close)
    if watch.refusal:
        options.refuse(watch.refusal)
    report = running.whole(report)
    if _is_told_later(running):
        return outcome.status  # else a launcher would end the ranks that are still running
    report.script_status = outcome.status
    compared = locks.qualify(running.lock, report)
    fail_on, finding_status = given["fail_on"], given["finding_status"]
    ending = decide(report, fail_on, finding_status, outcome.status, target is not None)
    report.exit = None if outcome.interrupted else ending
    if running.lock is not None and running.lock.target is not None:
        return locks.write(running.lock, report, publisher, outcome)
    if running.trials is not None and report.findings and not outcome.interrupted:
        verifying.verify_repairs(running.trials, report, running.follower)
    publisher.publish(report)
    if target is not None and not publisher.keep(report, target, running.baseline):
        # what could not be written down is not known
        ending = decide(report, fail_on, finding_status, outcome.status)
    return ending.status if compared else ending.status or NOT_WATCHED


def program_of(module: str | None, code: str | None, words: tuple[str, ...]) -> programs.Program:
    try:
        if module is not None and code is not None:
            options.stop("give -m MODULE or -c CODE, not both")
        if module is not None:
            return programs.from_module(module, words)
        if code is not None:
            return programs.from_code(code, words)
        if not words:
            options.stop("give a SCRIPT to run, or -m MODULE, or -c CODE")
        return programs.from_script(words[0], words[1:])
    except programs.ProgramError as error:
        options.stop(str(error))


def _is_told_later(running: Running) -> bool:
    """Whether this is one of several ranks, and not the last one to end: that one reports for all."""
    return running.follower is not None and running.follower.waits


def _writer(given: dict[str, Any], program: programs.Program) -> tuple[TraceWriter | None, Follower | None]:
    """Opened last of all, so that no mistake in the other options costs an earlier trace."""
    about: dict[str, Any] = {"script": program.shown, "mode": given["mode"], "python": sys.version.split()[0]}
    if given["code"] is not None:
        about["code"] = given["code"]
    # Where there is no room for a temporary folder, this process is watched all the same.
    scratch = attempt("processes", new_scratch) if given["processes"] == "all" else None
    try:
        if scratch is not None:
            follower = Follower(given["trace"], about, scratch)
            return follower.writer, follower
        if given["trace"] is None:
            return None, None
        if is_folder(given["trace"]):
            return open_trace(given["trace"], **about), None
        return TraceWriter(Path(os.path.abspath(given["trace"])), **about), None
    except OSError as error:
        abandon()
        shown = f"the trace {given['trace']!r}" if given["trace"] is not None else "a temporary folder"
        options.stop(f"cannot write {shown}: {error.strerror or error}")
