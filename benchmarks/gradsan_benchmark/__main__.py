"""python -m gradsan_benchmark --tool "COMMAND": scores a tool that finds gradient bugs."""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from gradsan_benchmark import page, peers, programs, reports, run
from gradsan_benchmark.cases import DEVELOPMENT, UNSEEN, Case, every_case, sample, some_programs
from gradsan_benchmark.peers.traincheck import TrainCheck
from gradsan_benchmark.programs import Program
from gradsan_benchmark.tables import halves_table, tools_table
from gradsan_benchmark.tools import Command, Tool

ROOT = Path(__file__).resolve().parents[2]
# Of the time, when it is limited: by then the tool in question has seen the mutants, and the reports; the peers the
# mutants, and the reports. The rest is for peers that take a minute for each program.
MUTANTS, REPORTS, PEERS, PEERS_REPORTS = 0.55, 0.62, 0.8, 0.83
BUGS_FOR_SLOW = 2  # of each program
GRACE = 15.0  # seconds, to write down what was said in time


def how_many(word: str) -> int:
    if word != "all" and not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is neither a number nor all")
    return sys.maxsize if word == "all" else int(word)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gradsan_benchmark", description=__doc__)
    add = parser.add_argument
    add("--tool", action="append", default=[], metavar="[NAME=]COMMAND",
        help="a tool to score; {program} and {output} are filled in; may be given again")  # fmt: skip
    add(
        "--peers",
        default="pytorch",
        help=f"other tools on the same cases: {' '.join(peers.NAMES)}; or all, none",
    )
    add("--sample", type=how_many, default=300, help="how many mutants, or all (default: %(default)s)")
    add("--originals", type=how_many, default=36, help="of how many programs, or all (default: %(default)s)")
    add("--sites", type=how_many, default=1, help="mutants per program and operator, or all (default: 1)")
    add("--reports", type=how_many, default=30, help="how many pairs of the reports track, or all (0: none)")
    add("--corpus", type=Path, help="a folder of more pairs, with an index.json")
    add("--seed", type=int, default=0)
    add("--half", choices=(DEVELOPMENT, UNSEEN), default="", help="only the mutants of this half")
    add("--programs", default="", help="only programs whose name contains one of these words")
    add("--operators", default="", help="only these operators")
    add("--root", type=Path, default=ROOT, help="gradsan's repository, for its programs")
    add(
        "--at-most",
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="break off then: the tables are of what was reached; 0 runs nothing",
    )
    add("--jobs", type=int, default=os.cpu_count() or 1)
    add(
        "--results",
        type=Path,
        default=Path("benchmark.jsonl"),
        help="JSON lines; what is in there is not run again",
    )
    add(
        "--again",
        action="store_true",
        help="ask the tools of --tool again about what is in the results, and keep what the oracle said",
    )
    add(
        "--known",
        action="store_true",
        help="only what some tool was asked about before, in place of a sample: its page, or another tool's answers",
    )
    add("--page", type=Path, help="write the tables and the picture to this Markdown file")
    add("--command", default="python -m gradsan_benchmark", help="what the page says it was written by")
    add("--misses", type=Path, help="write the first tool's misses of the development half to this file")
    return parser


def named(text: str) -> Command:
    """`NAME=COMMAND`, or a command whose first word is its name."""
    head, _, rest = text.partition("=")
    if rest and head.replace("-", "").replace("_", "").isalnum():
        return Command(head, rest)
    return Command(Path(text.split()[0]).name, text)


def main() -> int:
    options = arguments().parse_args()
    asked = [named(text) for text in options.tool]
    available, notes = peers.find(options.peers, options.root)
    tools: list[Tool] = [*asked, *available]
    with tempfile.TemporaryDirectory() as place:
        names = _run(options, tools, Path(place))
    # The file may hold other samples, too.
    rows = [row for row in run.load(options.results) if row["name"] in names]
    run.judge_all(rows)
    first = tools[0].name if tools else ""
    settings = {tool.name: tool.settings for tool in tools}
    print(halves_table(rows, first), tools_table(rows, list(settings), "", "PyTorch"), sep="\n")
    if options.page:
        page.write(rows, options.page, settings, first, options.command, notes)
    if options.misses:
        options.misses.write_text(page.misses_by_operator(rows, first), encoding="utf-8")
    return 0


