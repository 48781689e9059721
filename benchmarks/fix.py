"""How many findings `gradsan fix` repairs, and what the repaired programs learn: `make fix-check`.

    make fix-check FIX="--corpus path/to/corpus --every 3"

The programs with a bug in tests/programs/bugs, the wrong examples of the rules, and, where it is given, those of a
corpus (as in `make accuracy`). Trials are the real ones, in a fork of this process, which has torch loaded already.
Where a program has a repaired twin, both are trained to the end after the repair, and their weights compared bit for
bit. Writes the table of docs/how-to/fix.md and the repairs that `gradsan explain` shows when all were run. In slices:
FIX="--keep build/fix.jsonl --at-most 480", as often as it takes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import runpy
import sys
import tempfile
import textwrap
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from kept import Kept, add_options

from gradsan.fix.mending import Mending, Outcome
from gradsan.fix.patch import shown_lines
from gradsan.fix.trial import TrialProgram, Trials
from gradsan.judge.lines.source import pin_base
from gradsan.rules import catalogue
from gradsan.runner import trial

ROOT = Path(__file__).resolve().parents[1]
BUGS = ROOT / "tests" / "programs" / "bugs"
PAGE = ROOT / "docs" / "how-to" / "fix.md"
EXAMPLES = ROOT / "src" / "gradsan" / "fix" / "examples.json"
BEGIN, END = "<!-- table: make fix-check -->", "<!-- end of table -->"
PATIENCE = 120.0


class Result(NamedTuple):
    source: str
    name: str
    rule: str
    repaired: bool
    verified: bool
    gone: bool
    twin: str  # "equal", "differs", "" where there is none or something is left
    why: str
    diff: list[str]
    first: bool  # it was the first that was tried: the one that reports show


def forked(work: Callable[[], object], patience: float | None = None) -> str:
    """Run it in a child; why it did not end, if it did not."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    until = time.monotonic() + (patience or PATIENCE)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return "it was still running"
        time.sleep(0.01)
    return ""


def launch(request: Path, result: Path, patience: float | None) -> str:
    return forked(lambda: trial.main(str(request), str(result)), patience)


