"""The user's own names in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import line_of, shown_path
from gradsan.judge.lines.spoken import spoken, writing
from gradsan.judge.report.findings import Location

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.record.events import BadValue, ParamId, Site

UNNAMED = "parameter "


def name_of(history: History, pid: ParamId) -> str:
    param = history.params[pid]
    if param.name:
        return param.name
    shape = "[" + ", ".join(map(str, param.shape)) + "]"
    created = history.sites.get(param.created)
    return f"{UNNAMED}{shape}" + (f" made on line {created.line}" if created else "")


def describe_params(history: History, pids: Iterable[ParamId], limit: int = 50) -> list[str]:
    return [name_of(history, pid) for pid in sorted(set(pids))][:limit]


def networks(history: History, pids: Iterable[ParamId]) -> str:
    """ "`critic` (6 parameters)": the networks that these parameters belong to, in a few words."""
    groups: dict[str, list[str]] = {}
    for pid in sorted(set(pids)):
        name = name_of(history, pid)
        groups.setdefault(_network(name), []).append(name)
    words = []
    for network, members in groups.items():
        plural = f" ({len(members)} parameters)"
        words.append(quoted(members[0]) if len(members) == 1 else f"{quoted(network)}{plural}")
    if len(words) > 3:
        words = [*words[:3], f"{len(words) - 3} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def quoted(name: str) -> str:
    """A name of the user's in backticks; what has none is described in plain words."""
    return name if name.startswith(UNNAMED) else f"`{name}`"


def network_of(history: History, pid: ParamId) -> str:
    return _network(name_of(history, pid))


def _network(name: str) -> str:
    """`agent.q.0.weight` → `agent.q`: drop the parameter's own name and layer numbers."""
    return unnumbered(module_of(name) or name)


def module_of(name: str) -> str:
    """`agent.q.0.weight` → `agent.q.0`; `params['0.weight']` → `params`."""
    if name.endswith("']"):
        return name.rpartition("['")[0]
    return name.rpartition(".")[0]


def unnumbered(path: str) -> str:
    """`agent.q.0` → `agent.q`."""
    parts = path.split(".")
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return ".".join(parts)


def value_at(history: History, site: Site, fallback: str = "the value") -> str:
    """A name for what a line computes: the variable that it goes to, or the code itself."""
    seen = history.sites.get(site)
    if seen is None:
        return fallback
    return spoken(seen.file, seen.line) or fallback


def kept_by(history: History, site: Site) -> str:
    """What a line has kept for backward: "what `ratio` (line 41)", to be followed by a verb."""
    name = value_at(history, site, "an operation")
    return (
        f"what {line(history, site)}" if name.startswith("what ") else f"what {name} ({line(history, site)})"
    )


def write_at(history: History, site: Site, operation: str) -> str:
    """A name for a write in place, as the source has it."""
    seen = history.sites.get(site)
    return f"`{operation}`" if seen is None else writing(seen.file, seen.line, operation)


def location(history: History, site: Site) -> Location | None:
    seen = history.sites.get(site)
    if seen is None:
        return None
    return Location(shown_path(seen.file), seen.line, seen.function, line_of(seen.file, seen.line))


def in_words(bad: BadValue | None) -> str:
    """ "`log` of -0.25 at index (3, 1)"; where only the result is known, "`exp` with the result inf"."""
    if bad is None:
        return ""
    if bad.samples >= 0:
        return f"`{bad.operation}` of {bad.samples} sample{'s' if bad.samples != 1 else ''}"
    text = f"`{bad.operation}`"
    for word, numbers in (("of", bad.given), ("with the result", bad.results)):
        if numbers:
            text += f" {word} " + " and ".join(f"{number:.4g}" for number in numbers)
    if bad.at:
        text += f" at index {bad.at[0] if len(bad.at) == 1 else bad.at}"
    return text


def line(history: History, site: Site) -> str:
    seen = history.sites.get(site)
    return f"line {seen.line}" if seen is not None else "an unknown line"
