"""`gradsan fix`: repairs of what was found, each tried in a run of the program before it is offered."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from gradsan.cli import options
from gradsan.cli.exit_status import NOT_WATCHED
from gradsan.cli.run import ProgramCommand, program_of
from gradsan.fix.mending import Mending, Outcome
from gradsan.fix.patch import NotWritten, patch, shown_lines, write
from gradsan.fix.trial import TrialProgram, TrialRun, Trials
from gradsan.judge.lines.source import pin_base
from gradsan.render.page import plain
from gradsan.settings import MODES

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option("--from", "from_", metavar="REPORT", help="Mend the findings of this JSON report only.")
@click.option("--apply", "apply_", is_flag=True, help="Write all verified repairs, without asking.")
@click.option(
    "--diff", is_flag=True, help="Print the verified repairs as a patch for `git apply`; ask nothing."
)
@click.option("--unverified", is_flag=True, help="Show repairs that could not be verified, too.")
@click.option("--iterations", type=click.IntRange(1), metavar="N", help="End every run after N updates.")
@click.option(
    "--mode", type=click.Choice(MODES), default="adaptive", show_default=True, help="As in `gradsan run`."
)
@click.option(
    "--include", multiple=True, metavar="PACKAGE", help="Count an installed package as your own code."
)
@click.option("--select", multiple=True, metavar="CODES", help="Mend findings of these rules only.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Mend findings of all rules but these.")
@click.option(
    "--config", metavar="FILE", help="Take defaults from FILE, not from the nearest pyproject.toml."
)
@click.option("--no-config", is_flag=True, help="Take no defaults from any file.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **given: Any) -> None:
    """Mend what gradsan finds in a training script, and prove that it helped.

    Each repair is tried in a run of its own, with the repaired source in place of the file; the file is
    written only when you say so. Verified is what makes the finding go away, brings no other one, and changes
    no gradient but those that the rule speaks of. The program is run several times and its output dropped.

    Exit status: 0 nothing is left; 1 something is; 2 on bad usage; 3 where nothing could be watched.
    """
    if given["apply_"] and given["diff"]:
        options.stop("give --apply or --diff, not both")
    options.with_defaults(ctx, given)
    wanted = _report(given["from_"]) if given["from_"] is not None else None
    module, words = _what(given["module"], words, wanted)
    # A module is looked for by the trial: to find one is to run the packages around it.
    home = os.getcwd() if module is not None else program_of(None, None, words).path0
    include = options.known_packages(given["include"], home)
    codes = {rule.code for rule in options.chosen_rules(given["select"], given["ignore"])}
    pin_base()
    trials = Trials(TrialProgram(words, module, include, given["mode"]))
    mending = Mending(
        trials, given["iterations"], _say, codes, None if wanted is None else wanted["findings"]
    )
    run = mending.first()
    if run.failure:
        options.stop(f"nothing can be mended: {run.failure}")
    if run.unwatched:
        _say(f"nothing was watched: {run.unwatched}")
        ctx.exit(NOT_WATCHED)
    if run.status and not run.findings:
        _say(f"the program ended with {run.error or f'status {run.status}'}, and nothing was found before")
        ctx.exit(1)
    ctx.exit(_mend(mending, run, given))


def _mend(mending: Mending, run: TrialRun, given: dict[str, Any]) -> int:
    desk = Desk(given["apply_"], given["diff"], given["unverified"])
    outcomes = [desk.take(outcome) for outcome in mending.mend(run, desk.accepts)]
    if given["diff"]:
        _print_patch(mending)
    return desk.close(outcomes)


class Desk:
    """Where outcomes are shown, and where it is decided what is written."""

    def __init__(self, apply: bool, diff: bool, unverified: bool) -> None:
        self._apply, self._diff, self._unverified = apply, diff, unverified
        self._err = diff  # then standard output is the patch's

    def accepts(self, outcome: Outcome) -> bool:
        """A verified repair: shown, and written unless it is only printed."""
        self._show(outcome, "verified")
        if self._diff:
            return True
        if not self._apply and not _asked("Apply this repair?"):
            return False
        assert outcome.repair is not None
        try:
            write(outcome.repair.file, outcome.repair.before, outcome.repair.after)
        except NotWritten as error:
            _say(str(error))
            return False
        return True

    def take(self, outcome: Outcome) -> Outcome:
        """What became of a finding, where it was not shown already."""
        if outcome.gone:
            self._line(f"{_about(outcome)}: gone with the repair of another finding")
        elif outcome.declined:
            self._line(f"{_about(outcome)}: left as it is")
        elif outcome.repair is None:
            self._line(f"{_about(outcome)}: no repair; {outcome.finding.fix}")
        elif not outcome.verified and self._unverified:
            self._show(outcome, "NOT VERIFIED")
        elif not outcome.verified:
            because = outcome.verdict.because if outcome.verdict else ""
            self._line(
                f"{_about(outcome)}: a repair was tried and is not verified: {because}; --unverified shows it"
            )
        return outcome

    def close(self, outcomes: list[Outcome]) -> int:
        left = sum(outcome.left for outcome in outcomes)
        mended = len(outcomes) - left
        done = "mended" if not self._diff else "mended by this patch"
        self._line(
            f"{_count(len(outcomes), 'finding')}, {mended} {done}, {left} left."
            if outcomes
            else "No findings."
        )
        return 1 if left else 0

    def _show(self, outcome: Outcome, word: str) -> None:
        assert outcome.repair is not None
        assert outcome.verdict is not None
        self._line(f"{_about(outcome)}")
        self._line(f"  {outcome.finding.message}")
        self._line(f"  {word}: {outcome.repair.what}. {_sentence(outcome.verdict.because)}")
        for line in shown_lines(outcome.repair.before, outcome.repair.after, outcome.repair.touched):
            click.echo(click.style("    " + plain(line), fg=COLOURS.get(line[:1])), err=self._err)
        click.echo(err=self._err)

    def _line(self, text: str) -> None:
        click.echo(plain(text), err=self._err)


def _about(outcome: Outcome) -> str:
    finding = outcome.finding
    where = f" at {finding.culprit.place}" if finding.culprit is not None else ""
    return f"{finding.rule} {finding.name}{where}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _asked(question: str) -> bool:
    """No answer is a no; Ctrl-C ends it all."""
    try:
        return click.confirm(question, default=False)
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        click.echo()
        return False


def _say(line: str) -> None:
    click.echo(f"gradsan: {plain(line)}", err=True)


def _print_patch(mending: Mending) -> None:
    whole = b"".join(patch(*file) for file in mending.changed())
    sys.stdout.buffer.write(whole)
    sys.stdout.buffer.flush()


def _what(
    module: str | None, words: tuple[str, ...], report: dict[str, Any] | None
) -> tuple[str | None, tuple[str, ...]]:
    """What to run; a report says it, too, but not with which arguments."""
    if module is not None or words:
        return module, words
    script = str(report["script"]) if report is not None else ""
    if script.startswith("-m "):
        return script[3:], ()
    if not script or script == "-c":
        options.stop("give a SCRIPT to run, or -m MODULE")
    return None, (script,)


def _report(path: str) -> dict[str, Any]:
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        _check(report["findings"])
        return dict(report)
    except OSError as error:
        options.stop(f"cannot read the report {path!r}: {error.strerror or error}")
    except (ValueError, KeyError, TypeError, RecursionError):
        options.stop(f"{path!r} is not a JSON report of gradsan")


def _check(findings: Iterable[Any]) -> None:
    from gradsan.fix.trial import finding_of

    for finding in findings:
        finding_of(finding)
