"""Networks that are older than the session: nobody saw them being copied, but a copy looks like its original."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

import torch

from gradsan.observe.names import networks_in_sight
from gradsan.observe.registry import shape_of
from gradsan.observe.sites import Sites
from gradsan.observe.slots import named_parameters_of, parameters_of, parts_of
from gradsan.observe.unseen import is_dense, is_readable

Tensor = torch.Tensor
Module = torch.nn.Module
Pairs = list[tuple[Tensor, Tensor]]
# A target that lags behind points the same way as what it follows; two networks of different seeds do not.
ALIKE = 0.9
ENOUGH = 16  # numbers for that to be no accident; fewer must be equal
SAMPLE = 4_096  # of each parameter


def earlier_copies(owned: list[Tensor], elsewhere: list[Tensor], frame: FrameType, sites: Sites) -> Pairs:
    """(copy, original) for what an optimizer owns and the user's variables hold once more, in networks of which no
    optimizer is known to own anything (`elsewhere`)."""
    mine, taken = {id(p) for p in owned}, {id(p) for p in (*owned, *elsewhere)}
    originals, others = [], []
    for network in _parts(frame, sites):
        ids = {id(p) for p in _parameters(network)}
        if ids & mine:
            originals.append(network)
        elif not ids & taken:
            others.append(network)
    found: Pairs = []
    paired: set[int] = set()
    for network in others:
        if not any(id(p) in paired for p in _parameters(network)):
            pairs = [(c, o) for c, o in _original_of(network, originals) if id(o) in mine]
            paired.update(id(copy) for copy, _ in pairs)
            found += pairs
    return found


def _parts(frame: FrameType, sites: Sites) -> Iterator[Module]:
    """Every network within sight and every network in it, the whole before its parts."""
    seen: set[int] = set()
    for network in networks_in_sight(frame, sites):
        for _, part in parts_of(network):
            if id(part) not in seen:
                seen.add(id(part))
                if _parameters(part):
                    yield part


def _original_of(network: Module, originals: list[Module]) -> Pairs:
    outline, best, pairs = _outline(network), ALIKE, []
    for original in originals:
        if _outline(original) == outline:
            candidate = list(zip(_parameters(network), _parameters(original), strict=True))
            if (likeness := _likeness(candidate)) >= best:
                best, pairs = likeness, candidate
    return pairs


def _parameters(network: Module) -> list[Tensor]:
    return [p for p in parameters_of(network) if is_readable(p)]


def _outline(network: Module) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, shape_of(p)) for name, p in named_parameters_of(network) if is_readable(p)]


def _likeness(pairs: Pairs) -> float:
    """The cosine of the two networks, without what is the same in every network: zeros in biases, ones in norms."""
    one, other = [], []
    for pair in pairs:
        if any(torch.nn.parameter.is_lazy(p) or not is_dense(p) or not p.is_floating_point() for p in pair):
            continue
        first, second = (p.detach().flatten()[:SAMPLE].double().cpu() for p in pair)
        if bool((first != first[:1]).any()) and bool((second != second[:1]).any()):
            one.append(first)
            other.append(second)
    if not one:
        return 0.0
    first, second = torch.cat(one), torch.cat(other)
    if torch.equal(first, second):
        return 1.0
    norm = float(first.norm() * second.norm())
    return float(first @ second) / norm if len(first) >= ENOUGH and norm > 0 else 0.0
