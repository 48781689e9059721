"""What a run does otherwise than its lock says, in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradsan.lock.matching import match_losses, match_networks, renamed_all
from gradsan.lock.model import Flow, Loss, Network


@dataclass(slots=True)
class FlowChange:
    """What is new and what is gone about one loss or one network. `now`: as it is in this run, if it is."""

    subject: str
    now: Loss | Network | None
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    whole: bool = False  # all of it is new, or all of it is gone


def compare(locked: Flow, now: Flow) -> list[FlowChange]:
    names = match_networks(locked, now)
    found = []
    for one, other in match_losses(locked.losses, now.losses, names):
        change = _of_loss(one, other, names)
        if change.new or change.gone:
            found.append(change)
    known = {n.label: n for n in now.networks}
    for network in locked.networks:
        same = known.pop(names.get(network.label, ""), None)
        if same is not None:
            found += _of_network(network, same, names)
        elif owned := _owned(network):
            found.append(FlowChange(f"`{network.label}`", None, gone=owned, whole=True))
    found += [
        FlowChange(f"`{label}`", of, new=owned, whole=True)
        for label, of in known.items()
        if (owned := _owned(of))
    ]
    return found


def _of_loss(one: Loss | None, other: Loss | None, names: dict[str, str]) -> FlowChange:
    if one is None or other is None:
        of = one or other
        assert of is not None
        facts = sorted(renamed_all(of.facts, names) if one else of.facts) or ["takes part"]
        new, gone = ([], facts) if one else (facts, [])
        return FlowChange(f"{called(of)} of `{of.function}`", other, new, gone, whole=True)
    ours, theirs = renamed_all(one.facts, names), set(other.facts)
    if one.traced and other.traced:
        ours |= renamed_all(one.deep, names)
        theirs |= other.deep
    return FlowChange(called(other), other, sorted(theirs - ours), sorted(ours - theirs))


def _of_network(one: Network, other: Network, names: dict[str, str]) -> list[FlowChange]:
    ours = renamed_all(one.facts, names)
    new, gone = sorted(other.facts - ours), sorted(ours - other.facts)
    return [FlowChange(f"`{other.label}`", other, new, gone)] if new or gone else []


def _owned(network: Network) -> list[str]:
    """Of a network that only one of them has, the losses say all but this."""
    return sorted(fact for fact in network.facts if fact.startswith("belongs "))


def called(loss: Loss) -> str:
    return f"`{loss.name or loss.expression}`"
