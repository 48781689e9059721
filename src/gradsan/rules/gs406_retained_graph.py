"""GS406: a graph is kept that nobody goes through again."""

from __future__ import annotations

from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.record.events import Backward, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

UNUSED = 3
KEEP = 64  # graphs of one iteration that may wait for their second backward


class KeptGraph(NamedTuple):
    """A graph that was kept, and when: within its iteration, somebody may still come for it."""

    event: Backward
    values: set[ValueId]
    iteration: int


class RetainedGraph(Rule):
    code = "GS406"
    name = "retained-graph"
    severity = "warning"
    needs_deep = True
    what = "`retain_graph=True`, and no later backward goes through that graph."
    why = """
        At best it wastes memory. Often it was put there to silence "backward through the graph a second
        time", and now hides that parts of an old graph are kept from one iteration to the next.
    """
    symptom = """
        Memory is higher than it need be. Where an old graph is carried along, it grows, and the time
        per update with it.
    """
    fix = "drop `retain_graph=True`"
    deliberate = """
        Where two backwards go through one graph, the first needs it: that is not reported.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward(retain_graph=True)  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            z = torch.tanh(net(torch.randn(8, 3)))
            opt.zero_grad()
            z.mean().backward(retain_graph=True)
            z.pow(2).mean().backward()
            opt.step()
        """,
        """
        # One line keeps a graph for every time step; a single backward uses all of them afterwards.
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            total = 0.0
            for _ in range(3):
                z = net(torch.randn(8, 3)).tanh()
                (g,) = torch.autograd.grad(z.pow(2).sum(), z, retain_graph=True)
                total = total + (g * z).sum()
            opt.zero_grad()
            total.backward()
            opt.step()
        """,
        """
        # What the encoder gives is computed once, for the losses of all agents.
        import torch
        encoder, heads = torch.nn.Linear(3, 2), [torch.nn.Linear(2, 1) for _ in range(2)]
        whole = torch.optim.SGD(encoder.parameters(), lr=0.1)
        optimizers = [torch.optim.SGD(head.parameters(), lr=0.1) for head in heads]
        for _ in range(6):
            features = encoder(torch.randn(8, 3))
            whole.zero_grad()
            for head, opt in zip(heads, optimizers):
                loss = (head(features) - torch.randn(8, 1)).pow(2).mean()
                opt.zero_grad()
                loss.backward(retain_graph=True)
                opt.step()
                opt.zero_grad()
                head(torch.randn(8, 2)).pow(2).mean().backward()
                opt.step()
            whole.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._open: list[KeptGraph] = []
        self._unused: dict[Site, int] = {}
        self._used: set[Site] = set()

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        values = {n for n, op in graph.live_ancestors(r.nid for r in event.roots).items() if op.inputs}
        self._used |= {kept.event.site for kept in self._open if values & kept.values}
        now = self.history.iteration
        # Not before the line comes round: in a loop over agents, the next one's loss may need it.
        due = [kept for kept in self._open if kept.iteration < now and kept.event.site == event.site]
        self._open = [kept for kept in self._open if kept not in due][-KEEP:]
        for kept in due:
            site = kept.event.site
            self._unused[site] = self._unused.get(site, 0) + 1
            if self._unused[site] >= UNUSED and site not in self._used:
                message = "the graph is kept (`retain_graph=True`), but no later backward goes through it"
                yield Verdict(site, message, [("backward", site)], kept.event.reached)
        if event.retain and not event.create_graph and not event.error and values:
            self._open.append(KeptGraph(event, values, now))


rule = RetainedGraph
