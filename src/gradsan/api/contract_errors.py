"""The errors of `check`, in words: which cut, which leak, and what is not known."""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

import torch

from gradsan.api.errors import GradientContractError, place
from gradsan.api.locations import location, sites
from gradsan.api.routes import Routes
from gradsan.judge.flow import culprit_of
from gradsan.judge.missing.cuts import CutFinder, cause
from gradsan.judge.report.findings import Finding, Location, RoleSite
from gradsan.judge.report.wording import location as location_of
from gradsan.judge.report.wording import networks, value_at
from gradsan.observe.graphs.graph import KEY, operation_of
from gradsan.observe.names import find_names
from gradsan.rules import catalogue
from gradsan.runner.watch import Watch, running

SHOWN = 6
ANOMALY = "traceback_"  # where `torch.autograd.set_detect_anomaly` leaves the forward's stack
HOW_TO_SEE = "run it under `gradsan.watch('deep')` or `gradsan run` to see which line cuts it off"


def nothing_to_reach(parts: list[Any], frame: FrameType) -> GradientContractError:
    kinds = ", ".join(_kind(part, frame) for part in parts[:SHOWN])
    return GradientContractError(f"the loss can reach nothing in {kinds}: nothing there requires grad")


def _kind(part: Any, frame: FrameType) -> str:
    if isinstance(part, torch.Tensor):
        return names([part], frame)
    return next((f"`{n}`" for n, v in {**frame.f_globals, **frame.f_locals}.items() if v is part), "") or (
        f"a {type(part).__name__}"
    )


def names(tensors: list[torch.Tensor], frame: FrameType) -> str:
    """As the user's variables call them."""
    found = find_names({id(t) for t in tensors}, frame, sites())
    shown = [f"`{found[id(t)][0]}`" if id(t) in found else _unnamed(t) for t in tensors[:SHOWN]]
    more = f" and {len(tensors) - SHOWN} more" if len(tensors) > SHOWN else ""
    return ", ".join(shown) + more


def _unnamed(tensor: torch.Tensor) -> str:
    return f"a {'parameter' if tensor.is_leaf else 'tensor'} of shape {list(tensor.shape)}"


# -- cut -------------------------------------------------------------------------------------------


def cut(loss: torch.Tensor, missing: list[torch.Tensor], frame: FrameType) -> GradientContractError:
    who = names(missing, frame)
    start = f"the gradient of the loss does not reach {who}"
    if any(t.is_leaf and not t.requires_grad for t in missing):
        return GradientContractError(f"{start}: it does not require grad")
    watch = running()
    known = _seen_cut(watch, loss, missing) if watch is not None else None
    if isinstance(known, Finding):
        where = f"{place(known.culprit)}: " if known.culprit is not None else ""
        return GradientContractError(f"{start}\n  {where}{known.message}\n  fix: {known.fix}", known)
    alive = "" if loss.requires_grad else " (the loss does not require grad at all)"
    return GradientContractError(f"{start}{alive}: {known or 'no path leads there'}; {HOW_TO_SEE}")


def _seen_cut(watch: Watch, loss: torch.Tensor, missing: list[torch.Tensor]) -> Finding | str | None:
    """What the provenance graph says, where the session is deep and has seen the loss being made."""
    session = watch.session
    if session is None or (nid := session.tracing.find(loss)) is None:
        return None
    session.catch_up()
    history = watch.engine.history
    pids = {pid for t in missing if (pid := session.known.leaves.find(t)) is not None}
    found = CutFinder(history).in_loss([nid], pids) if pids else None
    if found is None:
        used = pids & history.graph.value_params([nid])
        return None if used or not pids else "its value has no part in the loss"
    site = culprit_of(found.op)
    rule = catalogue()["GS203" if found.choice else "GS202"]
    message = (
        f"the loss depends on {networks(history, found.pids)} through {value_at(history, found.op.site)}, but no "
        f"gradient comes back this way: {cause(history, found)}"
    )
    culprit = location_of(history, site)
    roles = () if culprit is None else (RoleSite("cut", culprit),)
    return Finding(rule.code, rule.name, "error", message, rule.fix, culprit, roles)


# -- leak ------------------------------------------------------------------------------------------


def leak(routes: Routes, leaked: list[torch.Tensor], frame: FrameType) -> GradientContractError:
    unique = list({id(t): t for t in leaked}.values())
    watch = running()
    if watch is not None and watch.session is not None:
        watch.session.catch_up()
    path = tuple((node.name(), line_of_node(node)) for node in routes.path(unique[0]))
    lines = [f"the gradient of the loss reaches {names(unique, frame)}, which it must avoid, by way of"]
    previous: Location | None = None
    for name, where in path:
        shown = f"  {place(where)}  {where.code}" if where is not None and where != previous else ""
        lines.append(f"    {operation_of(name)}{shown}")
        previous = where or previous
    if not any(where for _, where in path):
        lines.append(f"  (no source lines are known: {HOW_TO_SEE.replace('which line cuts it off', 'them')})")
    lines.append("  fix: `.detach()` it where it enters the loss, or compute it under `torch.no_grad()`")
    error = GradientContractError("\n".join(lines))
    error.path = path
    return error


def line_of_node(node: Any) -> Location | None:
    """The forward line that made this node, where a deep watch or anomaly mode has left it there."""
    watch, known = running(), node.metadata.get(KEY)
    if watch is not None and known is not None:
        op = watch.engine.history.graph.get(known[0])
        if op is not None and (where := location_of(watch.engine.history, op.site)) is not None:
            return where
    return _anomaly_line(node.metadata.get(ANOMALY, ()))


def _anomaly_line(stack: Any) -> Location | None:
    for text in reversed(list(stack)):
        match = re.match(r'\s*File "(.+)", line (\d+), in (\S+)', text)
        if match:
            file, line, function = match.groups()
            if sites().is_user_file(file):
                return location(file, int(line), function)
    return None