def weights(script: Path) -> str:
    """A digest of all that optimizers own after a whole run, without gradsan."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "digest")
        forked(lambda: into.write_text(_trained(script)))
        return into.read_text() if into.exists() else ""


def _trained(script: Path) -> str:
    made: list[torch.optim.Optimizer] = []
    original = torch.optim.Optimizer.__init__

    def init(self: torch.optim.Optimizer, *args: object, **kwargs: object) -> None:
        original(self, *args, **kwargs)  # type: ignore[arg-type]
        made.append(self)

    torch.optim.Optimizer.__init__ = init  # type: ignore[method-assign]
    for seed in (torch.manual_seed, random.seed, numpy.random.seed):
        seed(0)
    sys.argv[:] = [str(script)]
    runpy.run_path(str(script), run_name="__main__")
    digest = hashlib.sha256()
    for parameter in (p for o in made for group in o.param_groups for p in group["params"]):
        digest.update(parameter.detach().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def mend(source: str, script: Path) -> list[Result]:
    os.chdir(script.parent)
    pin_base()
    mending = Mending(Trials(TrialProgram((script.name,)), launch))
    run = mending.first()
    outcomes = list(mending.mend(run))
    twin = _twin(script, mending, outcomes)
    return [
        Result(
            source,
            script.stem,
            o.finding.rule,
            o.repair is not None or o.gone,
            o.verified or o.gone,
            o.gone,
            twin,
            o.verdict.because if o.verdict else "",
            shown_lines(o.repair.before, o.repair.after, o.repair.touched)[1:] if o.repair else [],
            o.refused == 0,
        )
        for o in outcomes
    ]


def _twin(script: Path, mending: Mending, outcomes: list[Outcome]) -> str:
    fixed = script.with_name(f"{script.stem}_fixed.py")
    changed = list(mending.changed())
    if not fixed.exists() or not changed or any(o.left for o in outcomes):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        repaired = Path(folder, script.name)
        repaired.write_bytes(changed[0][2])
        mine, theirs = weights(repaired), weights(fixed)
    return "equal" if mine and mine == theirs else "differs"


def programs(corpus: Path | None, examples: Path) -> Iterator[tuple[str, Path]]:
    yield from (("corpus", path) for path in _wrong(corpus))
    for code, rule in catalogue().items():
        for number, text in enumerate(rule.bad):
            path = examples / f"{code}_{number}.py"
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
            yield "examples", path
    yield from (("programs", path) for path in _wrong(BUGS))


def _wrong(folder: Path | None) -> list[Path]:
    found = sorted(folder.glob("*.py")) if folder is not None else []
    return [path for path in found if not path.stem.endswith("_fixed")]


def table(results: list[Result]) -> str:
    rows = ["| rule | findings | with a repair | verified |", "|---|---|---|---|"]
    for code in catalogue():
        mine = [r for r in results if r.rule == code]
        if mine:
            rows.append(
                f"| {code} | {len(mine)} | {sum(r.repaired for r in mine)} | {sum(r.verified for r in mine)} |"
            )
    counts = [len(results), sum(r.repaired for r in results), sum(r.verified for r in results)]
    rows.append(f"| **all** | **{counts[0]}** | **{counts[1]}** | **{counts[2]}** |")
    return "\n".join(rows) + "\n\n" + sentence(results)


def sentence(results: list[Result]) -> str:
    rules = {r.rule for r in results if r.verified and not r.gone}
    twins = Counter(twin for _, twin in {(r.name, r.twin) for r in results if r.twin})
    return (
        f"Rules with at least one verified repair: {len(rules)}. Of the {twins.total()} programs with a repaired twin "
        f"of which nothing was left, {twins['equal']} end with the twin's weights bit for bit, and {twins['differs']} "
        f"with others. Of {sum(r.verified and not r.gone for r in results)} verified repairs, "
        f"{sum(r.verified and not r.gone and r.first for r in results)} were the first that was tried.\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument(
        "--every", type=int, default=1, help="every nth of tests/programs, by a digest of its name"
    )
    parser.add_argument("--only", default="", help="programs whose name contains this")
    add_options(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    corpus = given.corpus.resolve() if given.corpus else None
    kept = Kept(given)
    with tempfile.TemporaryDirectory() as folder:
        chosen = [
            (source, path)
            for source, path in programs(corpus, Path(folder))
            if given.only in path.stem
            and not (source == "programs" and zlib.crc32(path.stem.encode()) % given.every)
        ]
        for source, path in chosen:
            if kept.is_time_up:
                break
            if path.stem not in kept.results:
                kept.add(path.stem, mend(source, path))
                for r in kept.results[path.stem]:
                    show(r)
    done = [path.stem for _, path in chosen if path.stem in kept.results]
    results = [Result(*r) for name in done for r in kept.results[name]]
    text = table(results)
    print(text, f"{len(done)} of {len(chosen)} programs")
    if not given.only and len(done) == len(chosen):
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
        EXAMPLES.write_text(json.dumps(examples(results), indent=1) + "\n", encoding="utf-8")
    return 0


def show(r: Result) -> None:
    state = "gone" if r.gone else "verified" if r.verified else "unverified" if r.repaired else "no repair"
    print(f"{r.name:50} {r.rule} {state:10} {r.twin:8} {'' if r.verified else r.why}", flush=True)


def examples(results: list[Result]) -> dict[str, str]:
    """For each rule the repair of its first example that was verified."""
    found: dict[str, str] = {}
    for r in results:
        if r.source == "examples" and r.verified and not r.gone and r.name.startswith(r.rule):
            found.setdefault(r.rule, "\n".join(r.diff))
    return dict(sorted(found.items()))


if __name__ == "__main__":
    sys.exit(main())
