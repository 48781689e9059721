"""The report for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradsan.judge.report.causes import by_cause
from gradsan.judge.report.findings import SEVERITIES, Finding, Process, Report, RoleSite
from gradsan.render.excerpt import excerpt
from gradsan.render.how_often import how_often
from gradsan.render.page import Page, plain

SUBJECTS = 6  # as many names as one takes in
MANY = 4  # processes
MOST_PROCESSES = 16

# What a site's role in the story is called; any other role speaks for itself.
ROLES = {
    "saved": "saved here",
    "mutation": "changed here",
    "needed": "needed here",
    "kept": "kept from here",
    "created": "made here",
    "optimizer": "optimizer made here",
    "cut": "cut here",
    "choice": "chosen here",
    "freeze": "frozen here",
    "use": "used here",
    "sync": "synced here",
    "clip": "clipped here",
    "zero_grad": "cleared here",
    "backward": "backward here",
    "step": "step here",
    "loss": "loss here",
}


def render(report: Report, page: Page) -> str:
    console = page.console()
    draw(console, report)
    return page.text_of(console)


def of_finding(finding: Finding) -> str:
    """One finding by itself, for `print(finding)`."""
    page = Page.printed()
    console = page.console()
    _finding(console, finding)
    return page.text_of(console).rstrip("\n")


def draw(console: Console, report: Report) -> None:
    for first, *others in by_cause(report.findings):
        _finding(console, report.findings[first])
        _same_cause(console, [report.findings[number] for number in others], report.findings[first])
    _errors_explained(console, report)
    _unreadable(console, report)
    _not_evaluated(console, report)
    _processes(console, report)
    _suppressions(console, report)
    _baseline(console, report)
    _faults(console, report)
    _deep_looks(console, report)
    console.print(summary(report))
    if last := ending(report):
        console.print(last)


def _finding(console: Console, finding: Finding) -> None:
    console.print(_headline(finding))
    if finding.culprit is not None:
        where = finding.culprit
        place = Text.assemble((plain(where.place), "place"), _in(where.function))
        console.print(Padding(place, (0, 0, 0, 2)))
        if lines := excerpt(where):
            console.print()
        for line in lines:
            console.print(Padding(line, (0, 0, 0, 2)), no_wrap=True, overflow="ellipsis", crop=True)
    console.print()
    console.print(Padding(Text(plain(finding.message)), (0, 0, 0, 2)))
    _sites(console, finding.sites)
    if not finding.sites:
        console.print()
    notes = Table.grid(padding=(0, 2, 0, 0))
    if finding.subjects:
        notes.add_row(Text("on", "quiet"), _subjects(finding.subjects))
    if finding.effect is not None:
        notes.add_row(Text("effect", "quiet"), plain(str(finding.effect)))
    if finding.processes:
        notes.add_row(Text("in", "quiet"), where_met(finding))
    notes.add_row(Text("fix", "fix"), plain(finding.fix))
    notes.add_row(Text("why", "quiet"), Text(f"gradsan explain {finding.rule}", "quiet"))
    console.print(Padding(notes, (0, 0, 1, 2)))


def _same_cause(console: Console, others: list[Finding], first: Finding) -> None:
    """What else comes of it, in short."""
    if not others:
        return
    console.print(Padding(Text("the same cause", "culprit"), (0, 0, 0, 2)))
    for finding in others:
        console.print(Padding(_headline(finding), (0, 0, 0, 4)))
        if finding.culprit is not None:
            place = Text.assemble((plain(finding.culprit.place), "place"), _in(finding.culprit.function))
            console.print(Padding(place, (0, 0, 0, 6)))
        console.print(Padding(Text(plain(finding.message)), (0, 0, 0, 6)))
        notes = Table.grid(padding=(0, 2, 0, 0))
        if finding.fix != first.fix:
            notes.add_row(Text("fix", "fix"), plain(finding.fix))
        if finding.rule != first.rule:
            notes.add_row(Text("why", "quiet"), Text(f"gradsan explain {finding.rule}", "quiet"))
        console.print(Padding(notes, (0, 0, 1, 6)))


def _headline(finding: Finding) -> Text:
    return Text.assemble(
        (finding.severity, finding.severity),
        (f" {finding.rule} {finding.name}", "culprit"),
        (f"  {how_often(finding)}", "quiet"),
    )


def _in(function: str) -> str:
    return "" if function == "<module>" else f" in {plain(function)}"


def _sites(console: Console, sites: tuple[RoleSite, ...]) -> None:
    """The story in order: saved here → changed here → needed here."""
    if not sites:
        return
    story = [(where, _roles(together)) for where, together in groupby(sites, key=lambda site: site.location)]
    width = max(len(roles) for _, roles in story)
    console.print()
    for index, (where, role) in enumerate(story):
        place = (plain(where.place), "place")
        head = Text.assemble("→ " if index else "  ", role.ljust(width), "  ", place)
        code = Text(plain(where.code), "quiet")
        if head.cell_len + code.cell_len + 4 <= console.width:
            console.print(Padding(head.append("  ").append_text(code), (0, 0, 0, 2)))
        else:
            console.print(Padding(head, (0, 0, 0, 2)), overflow="fold")
            console.print(Padding(code, (0, 0, 0, 8)), no_wrap=True, overflow="ellipsis")
    console.print()


def _roles(sites: Iterable[RoleSite]) -> str:
    """What happens on one line, told once."""
    return ", ".join(dict.fromkeys(plain(ROLES.get(site.role, site.role)) for site in sites))


def _subjects(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SUBJECTS} more" if len(names) > SUBJECTS else ""
    return ", ".join(plain(name) for name in names[:SUBJECTS]) + more


def _errors_explained(console: Console, report: Report) -> None:
    """PyTorch's errors that no finding is about."""
    for told in report.errors_explained:
        where = told["where"]
        place = f"{plain(where['file'])}:{where['line']}" if where else "somewhere"
        inside = _in(where["function"]) if where else ""
        console.print(Text.assemble(("PyTorch's error ", "warning"), (place, "place"), inside))
        if where and where["code"]:
            console.print(
                Padding(Text(plain(where["code"]), "quiet"), (0, 0, 0, 4)), no_wrap=True, overflow="ellipsis"
            )
        notes = Table.grid(padding=(0, 2, 0, 0))
        notes.add_row(Text("why", "quiet"), Text(plain(told["why"])))
        for role in ("made", "stored"):
            if told[role]:
                at = f"{told[role]['file']}:{told[role]['line']}  {told[role]['code']}"
                notes.add_row(Text(role, "quiet"), Text(plain(at)))
        notes.add_row(Text("fix", "fix"), Text(plain(told["fix"])))
        console.print(Padding(notes, (0, 0, 1, 2)))


