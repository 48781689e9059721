"""docs/benchmark.md, written from the results: our own misses first."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from gradsan_benchmark import picture, tables
from gradsan_benchmark.cases import UNSEEN
from gradsan_benchmark.operators import OPERATORS
from gradsan_benchmark.score import OUTCOMES
from gradsan_benchmark.tables import Row, alarms, markdown, outcomes, real, right, share

HOW = """\
A *mutant* is a correct program with one realistic mistake on one line. Original and mutant run with the same seeds,
and what each optimizer step consumes (the parameters it owns and their gradients) is compared. It differs, or autograd
raises: a **real** bug. Nothing differs: **equivalent**, and whatever a tool says newly is a false alarm. No step
differs, but the mutant computes more, keeps more graphs alive, or has lost a guard (a clip, a mask) that did not act:
**latent**; a finding on the changed line is right there, and so is silence. Another error: invalid, dropped; so is what
has not differed after 2,000 steps, where the program goes on.

*Right line*: the changed line, or one that the operator names as equally right (the step that consumes what was not
cleared; the next line that uses what was not detached). *Right code* as well: one of the operator's codes; only
gradsan has these, so other tools cannot score in that column. *Among its sites*: the finding points elsewhere and
names the right line as another place. *Elsewhere*: neither. A finding that the tool reports on the original, too,
does not count. Which half a case belongs to is a fixed hash of program × operator: gradsan's rules are mended from the
development half, cases of the unseen half are counted and never looked at. Time is the median, over the originals, of
the whole run with the tool by the run without, both without the import of torch; these programs take about half a
second, so loading the tool is most of it. What watching costs in a longer run is in docs/performance.md."""


def write(
    rows: list[Row], path: Path, tools: dict[str, str], ours: str, command: str, notes: dict[str, str]
) -> None:
    """`tools` are names and settings; `notes` are peers that could not be run, and why."""
    present = [name for name in tools if any(name in row["tools"] for row in rows)]
    counts = {name: outcomes(real(rows, UNSEEN), name) for name in present}
    image = path.with_suffix(".svg")
    image.write_text(
        picture.draw(counts, "Real mutants of the unseen half, by what each tool said"), encoding="utf-8"
    )
    parts = [
        f"# A benchmark of gradient bugs\n\nWritten by `{command}`; see benchmarks/gradsan_benchmark/README.md for how "
        f"to score another tool. This run: {_scope(rows)}.\n",
        _own(rows, ours),
        f"## All tools\n\n![What each tool said about the mutants of the unseen half]({image.name})\n",
        "Unseen half:\n\n" + tables.tools_table(rows, present, UNSEEN, "PyTorch"),
        "Both halves:\n\n" + tables.tools_table(rows, present, "", "PyTorch"),
        _peers(tools, present, notes),
        "## Reports\n\n" + _reports(rows, present),
        f"## How it is judged\n\n{HOW}\n\nMutants of this run:\n\n{tables.kinds_table(rows)}",
        _unsuited(rows),
        "## Operators\n\n" + tables.operators_table(),
        "Excluded, because the difference is a legal choice that no tool could call wrong:\n\n"
        + tables.excluded_table(),
        "Places that an operator leaves alone, for the same reason:\n\n" + tables.leaves_table(),
    ]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _scope(rows: list[Row]) -> str:
    origins = Counter(row["origin"] for row in rows if row["kind"] == "original")
    listed = ", ".join(f"{count} of {origin}" for origin, count in sorted(origins.items()))
    mutants = [row for row in rows if "operator" in row]
    used = len({row["operator"] for row in mutants})
    return f"{sum(origins.values())} programs ({listed}), {len(mutants)} mutants by {used} operators"


def _goals(rows: list[Row], tool: str) -> str:
    """What it set out to reach on the unseen half, and whether it did."""
    count = outcomes(real(rows, UNSEEN), tool)
    whole = sum(count.values())
    line, placed = right(count), right(count) + count[OUTCOMES[2]]
    false = sum(alarms(rows, tool, kind)[0] for kind in ("original", "equivalent"))
    goals = [
        ["the right line", "at least 90 %", share(line, whole), line >= 0.9 * whole],
        ["some finding at the right place", "at least 95 %", share(placed, whole), placed >= 0.95 * whole],
        ["false alarms on originals and equivalents", "0", false, not false],
    ]
    made = [[what, goal, got, "yes" if met else "**no**"] for what, goal, got, met in goals] if whole else []
    return markdown(["goal on the unseen half", "wanted", "this run", "reached"], made)


def _own(rows: list[Row], ours: str) -> str:
    if not any(ours in row["tools"] for row in rows):
        return ""
    return "\n".join(
        [
            f"## What {ours} misses\n\n{_goals(rows, ours)}\n{tables.halves_table(rows, ours)}",
            "The distance between the halves is how much the rules are tuned to what was known. By operator, the worst "
            f"first:\n\n{tables.grouped(rows, ours, lambda row: row['operator'], 'operator')}",
            f"By family:\n\n{tables.grouped(rows, ours, lambda row: row['family'], 'family')}",
            f"By where the program is from:\n\n{tables.grouped(rows, ours, lambda row: row['origin'], 'programs')}",
            f"Every bug of the development half whose line was not named:\n\n{tables.misses(rows, ours, 80)}",
            f"False alarms:\n\n{_alarms(rows, ours)}",
        ]
    )


def _alarms(rows: list[Row], tool: str) -> str:
    made = []
    for row in rows:
        said = row["tools"].get(tool, {})
        found = said.get("findings") if row["kind"] == "original" else said.get("alarms")
        hidden = row.get("half") == UNSEEN
        if found and row["kind"] in ("original", "equivalent", "latent"):
            what = "; ".join(f"{rule} line {line}" for rule, _, line, *_ in found)
            made.append([row["kind"], "(unseen half)" if hidden else row["name"], "–" if hidden else what])
    return markdown(["kind", "case", "said"], made) if made else "None.\n"


def _peers(tools: dict[str, str], present: list[str], notes: dict[str, str]) -> str:
    listed = [[name, tools[name]] for name in present]
    listed += [[name, reason] for name, reason in notes.items()]
    return "How each was run:\n\n" + markdown(["tool", "settings"], listed)


def _reports(rows: list[Row], tools: list[str]) -> str:
    mine = [row for row in rows if row["kind"] == "report"]
    if not mine:
        return "Not part of this run.\n"
    families: dict[str, list[Row]] = defaultdict(list)
    for row in mine:
        families[row["family"]].append(row)
    made = []
    for tool in tools:
        cells: list[object] = [tool]
        for family in sorted(families):
            count = outcomes(families[family], tool)
            cells.append(f"{right(count)} of {sum(count.values())}")
        count = outcomes(mine, tool)
        false = alarms(mine, tool, "report")
        made.append([*cells, share(right(count), sum(count.values())), "{} of {}".format(*false)])
    text = (
        "Programs modelled on real reports, each with its repaired twin; a bug counts where the right line is named. "
        "gradsan is developed on them (but for the held ones of tests/programs/unseen), so its figure here is no "
        "measure of how it does on what it has not seen.\n\n"
    )
    return text + markdown(["tool", *sorted(families), "all", "alarms: twins"], made)


def _unsuited(rows: list[Row]) -> str:
    found = [[row["name"], row["reason"]] for row in rows if row["kind"] == "unsuited"]
    return "Programs that cannot be originals:\n\n" + markdown(["program", "why"], found) if found else ""


def misses_by_operator(rows: list[Row], tool: str) -> str:
    """For who mends the tool: the development half's misses by operator, two cases each, with their changes."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in real(rows, "development"):
        if tool in row["tools"]:
            groups[row["operator"]].append(row)
    parts = []
    for name, mine in sorted(groups.items(), key=lambda item: right(outcomes(item[1], tool)) / len(item[1])):
        missed = [row for row in mine if row["tools"][tool]["outcome"] not in OUTCOMES[:2]]
        if not missed:
            continue
        parts.append(f"## {name}: {len(missed)} of {len(mine)} missed\n\n{OPERATORS[name].what}\n")
        for row in missed[:2]:
            said = [f"{r} {f}:{n}" for r, f, n, *_ in row["tools"][tool]["findings"]] or ["silent"]
            parts.append(f"- {row['program']} ({row['file']}), right lines {row['lines']}, wanted {row['codes']}, "
                         f"said {said}; oracle: {row['reason']}\n\n```diff\n{row['diff']}\n```\n")  # fmt: skip
    return "\n".join(parts)