def _run(options: argparse.Namespace, tools: list[Tool], place: Path) -> set[str]:
    """Runs what is not in the results yet; the names of all that belongs to this run."""
    found = [*programs.of_repository(options.root, place), *programs.installed(place)]
    if not any(p.origin == "clean" for p in found):
        print(
            f"{options.root} is not gradsan's repository: only programs of installed libraries",
            file=sys.stderr,
        )
    words, picked = options.programs.split(), options.operators.split()
    found = [p for p in found if not words or any(word in p.name for word in words)]
    known = run.load(options.results)
    asked = {row["name"] for row in known if row["tools"]}
    if options.known:
        found = [program for program in found if program.name in asked]
    else:
        found = some_programs(found, options.originals, options.seed)
    chosen = every_case(found, options.sites, options.seed)
    chosen = [case for case in chosen if not picked or case.operator in picked]
    if options.known:
        chosen = [case for case in chosen if case.name in asked]
    else:
        chosen = sample(chosen, options.sample, options.seed)
    chosen = [case for case in chosen if options.half in ("", case.half)]
    if options.again:
        run.forget(known, {named(text).name for text in options.tool})
    print(
        f"{len(found)} programs, {len(chosen)} mutants, tools: {' · '.join(t.name for t in tools)}",
        file=sys.stderr,
    )
    pairs = _pairs(options, place)
    # The tool in question first, and all of it; peers are asked as far as the time goes, about the same.
    own, others = tools[: len(options.tool)], tools[len(options.tool) :]
    quick = [tool for tool in others if not isinstance(tool, TrainCheck)]
    began = time.monotonic()
    for asked_now, on_mutants, on_reports in (
        (own, MUTANTS, REPORTS),
        (quick, PEERS, PEERS_REPORTS),
    ):
        if not asked_now and own:
            continue
        todo = run.jobs(chosen, found, asked_now, known)
        run.run(todo, options.results, options.jobs, began + options.at_most * on_mutants - time.monotonic())
        left = began + options.at_most * on_reports - time.monotonic()
        reports.run(pairs, asked_now, run.load(options.results), options.results, left)
        known = run.load(options.results)
    slow = [tool for tool in others if isinstance(tool, TrainCheck)]
    _ask_slow(options, chosen, found, slow, began + options.at_most)
    return {p.name for p in found} | {case.name for case in chosen} | {pair.name for pair in pairs}


def _ask_slow(
    options: argparse.Namespace,
    chosen: list[Case],
    found: list[Program],
    tools: list[TrainCheck],
    until: float,
) -> None:
    """About a few bugs of each program: they stop by themselves when the time is over, and what they did counts."""
    known = run.load(options.results)
    real = {row["name"] for row in known if row["kind"] == "real"}
    few: dict[str, list[Case]] = defaultdict(list)
    for case in chosen:
        if case.name in real and len(few[case.program.name]) < BUGS_FOR_SLOW:
            few[case.program.name].append(case)
    # The shortest first: so more of them are reached.
    takes = {row["name"]: row["tools"].get("PyTorch", {}).get("seconds", math.inf) for row in known}
    asked = sorted((p for p in found if few[p.name]), key=lambda p: takes.get(p.name, math.inf))
    for tool in tools:
        tool.until = until
    todo = run.jobs([case for cases in few.values() for case in cases], asked, [*tools], known)
    if tools:
        run.run(todo, options.results, options.jobs, until + GRACE - time.monotonic())


def _pairs(options: argparse.Namespace, place: Path) -> list[reports.Pair]:
    if not options.reports:
        return []
    pairs = [*reports.of_repository(options.root, place)]
    pairs += reports.of_corpus(options.corpus, place) if options.corpus else []
    return reports.sample(pairs, options.reports, options.seed)


if __name__ == "__main__":
    sys.exit(main())