def _not_evaluated(console: Console, report: Report) -> None:
    reasons: dict[str, list[str]] = {}
    for entry in report.not_evaluated:
        reasons.setdefault(entry["reason"], []).append(entry["rule"])
    for reason, rules in reasons.items():
        text = Text.assemble(("not evaluated ", "warning"), ", ".join(rules), f": {plain(reason)}")
        console.print(text)
    if reasons:
        console.print()


def where_met(finding: Finding) -> str:
    """ "rank 0 and rank 1", or "12 processes (4711, 4712, 4713 …)"."""
    names = list(dict.fromkeys(process.name for process in finding.processes))
    if len(names) <= MANY:
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    some = ", ".join(name.partition(" ")[2] for name in names[:3])
    return f"{len(names)} {'ranks' if finding.ranks else 'processes'} ({some} …)"


def _processes(console: Console, report: Report) -> None:
    """Each one that trained, and each one of which not all is known; the others are counted."""
    told = [process for process in report.processes if not process.is_idle]
    for process in told[:MOST_PROCESSES]:
        console.print(Text.assemble(*_process(process)))
    if (more := len(told) - MOST_PROCESSES) > 0:
        console.print(Text(f"and {more:,} more that trained", "quiet"))
    if idle := len(report.processes) - len(told):
        noun = "process" if idle == 1 else "processes"
        console.print(Text(f"{idle:,} {noun} imported torch and made no step", "quiet"))
    if report.processes:
        console.print()


def _process(process: Process) -> list[tuple[str, str]]:
    if process.not_evaluated:
        return [("not evaluated ", "warning"), (f"{process.name}: {plain(process.not_evaluated)}", "")]
    number = f" (process {process.pid})" if process.rank is not None else ""
    done = f"{_plural(process.iterations, 'iteration')} ({process.deep_iterations:,} deep)"
    broken = "" if process.ended else ", broken off"
    return [(f"{process.name}{number}: {done}{broken}", "quiet")]


def _unreadable(console: Console, report: Report) -> None:
    for skipped in report.unreadable:
        place = (f"{plain(skipped['file'])}:{skipped['line']}", "place")
        console.print(Text.assemble(("skipped ", "warning"), place, f": {plain(skipped['message'])}"))
    if report.unreadable:
        console.print()


