"""GS406: a graph is kept that nobody goes through again."""

from __future__ import annotations

from gradsan.record.events import Backward, Site
from gradsan.record.history import History
from gradsan.rules.base import Rule, Verdict, Verdicts

UNUSED = 3


class RetainedGraph(Rule):
    code = "GS406"
    name = "retained-graph"
    severity = "warning"
    needs_deep = True
    what = "`retain_graph=True`, and no later backward goes through that graph."
    why = """
        At best it wastes memory. Often it was put there to silence "backward through the graph a second
        time", and now hides that old graph parts are carried from one iteration to the next.
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
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._open: dict[Site, tuple[Backward, set[int]]] = {}
        self._unused: dict[Site, int] = {}
        self._used: set[Site] = set()

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        values = {n for n, op in graph.live_ancestors(r.nid for r in event.roots).items() if op.inputs}
        for site, (kept, theirs) in list(self._open.items()):
            if values & theirs:
                self._used.add(site)
                del self._open[site]
            elif site == event.site:
                self._unused[site] = self._unused.get(site, 0) + 1
                del self._open[site]
                if self._unused[site] >= UNUSED and site not in self._used:
                    message = "the graph is kept (`retain_graph=True`), but no later backward goes through it"
                    yield Verdict(site, message, [("backward", site)], kept.reached)
        if event.retain and not event.create_graph and not event.error and values:
            self._open[event.site] = (event, values)


rule = RetainedGraph
