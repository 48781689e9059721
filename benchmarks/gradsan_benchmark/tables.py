"""Counts of outcomes, as Markdown tables; pure functions of the rows that a run wrote."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from gradsan_benchmark.cases import DEVELOPMENT, UNSEEN
from gradsan_benchmark.operators import OPERATORS
from gradsan_benchmark.score import OUTCOMES, RIGHT_LINE, SILENT

Row = dict[str, Any]
HALVES = (UNSEEN, DEVELOPMENT)


def markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def real(rows: Iterable[Row], half: str = "") -> list[Row]:
    return [row for row in rows if row["kind"] == "real" and half in ("", row["half"])]


def outcomes(rows: Iterable[Row], tool: str) -> Counter[str]:
    return Counter(row["tools"][tool]["outcome"] for row in rows if "outcome" in row["tools"].get(tool, {}))


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "–"


def right(count: Counter[str]) -> int:
    return sum(count[outcome] for outcome in RIGHT_LINE)


def alarms(rows: Iterable[Row], tool: str, kind: str) -> tuple[int, int]:
    """(programs with a false alarm, programs) of one kind: original, equivalent or latent."""
    asked = [row["tools"][tool] for row in rows if row["kind"] == kind and tool in row["tools"]]
    field = "findings" if kind == "original" else "alarms"
    return sum(bool(said.get(field)) for said in asked), len(asked)


def times(rows: Iterable[Row], tool: str, base: str) -> str:
    """The median of how much longer a program takes, over the originals."""
    found = [
        row["tools"][tool]["seconds"] / row["tools"][base]["seconds"]
        for row in rows
        if row["kind"] == "original" and {tool, base} <= set(row["tools"])
    ]
    return f"{statistics.median(found):.1f}" if found else "–"


def tools_table(rows: list[Row], tools: list[str], half: str, base: str) -> str:
    made = []
    for tool in tools:
        count = outcomes(real(rows, half), tool)
        whole = sum(count.values())
        false = [
            "{} of {}".format(*alarms(rows, tool, kind)) for kind in ("original", "equivalent", "latent")
        ]
        faults = sum(bool(row["tools"].get(tool, {}).get("fault")) for row in rows)
        cells = [share(count[outcome], whole) for outcome in OUTCOMES]
        made.append([tool, whole, *cells, *false, times(rows, tool, base), faults])
    head = ["tool", "bugs", "right code and line", "right line", "right line among its sites", "elsewhere", "silent",
            "alarms: originals", "equivalents", "latent", "time ×", "faults"]  # fmt: skip
    return markdown(head, made)


def halves_table(rows: list[Row], tool: str) -> str:
    made = []
    for name, half in (("unseen", UNSEEN), ("development", DEVELOPMENT), ("both", "")):
        count = outcomes(real(rows, half), tool)
        whole = sum(count.values())
        said = whole - count[SILENT]
        placed = right(count) + count["site"]
        made.append([name, whole, share(count[OUTCOMES[0]], whole), share(right(count), whole),
                     share(placed, whole), share(said, whole)])  # fmt: skip
    head = ["half", "bugs", "right code and line", "right line", "right line or site", "some finding"]
    return markdown(head, made)


def grouped(rows: list[Row], tool: str, key: Callable[[Row], str], name: str) -> str:
    """Right lines of how many bugs, by a property of the case; the worst first."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in real(rows):
        if "outcome" in row["tools"].get(tool, {}):
            groups[key(row)].append(row)
    made = []
    for group, mine in groups.items():
        cells: list[object] = [group]
        for half in HALVES:
            count = outcomes([row for row in mine if row["half"] == half], tool)
            cells.append(f"{right(count)} of {sum(count.values())}")
        count = outcomes(mine, tool)
        cells += [count[outcome] for outcome in OUTCOMES]
        made.append((right(count) / len(mine), -len(mine), group, cells))
    head = [name, "right line, unseen", "right line, development", *OUTCOMES]
    return markdown(head, [cells for *_, cells in sorted(made)])


def misses(rows: list[Row], tool: str, most: int) -> str:
    """Bugs of the development half whose line was not named; those of the other half are not listed."""
    found = [
        row for row in real(rows, DEVELOPMENT) if row["tools"].get(tool, {}).get("outcome") not in RIGHT_LINE
    ]
    found = [row for row in found if tool in row["tools"]]
    made = []
    for row in sorted(found, key=lambda row: (row["operator"], row["name"]))[:most]:
        said = (
            "; ".join(f"{rule} line {line}" for rule, _, line, *_ in row["tools"][tool]["findings"])
            or "silent"
        )
        made.append(
            [
                row["operator"],
                row["program"],
                f"{row['file']}:{place(row['diff'])}",
                change(row["diff"]),
                said,
            ]
        )
    return markdown(["operator", "program", "line", "the change", "said"], made) if made else "None.\n"


def place(diff: str) -> str:
    """The first changed line's number, from the head of the difference."""
    return diff.partition("+")[2].partition(" ")[0].partition(",")[0]


def change(diff: str) -> str:
    """`old` → `new`, for every line that differs."""
    sides = [[line[1:].strip() for line in diff.splitlines() if line.startswith(sign)] for sign in "-+"]
    pairs = zip(*sides, strict=False)
    return "; ".join(f"`{old}` → {f'`{new}`' if new else 'gone'}" for old, new in pairs)


def kinds_table(rows: list[Row]) -> str:
    count = Counter(row["kind"] for row in rows if "operator" in row)
    return markdown(["real", "latent", "equivalent", "invalid"],
                    [[count[kind] for kind in ("real", "latent", "equivalent", "invalid")]])  # fmt: skip


def operators_table() -> str:
    listed = [o for o in OPERATORS.values() if not o.excluded]
    return markdown(["operator", "family", "the mistake", "codes that are right"],
                    [[o.name, o.family, o.what, " ".join(o.codes)] for o in listed])  # fmt: skip


def leaves_table() -> str:
    return markdown(
        ["operator", "leaves alone"], [[o.name, o.leaves] for o in OPERATORS.values() if o.leaves]
    )


def excluded_table() -> str:
    listed = [o for o in OPERATORS.values() if o.excluded]
    return markdown(["operator", "the change", "why"], [[o.name, o.what, o.excluded] for o in listed])