def _suppressions(console: Console, report: Report) -> None:
    for problem in report.suppression_problems:
        place = (f"{plain(problem['file'])}:{problem['line']}", "place")
        console.print(Text.assemble(("comment ", "warning"), place, f": {plain(problem['message'])}"))
    if report.suppression_problems:
        console.print()


def _baseline(console: Console, report: Report) -> None:
    for text in gone(report):
        console.print(Text.assemble(("baseline ", "warning"), text))
    if report.baseline and report.baseline["gone"]:
        console.print()


def gone(report: Report) -> list[str]:
    """One sentence for each entry of the baseline that can be taken out."""
    if report.baseline is None:
        return []
    return [
        f"{plain(report.baseline['file'])} {plain(entry['rule'])} {plain(entry['file'])}"
        f"{_in(entry['function'])}: `{plain(entry['code'])}` did not occur in this run"
        for entry in report.baseline["gone"]
    ]


def _faults(console: Console, report: Report) -> None:
    for fault in report.faults:
        title = f"gradsan fault in {plain(fault['tap'])}"
        console.print(Text.assemble((title, "warning"), "; the script was not affected:"))
        for line in fault["traceback"].splitlines():
            console.print(Padding(Text(plain(line), "quiet"), (0, 0, 0, 2)))
        console.print()


def _deep_looks(console: Console, report: Report) -> None:
    """Why some iterations were traced in full; that the first ones are goes without saying."""
    reasons: dict[str, list[int]] = {}
    for look in report.attention:
        if look["iteration"] > 0:
            reasons.setdefault(look["reason"], []).append(look["iteration"])
    for reason, iterations in reasons.items():
        times = f", {len(iterations)} in all" if len(iterations) > 1 else ""
        console.print(Text(f"deep look at iteration {iterations[0]:,}{times}: {plain(reason)}", "quiet"))


def summary(report: Report) -> Text:
    """One line: findings by severity, iterations, and what could not be looked at."""
    counts = {s: sum(f.severity == s for f in report.findings) for s in reversed(SEVERITIES)}
    parts = [(_plural(n, s) if s != "info" else f"{n} info", s) for s, n in counts.items() if n]
    text = Text.assemble(("gradsan: ", "quiet"))
    if not report.watched and not parts:
        seen = "watched" if report.files is None else "read"
        return text.append(f"nothing was {seen}", "error").append(f": {plain(report.not_watched)}")
    text.append_text(Text(", ").join(Text(*part) for part in parts) if parts else Text("no findings", "fix"))
    if report.baseline is not None:
        text.append(f", {report.baseline['hidden']:,} known from {plain(report.baseline['file'])}")
    if report.files is None:
        text.append(f" in {_plural(report.iterations, 'iteration')} ({report.deep_iterations:,} deep)")
    else:
        text.append(f" in {_plural(report.files, 'file')}")
    if report.unreadable:
        text.append(f", {_plural(len(report.unreadable), 'file')} skipped", "warning")
    if trained := sum(process.iterations > 0 for process in report.processes):
        text.append(f" of {trained:,} process{'es' * (trained > 1)}")
    if lost := sum(bool(process.not_evaluated) for process in report.processes):
        text.append(f", {lost:,} process{'es' * (lost > 1)} not evaluated", "warning")
    if silenced := len(report.suppressed):
        text.append(f", {silenced:,} silenced by {'a comment' if silenced == 1 else 'comments'}")
    if rules := {entry["rule"] for entry in report.not_evaluated}:
        text.append(f", {_plural(len(rules), 'rule')} not evaluated")
    if report.faults:
        text.append(f", {_plural(len(report.faults), 'gradsan fault')}", "warning")
    if not report.watched:
        text.append(f"; not all was watched: {plain(report.not_watched)}", "error")
    elif report.files is not None:
        return text
    elif not report.torch:
        text.append("; torch was never imported", "warning")
    elif not report.iterations:
        text.append("; no optimizer step was seen", "warning")
    return text


def ending(report: Report) -> Text | None:
    """The last line: a failing exit status and whose it is. One and the same number can mean two things."""
    if report.exit is None or not report.exit.status:
        return None
    reason = {
        "finding": "because of the findings",
        "script": "is the script's own: it failed by itself",
        "not watched": "because gradsan could not watch"
        if report.files is None
        else "because nothing could be read",
    }[report.exit.because]
    text = Text.assemble(("gradsan: ", "quiet"), f"exit status {report.exit.status} {reason}")
    if report.exit.because == "finding" and report.script_status:
        text.append(f"; the script itself failed, too, with status {report.script_status}")
    return text


def _plural(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
