"""GS105: deepcopy or pickle of something that holds a tensor with a graph."""

from __future__ import annotations

from gradsan.judge.lines.source import bindings, gives_back
from gradsan.judge.report.wording import line
from gradsan.record.events import NOWHERE, Failed, Site
from gradsan.rules.base import Rule, Verdict, Verdicts


class GraphTensorCopied(Rule):
    code = "GS105"
    name = "graph-tensor-copied"
    severity = "error"
    what = (
        "`copy.deepcopy` (or pickling) met a tensor that is the result of a computation and still has its "
        "graph."
    )
    why = """
        Copying an agent for evaluation or a checkpoint fails because somewhere it keeps a tensor from the last
        forward pass: a sub-goal, a hidden state, the last loss. Even where it did not fail, that tensor would
        keep the whole graph alive.
    """
    symptom = """
        The run ends with `Only Tensors created explicitly by the user … support the deepcopy protocol`,
        at the first evaluation or checkpoint; until then the curve is fine.
    """
    fix = "store the value, not the graph: `self.subgoal = action.detach()`"
    deliberate = """
        Never: PyTorch refuses the copy.
    """
    bad = (
        """
        import copy
        import torch

        class Agent:
            def __init__(self):
                self.net = torch.nn.Linear(3, 2)
                self.last = None

            def act(self, s):
                action = torch.tanh(self.net(s))
                self.last = action  # BUG
                return action

        agent = Agent()
        agent.act(torch.randn(8, 3))
        best = copy.deepcopy(agent)
        """,
    )
    good = (
        """
        import copy
        import torch

        class Agent:
            def __init__(self):
                self.net = torch.nn.Linear(3, 2)
                self.last = None

            def act(self, s):
                action = torch.tanh(self.net(s))
                self.last = action.detach()
                return action

        agent = Agent()
        agent.act(torch.randn(8, 3))
        best = copy.deepcopy(agent)
        """,
    )

    def on_failed(self, event: Failed) -> Verdicts:
        if event.kind != "graph-tensor-copied":
            return
        history, attribute = self.history, event.attribute
        made = history.graph.get(event.value)
        stored = self._stored(attribute, event.site, made.site if made else NOWHERE)
        needed = stored and gives_back(
            history.sites[stored].file, attribute
        )  # detached, it would teach nothing
        where = f"the attribute `{attribute}` of {event.holder}" if attribute else "the copied object"
        kept = f", stored on {line(history, stored)}" if stored else ""
        yield Verdict(
            event.site if needed else stored or event.site,
            f"{where} holds a tensor with its graph{kept}, so the copy on {line(history, event.site)} fails",
            [("creation", made.site if made else NOWHERE), ("stored", stored), ("copy", event.site)],
        )

    def _stored(self, attribute: str, copy: Site, made: Site) -> Site:
        """The line that put the tensor into the attribute, if the source leaves no doubt."""
        history = self.history
        files = dict.fromkeys(history.sites[s].file for s in (made, copy) if s)
        for file in files:
            lines = [b for b in bindings(file, attribute) if not b.constant]
            for binding in lines:
                site = history.site_at(file, binding.line, binding.function)
                if len(lines) == 1:
                    return site
        return NOWHERE


rule = GraphTensorCopied
