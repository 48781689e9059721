"""The file `gradsan.lock`: one entry for each program, sorted, made to be read and compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gradsan.lock.model import Flow, Loss, Network

VERSION = 1
HEAD = (
    "# Which loss trains which network, and how. Written by `gradsan lock`; `gradsan run --locked` compares."
)
ENTRIES = ("program ", "test ")
DEEP = ("reaches ", "takes ", "joins ", "runs ")  # facts that only traced iterations can show
VERBS = ("trains", "leaves", "feeds", "clips", "adds", "stays", "fails", "reaches", "takes", "joins", "runs")
AGAIN = "write it again with `gradsan lock`"
NETWORK = re.compile(r"network `([^`]*)`: (\d+) tensors?, (\d+) numbers?")
LOSS = re.compile(r"loss of (\S*) in (.*?): (.*)")


class LockError(Exception):
    """The message is one sentence for the user."""


def written(entries: dict[str, Flow]) -> str:
    """`entries`: by what was run, `program train.py` or `test tests/test_agent.py::test_update`."""
    parts = [f"{HEAD}\nversion {VERSION}\n"]
    for name, flow in sorted(entries.items()):
        parts.append(f"{name}\n" + (f"arguments {flow.arguments}\n" if flow.arguments else ""))
        blocks = [
            (f"network `{n.label}`: {_count(n.tensors, 'tensor')}, {_count(n.numbers, 'number')}", n.facts)
            for n in flow.networks
        ]
        blocks += [
            (f"loss of {of.function} in {of.file}: {of.expression}", of.facts | of.deep)
            for of in sorted(flow.losses, key=_order)
        ]
        parts += [
            "\n".join([title, *(f"  {fact}" for fact in ordered(facts))]) + "\n" for title, facts in blocks
        ]
    return "\n".join(parts)


def ordered(facts: Iterable[str]) -> list[str]:
    """What is most worth knowing first."""
    return sorted(facts, key=lambda fact: (VERBS.index(v) if (v := fact.split()[0]) in VERBS else 0, fact))


def _order(loss: Loss) -> tuple[str, str, str, list[str]]:
    return loss.file, loss.function, loss.expression, sorted(loss.facts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def plain(text: str) -> str:
    """In one line, and without what the format itself uses."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).replace("`", "'").split())


def read(path: Path) -> dict[str, Flow]:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise LockError(f"cannot read the lock {str(path)!r}: {error.strerror or error}") from error
    except ValueError as error:
        raise LockError(f"{str(path)!r} is no gradsan lock: {error}") from error
    return parsed(text, str(path))


def parsed(text: str, shown: str = "gradsan.lock") -> dict[str, Flow]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(number, line) for number, line in lines if not line.startswith("#")]
    if not lines or not lines[0][1].startswith("version "):
        raise LockError(f"{shown!r} is no gradsan lock")
    if lines[0][1] != f"version {VERSION}":
        raise LockError(
            f"the lock {shown!r} is of {lines[0][1]!r}, and this gradsan reads {VERSION}; {AGAIN}"
        )
    entries: dict[str, Flow] = {}
    flow: Flow | None = None
    last: Network | Loss | None = None
    for number, line in lines[1:]:
        if line.startswith(ENTRIES):
            flow, last = entries.setdefault(line, Flow()), None
        elif flow is not None and last is None and line.startswith("arguments "):
            flow.arguments = line.removeprefix("arguments ")
        elif flow is not None and (network := NETWORK.fullmatch(line)):
            last = Network(network[1], int(network[2]), int(network[3]))
            flow.networks.append(last)
        elif flow is not None and (loss := LOSS.fullmatch(line)):
            last = Loss(loss[2], loss[1], loss[3])
            flow.losses.append(last)
        elif last is not None and line.startswith("  "):
            _add(last, line.strip())
        else:
            raise LockError(f"the lock {shown!r} is damaged at line {number}; {AGAIN}")
    return entries


def _add(to: Network | Loss, fact: str) -> None:
    if isinstance(to, Loss) and fact.startswith(DEEP):
        to.deep.add(fact)
        to.traced = True
    else:
        to.facts.add(fact)
