"""python -m gradsan_benchmark --tool "COMMAND" """

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from gradsan_benchmark import programs, run
from gradsan_benchmark.cases import DEVELOPMENT, UNSEEN, every_case, sample
from gradsan_benchmark.operators import OPERATORS
from gradsan_benchmark.peers.pytorch import PyTorch
from gradsan_benchmark.tools import Command, Tool

PEERS: dict[str, Tool] = {"pytorch": PyTorch(), "anomaly": PyTorch("anomaly mode", anomaly=True)}
ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gradsan_benchmark", description=__doc__)
    parser.add_argument("--tool", action="append", default=[], metavar="[NAME=]COMMAND",
                        help="a tool to score; {program} and {output} are filled in; may be given again")  # fmt: skip
    parser.add_argument(
        "--sample", type=int, default=360, help="how many mutants; 0: all (default: %(default)s)"
    )
    parser.add_argument("--sites", type=int, default=1, help="mutants per program and operator; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", choices=(DEVELOPMENT, UNSEEN), default="", help="only this half")
    parser.add_argument("--programs", default="", help="only programs whose name contains one of these words")
    parser.add_argument("--operators", default="", help="only these operators")
    parser.add_argument("--peers", default="", help=f"other tools on the same cases: {' '.join(PEERS)}")
    parser.add_argument("--root", type=Path, default=ROOT, help="gradsan's repository, for its programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=Path("benchmark.jsonl"))
    return parser


def named(text: str, number: int) -> Command:
    """`NAME=COMMAND`, or a command whose first word is its name."""
    head, _, rest = text.partition("=")
    if rest and head.replace("-", "").replace("_", "").isalnum():
        return Command(head, rest)
    return Command(Path(text.split()[0]).name or f"tool {number}", text)


def main() -> int:
    options = arguments().parse_args()
    tools: list[Tool] = [named(text, n) for n, text in enumerate(options.tool, 1)]
    tools += [PEERS[name] for name in options.peers.split()]
    with tempfile.TemporaryDirectory() as place:
        found = [*programs.of_repository(options.root, Path(place)), *programs.installed(Path(place))]
        words = options.programs.split()
        found = [p for p in found if not words or any(word in p.name for word in words)]
        chosen = every_case(found, options.sites, options.seed)
        picked = options.operators.split()
        chosen = [case for case in chosen if not picked or case.operator in picked]
        chosen = sample(chosen, options.sample, options.seed)
        chosen = [case for case in chosen if options.half in ("", case.half)]
        todo = run.jobs(chosen, found, tools, run.load(options.results))
        print(f"{len(OPERATORS)} operators, {len(found)} programs, {len(chosen)} mutants", file=sys.stderr)
        run.run(todo, options.results, options.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
