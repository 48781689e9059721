"""Which network and which loss of one flow is which of another, when variables and functions have other names."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from gradsan.lock.model import REFERENCE, Flow, Loss, Network, renamed

MOST_ALIKE = 5  # networks of one size that are tried in every order
ENOUGH_ALIKE = 0.4  # shared facts of two losses that are taken for one


def match_networks(old: Flow, new: Flow) -> dict[str, str]:
    """Labels of the old flow → labels of the new one. The same name and size, then the same size, then the same name,
    then whatever is left and does the same."""
    found: dict[str, str] = {}
    left = {n.label: n for n in new.networks}
    open_ = {n.label: n for n in old.networks}

    def take(one: str, other: str) -> None:
        found[one] = other
        del open_[one], left[other]

    for label in [n for n in open_ if n in left and _size(open_[n]) == _size(left[n])]:
        take(label, label)
    for size in sorted({_size(n) for n in open_.values()}):
        ours = [n for n in open_ if _size(open_[n]) == size]
        theirs = [n for n in left if _size(left[n]) == size]
        for one, other in _best(ours, theirs, found, old, new):
            take(one, other)
    for label in [n for n in open_ if n in left]:
        take(label, label)
    for one in list(open_):
        same = [n for n in left if renamed_all(open_[one].facts, found) == left[n].facts]
        if same:
            take(one, same[0])
    return found


def _size(network: Network) -> tuple[int, int]:
    return network.tensors, network.numbers


def _best(
    ours: list[str], theirs: list[str], found: dict[str, str], old: Flow, new: Flow
) -> Iterable[tuple[str, str]]:
    """Of all ways to pair them, the one that leaves the fewest facts different; of equal ones, the one that keeps the
    order in which the networks are made."""
    if not ours or not theirs:
        return ()
    if max(len(ours), len(theirs)) > MOST_ALIKE:
        return zip(ours, theirs, strict=False)
    few, many = sorted((ours, theirs), key=len)
    pairings = [
        list(zip(few, order, strict=True)) if few is ours else list(zip(order, few, strict=True))
        for order in itertools.permutations(many, len(few))
    ]
    return min(pairings, key=lambda pairs: _different(old, new, {**found, **dict(pairs)}))


def _different(old: Flow, new: Flow, names: dict[str, str]) -> int:
    """Facts about these networks that have no counterpart, whichever loss they belong to."""
    theirs = {fact for fact in _facts(new) if _speaks_of(fact, names.values())}
    ours = {renamed(fact, names) for fact in _facts(old) if _speaks_of(fact, names)}
    return len(ours ^ theirs)


def _facts(flow: Flow) -> Iterator[str]:
    for network in flow.networks:
        yield from (f"`{network.label}` {fact}" for fact in network.facts)
    for loss in flow.losses:
        yield from (f"{loss.function}: {fact}" for fact in loss.facts | loss.deep)


def _speaks_of(fact: str, labels: Iterable[str]) -> bool:
    return bool(set(REFERENCE.findall(fact)) & set(labels))


def renamed_all(facts: Iterable[str], names: dict[str, str]) -> set[str]:
    return {renamed(fact, names) for fact in facts}


def match_losses(
    old: list[Loss], new: list[Loss], names: dict[str, str]
) -> list[tuple[Loss | None, Loss | None]]:
    """Pairs; None stands for a loss that only one of them has. First by function and expression, then by function and
    the form of the expression, then by what they do."""
    pairs: list[tuple[Loss | None, Loss | None]] = []
    ours, theirs = list(old), list(new)
    for same in (_word_for_word, _in_form):
        for one in list(ours):
            other = next((n for n in theirs if same(one, n)), None)
            if other is not None:
                pairs.append((one, other))
                ours.remove(one)
                theirs.remove(other)
    scored = sorted(
        (
            (_likeness(one, other, names), -i, -j)
            for i, one in enumerate(ours)
            for j, other in enumerate(theirs)
        ),
        reverse=True,
    )
    taken: set[int] = set()
    given: set[int] = set()
    for score, i, j in scored:
        if score >= ENOUGH_ALIKE and -i not in taken and -j not in given:
            taken.add(-i)
            given.add(-j)
            pairs.append((ours[-i], theirs[-j]))
    pairs += [(one, None) for i, one in enumerate(ours) if i not in taken]
    return pairs + [(None, other) for j, other in enumerate(theirs) if j not in given]


def _word_for_word(one: Loss, other: Loss) -> bool:
    return one.place == other.place and one.expression == other.expression


def _in_form(one: Loss, other: Loss) -> bool:
    return one.place == other.place and form(one.expression) == form(other.expression)


def _likeness(one: Loss, other: Loss, names: dict[str, str]) -> float:
    ours, theirs = renamed_all(one.facts | one.deep, names), other.facts | other.deep
    shared = len(ours & theirs) / max(1, len(ours | theirs))
    return (one.file == other.file) * 0.1 + (one.function == other.function) * 0.5 + shared


def form(expression: str) -> str:
    """The expression without its variables."""
    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return expression
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = "_"
    return ast.unparse(tree)
