"""GS403: backward on a loss that was never reduced."""

from __future__ import annotations

from gradsan.judge.lines.callers import meeting, way, way_of
from gradsan.judge.report.wording import value_at
from gradsan.record.events import Backward, Op, Site
from gradsan.record.torch_errors import NOT_SCALAR
from gradsan.rules.base import Rule, Verdict, Verdicts


class NonScalarBackward(Rule):
    code = "GS403"
    name = "non-scalar-backward"
    severity = "error"
    what = "`backward()` was called on a tensor with more than one element; it needs one number."
    why = """
        A loss per sample has no single gradient. Usually a `mean()` was forgotten or binds to the wrong
        factor, as in `td.pow(2) * weights.mean()`.
    """
    symptom = """
        The run ends with `grad can be implicitly created only for scalar outputs` at the first
        backward.
    """
    fix = "reduce the loss (`loss.mean()`), or pass `gradient=` with one weight per element"
    deliberate = """
        For weights per element pass `gradient=`: that is not reported.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2) * torch.rand(8, 1).mean()  # BUG
        loss.backward()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        loss = ((net(torch.randn(8, 3)) - 1.0).pow(2) * torch.rand(8, 1)).mean()
        loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        per_sample = (net(torch.randn(8, 3)) - 1.0).pow(2)
        per_sample.backward(gradient=torch.full((8, 1), 1 / 8))
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        if NOT_SCALAR not in event.error:
            return
        root = next((r for r in event.roots if _elements(r.shape) != 1), event.roots[0])
        made = self.history.graph.get(root.nid)
        inside = made.site if made is not None and made.site else event.site
        creation = self._asked_at(made, event) if made is not None and made.site else inside
        shape = "[" + ", ".join(map(str, root.shape)) + "]"
        yield Verdict(
            creation,
            f"{value_at(self.history, creation, 'the loss')} has shape {shape}: backward() needs one number",
            [("loss", creation), ("made", inside), ("backward", event.site)],
            event.reached,
        )

    def _asked_at(self, made: Op, event: Backward) -> Site:
        """A helper that serves others, too, is right to give one number per row: then it is whoever asked it."""
        history, path = self.history, way_of(self.history, made)
        ways = {way_of(history, op) for op in history.graph.ops.values() if op.site == made.site}
        apart = path[meeting(history, path, way(history, event.site, event.chain))]
        return apart if len(ways) > 1 else made.site


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


rule = NonScalarBackward
