"""What `gradsan lint` says about other people's code, and how many of the planted bugs it finds.

`make lint-precision` brings the sources of the packages below from the index into build/lint-sources, without what
they need and without installing them, lints them, and writes the tables of docs/lint.md. Every finding must have a
judgement by hand in benchmarks/results/lint_judged.json: the script ends with 1 where one has none. With
CORPUS=folder, recall is counted on that corpus (index.json), too. In slices: `--keep build/lint.jsonl --at-most 60`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kept import Kept, add_options

from gradsan.fix.trial import finding_of
from gradsan.judge.report.findings import Finding
from gradsan.lint.checks import CHECKS
from gradsan.lint.files import python_files
from gradsan.lint.linter import Linter
from gradsan.rules import catalogue

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "build" / "lint-sources"
JUDGED = ROOT / "benchmarks" / "results" / "lint_judged.json"
PAGE = ROOT / "docs" / "lint.md"
PACKAGES = [
    "torchrl==0.14.1",
    "stable-baselines3==2.9.2",
    "sb3-contrib==2.9.2",
    "tianshou==2.0.1",
    "d3rlpy==2.8.1",
    "pfrl==0.4.0",
    "skrl==2.1.1",
    "trl==1.16.0",
    "transformers==5.22.2",
    "accelerate==1.15.0",
    "lightning==2.6.6",
]
MORE = [
    "agilerl==2.58.0",
    "allennlp==2.10.1",
    "avalanche-lib==0.6.0",
    "botorch==0.18.1",
    "captum==0.9.0",
    "catalyst==21.5",
    "deepspeed==0.3.1.dev5",
    "dgl==2.1.0",
    "diffusers==0.42.1",
    "elegantrl==0.3.3",
    "espnet==202511",
    "fastai==2.8.12",
    "flair==0.15.1",
    "gpytorch==1.15.2",
    "gymnasium-robotics==1.4.2",
    "higher==0.2.1",
    "imitation==1.0.1",
    "kornia==0.9.0",
    "machin==0.4.2",
    "mbrl==0.2.0",
    "mmengine==0.10.7",
    "monai==1.6.1",
    "opacus==1.6.0",
    "openrl==0.2.0",
    "peft==0.21.2",
    "pyro-ppl==1.9.2",
    "pytorch-ignite==0.5.5",
    "pytorch-metric-learning==2.9.0",
    "ray==2.60.0",
    "rl-games==1.6.5",
    "rllte-core==1.0.1",
    "rsl-rl-lib==5.5.1",
    "sample-factory==2.1.1",
    "sentence-transformers==6.2.0",
    "speechbrain==1.1.2",
    "stanza==1.15.0",
    "tensordict==0.15.3",
    "timm==1.0.30",
    "torch-geometric==2.8.1",
    "torch-optimizer==0.3.0",
    "torchtune==0.6.1",
    "ultralytics==8.4.190",
]
MARKED = re.compile(r"# BUG ((?:GS\d{3} ?)+)")


class Row(NamedTuple):
    package: str
    version: str
    files: int
    lines: int
    skipped: int
    seconds: float
    findings: list[Finding]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path)
    add_options(parser)
    given = parser.parse_args()
    kept = Kept(given)
    for name in ("torch", *PACKAGES, *MORE):
        if name not in kept.results and not kept.is_time_up:
            row = measure(*(torch_sources() if name == "torch" else fetched(name)))
            kept.add(name, row._replace(findings=[f.as_dict() for f in row.findings]))  # type: ignore[list-item]
            print(row.package, row.files, len(row.findings), flush=True)
    if missing := [name for name in ("torch", *PACKAGES, *MORE) if name not in kept.results]:
        print(f"{len(missing)} packages are left", flush=True)
        return 0
    rows = {name: Row(*row) for name, row in kept.results.items()}
    rows = {name: row._replace(findings=[finding_of(f) for f in row.findings]) for name, row in rows.items()}  # type: ignore[arg-type]
    asked, more = [rows[name] for name in ("torch", *PACKAGES)], [rows[name] for name in MORE]
    judged = json.loads(JUDGED.read_text())
    unjudged = [f for row in asked + more for f in row.findings if judgement(judged, row.package, f) is None]
    write("packages", counts(asked))
    write("more", counts(more, one_line=True))
    write("judged", judgements(asked + more, judged))
    write("recall", recall(given.corpus))
    for finding in unjudged:
        print("not judged:", finding.rule, finding.culprit)
    return 1 if unjudged else 0


def torch_sources() -> tuple[str, str, Path]:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    return "torch", importlib.metadata.version("torch"), Path(spec.origin).parent


def fetched(requirement: str) -> tuple[str, str, Path]:
    name, _, version = requirement.partition("==")
    folder = SOURCES / requirement.replace("==", "-")
    if not folder.exists():
        download = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(SOURCES / "wheels"),
        ]
        subprocess.run([*download, requirement], check=True)
        stem = re.sub(r"[-_.]+", "[-_.]", name)
        (archive,) = (
            p
            for p in (SOURCES / "wheels").iterdir()
            if re.match(rf"(?i){stem}-{re.escape(version)}\b", p.name)
        )
        unpack(archive, folder)
    return name, version, folder


def unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(".py")])
    else:
        with tarfile.open(archive) as source:
            source.extractall(folder, filter="data")


def measure(package: str, version: str, folder: Path) -> Row:
    files = python_files([str(folder)])
    before = time.process_time()
    report = Linter(list(catalogue().values())).run(files)
    seconds = time.process_time() - before
    assert not report.faults, report.faults
    lines = sum(Path(file).read_bytes().count(b"\n") for file in files)
    return Row(package, version, len(files), lines, len(report.unreadable), seconds, report.findings)


def judgement(judged: list[dict[str, str]], package: str, finding: Finding) -> str | None:
    where = finding.culprit
    assert where is not None
    for entry in judged:
        same = (entry["package"], entry["rule"], entry["code"]) == (package, finding.rule, where.code)
        if same and where.file.endswith(entry["file"]):
            return entry["judgement"]
    return None


def counts(rows: list[Row], one_line: bool = False) -> str:
    total = Row(
        "all", "", *(sum(row[i] for row in rows) for i in (2, 3, 4, 5)), [f for r in rows for f in r.findings]
    )  # type: ignore[arg-type]
    shown = [total] if one_line else [*rows, total]
    lines = [
        f"| {r.package} | {r.version} | {r.files:,} | {r.lines:,} | {len(r.findings)} | "
        f"{r.seconds / r.files * 1000:.1f} s |"
        for r in shown
    ]
    head = (
        "| package | version | files | lines | findings | per 1,000 files |\n|---|---|---:|---:|---:|---:|\n"
    )
    named = ", ".join(f"{r.package} {r.version}" for r in rows)
    return (f"{named}.\n\n" if one_line else "") + head + "\n".join(lines)


def judgements(rows: list[Row], judged: list[dict[str, str]]) -> str:
    lines = [
        f"| {row.package} | {f.rule} | `{Path(f.culprit.file).name}:{f.culprit.line}` | `{f.culprit.code}` | "
        f"{judgement(judged, row.package, f) or 'not judged'} |"
        for row in rows
        for f in row.findings
        if f.culprit is not None
    ]
    return "| package | rule | place | line | judgement |\n|---|---|---|---|---|\n" + "\n".join(lines)


def planted(folder: Path) -> Iterator[tuple[Path, set[int], set[str]]]:
    """The programs of a folder that have a bug, the lines that would be right to name, and the rules."""
    for file in sorted(folder.rglob("*.py")):
        marks = {
            n: m[1].split() for n, t in enumerate(file.read_text().splitlines(), 1) if (m := MARKED.search(t))
        }
        if marks:
            yield file, set(marks), {rule for rules in marks.values() for rule in rules}


def of_corpus(folder: Path) -> Iterator[tuple[Path, set[int], set[str]]]:
    entries: list[dict[str, Any]] = json.loads((folder / "index.json").read_text())
    for entry in entries:
        lines = {*entry["culprit_lines"], *entry["also_fine"]}
        yield folder / f"{entry['name']}.py", lines, set(entry["codes"])


def recall(corpus: Path | None) -> str:
    """Per rule with a check: of the programs with such a bug, those where its line is named."""
    sets = {"tests/programs": list(planted(ROOT / "tests" / "programs"))}
    if corpus is not None:
        sets["the corpus"] = list(of_corpus(corpus))
    rules = sorted({rule for entry in CHECKS for rule in entry.rules} & catalogue().keys())
    there: dict[str, Counter[str]] = {name: Counter() for name in sets}
    found: dict[str, Counter[str]] = {name: Counter() for name in sets}
    for name, programs in sets.items():
        for file, lines, wanted in programs:
            said = Linter(list(catalogue().values())).run([str(file)]).findings
            named = any(f.culprit is not None and f.culprit.line in lines for f in said)
            there[name].update(wanted)
            found[name].update(wanted if named else ())
    head = "| rule | " + " | ".join(sets) + " |\n|---|" + "---:|" * len(sets) + "\n"
    rows = [
        f"| {rule} {catalogue()[rule].name} | "
        + " | ".join(f"{found[n][rule]} of {there[n][rule]}" for n in sets)
        + " |"
        for rule in rules
    ]
    whole = " | ".join(f"{len(programs)} programs" for programs in sets.values())
    return head + "\n".join(rows) + f"\n| all rules, with and without a check | {whole} |"


def write(mark: str, text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
