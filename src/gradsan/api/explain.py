"""`gradsan.explain`: an autograd error of PyTorch's that the user caught, as a finding."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, overload

from gradsan.api.errors import GradientError
from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Finding, Location, RoleSite
from gradsan.judge.report.selection import suggestion
from gradsan.record.events import (
    NOTHING,
    Backward,
    BackwardFacts,
    BackwardId,
    Event,
    Failed,
    Root,
    Site,
    SiteSeen,
)
from gradsan.record.torch_errors import TorchError, chain, row_of, text_of
from gradsan.rules import find
from gradsan.runner.watch import Watch, running

DETAIL = re.compile(r"\[\S+ (\[[\d, ]*\])\](?:, which is output \d+ of (?:\w+::)?(\w+?)(?:Backward\d*)?,)?")
HERE = Site(1)


class Explanation(str):
    """A rule's own text; an interactive session shows it as it is."""

    def __repr__(self) -> str:
        return str(self)


@overload
def explain(error: str) -> Explanation: ...
@overload
def explain(error: BaseException) -> Finding | None: ...
def explain(error: BaseException | str) -> Finding | Explanation | None:
    """The finding behind an autograd error, None where the error is of another kind; or what a rule means, by its
    code or name: `print(gradsan.explain("GS301"))`.

        try:
            loss.backward()
        except RuntimeError as error:
            print(gradsan.explain(error).message)

    Inside a watch, or under `gradsan run`, the finding names the line to change. Without one it says what the
    message and the traceback tell, and names the way to see more. Where no rule is about the error, its `rule` is
    empty, and its message says what PyTorch means.
    """
    if isinstance(error, str):
        return _of_rule(error)
    return next((found for current in chain(error) if (found := _explain(current)) is not None), None)


def _of_rule(name: str) -> Explanation:
    from gradsan.render.explanation import text
    from gradsan.render.page import Page

    rule = find(name)
    if rule is None:
        raise ValueError(f"there is no rule {name!r}{suggestion(name)}")
    return Explanation(text(rule, Page.printed()).rstrip("\n"))


def _explain(error: BaseException) -> Finding | None:
    if isinstance(error, GradientError) and error.finding is not None:
        return error.finding
    row = row_of(error)
    if row is None:
        return None
    watch = running()
    return (_watched(watch, error, row.rules) if watch is not None else None) or _alone(error, row)


def _watched(watch: Watch, error: BaseException, rules: tuple[str, ...]) -> Finding | None:
    """The finding that the running session made of it: same kind, and told of the line that raised."""
    if watch.session is None:
        return None
    watch.session.explain(error)
    places = {(file, line) for file, line, _ in _frames(error.__traceback__)}
    for finding in reversed(list(watch.engine.findings.values())):
        told = [finding.culprit, *(site.location for site in finding.sites)]
        if finding.rule in rules and any(at and _is_among(at.file, at.line, places) for at in told):
            return finding
    return None


def _is_among(shown: str, line: int, places: set[tuple[str, int]]) -> bool:
    return any(line == other and (file == shown or file.endswith(shown)) for file, other in places)


def _alone(error: BaseException, row: TorchError) -> Finding:
    """Let the rule itself speak: it gets the one event that the error is, and no history."""
    engine = Engine()
    for event in _events(error, row):
        engine.feed(event)
    finding = next((f for f in engine.findings.values() if f.rule in row.rules), None)
    if finding is None:
        return _without_rule(row, engine.report().errors_explained[0])
    if detail := _detail(str(error)):
        finding.message = f"{finding.message} ({detail})"
    return finding


def _without_rule(row: TorchError, told: dict[str, Any]) -> Finding:
    where = told["where"] and Location(**told["where"])
    raised = told["raised"] and Location(**told["raised"])
    sites = (RoleSite("raised", raised),) if raised else ()
    return Finding("", row.kind, "error", told["why"], told["fix"], where, sites)


def _events(error: BaseException, row: TorchError) -> list[Event]:
    from gradsan.api.locations import sites

    users = [frame for frame in _frames(error.__traceback__) if sites().is_user_file(frame[0])]
    file, line, function = users[-1] if users else ("<unknown>", 0, "")
    text = text_of(error)
    events: list[Event] = [SiteSeen(HERE, file, line, function)]
    if row.raised_by == "backward":
        facts = BackwardFacts(forward_unseen=True)
        events.append(
            Backward(BackwardId(1), HERE, "backward", _roots(error), (), (), error=text, facts=facts)
        )
    return [*events, Failed(row.kind, HERE, text, explain=True)]


def _roots(error: BaseException) -> tuple[Root, ...]:
    """The tensor that backward was called on is still in the frames that the error came through."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "backward":
            local = trace.tb_frame.f_locals
            root: Any = local.get("self", local.get("tensors"))
            if isinstance(getattr(root, "shape", None), tuple):
                return (Root(NOTHING, tuple(root.shape), root.requires_grad),)
        trace = trace.tb_next
    return ()


def _frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return found


def _detail(message: str) -> str:
    """`[torch.FloatTensor [8, 4]], which is output 0 of SoftmaxBackward0` in plain words."""
    match = DETAIL.search(message)
    if match is None:
        return ""
    shape, maker = match.groups()
    return f"a tensor of shape {shape}" + (f", the result of `{maker.lower()}`" if maker else "")
