"""A network that has the weights of the one whose outputs it is to predict: no error, and no gradient."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.record.events import NOWHERE, Op, ParamId, Site

BENDING = {"pow", "square", "mul", "abs", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"}


def known_answer(history: History, bent: Op, zero: set[ParamId]) -> set[ParamId]:
    """The parameters of the network whose outputs are predicted, where the error is what ends the gradient of another
    of the same form."""
    graph, sides = history.graph, sides_of_error(history.graph, bent)
    if len(sides) != 2 or sides[0].live == sides[1].live or sides[0].shape != sides[1].shape:
        return set()
    constant, live = sides if sides[1].live else sides[::-1]
    own, other = graph.live_params([live.nid]), graph.value_params([constant.nid])
    alike = sorted(history.params[pid].shape for pid in own) == sorted(
        history.params[pid].shape for pid in other
    )
    return other if own and own <= zero and alike and not own & other else set()


def sides_of_error(graph: Provenance, bent: Op) -> list[Op]:
    """What is compared where an error is bent: squared, or given to a loss."""
    inputs = list(graph.inputs(bent)) if bent.name in BENDING else []
    return list(graph.inputs(inputs[0])) if inputs and inputs[0].name == "sub" else inputs


def made_equal(history: History, own: set[ParamId], other: set[ParamId]) -> Site:
    """The line that wrote the one's weights into the other, or both from one place."""
    networks = history.networks
    for pids, others in ((own, other), (other, own)):
        copied = [networks.copies[pid] for pid in pids if pid in networks.copies]
        if copied and any(copy.source in others for copy in copied):
            return copied[-1].site
    written = [networks.loaded[pid] for pid in own if pid in networks.loaded]
    return max(written, default=NOWHERE)
