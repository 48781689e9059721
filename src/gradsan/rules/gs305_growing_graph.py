"""GS305: a graph reaches further back with every iteration."""

from __future__ import annotations

import ast

from gradsan.judge.history import History
from gradsan.judge.lines.put_away import kept_by, put_into
from gradsan.judge.lines.source import around, function_at, stored_at
from gradsan.judge.report.reasons import BLIND
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOWHERE, HeldGraphs, Op, Ops, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

ITERATIONS = 4
WRITING = {"setitem", "copy", "index_put", "index_copy", "scatter"}  # into memory that is there already


class GrowingGraph(Rule):
    code = "GS305"
    name = "growing-graph"
    severity = "error"
    needs_deep = True
    what = """
        A tensor is kept from one iteration to the next together with its graph, and computed with: a running average of
        losses, a state that is never detached, a list of log-probabilities. The graph behind it never ends.
    """
    why = """
        Memory grows until the process is killed, and every iteration is slower than the one before. Where
        backward goes through it, the gradient belongs to weights of long ago.
    """
    symptom = """
        Memory and the time per update rise in a straight line. The return looks normal until the
        process is killed, or until so few updates are made that it seems to have stopped learning.
    """
    fix = "keep the number, not the graph: `loss.item()`, or `.detach()` what is kept"
    deliberate = """
        Truncated backpropagation through time is not reported: its graph ends at the `detach` between
        two windows. Nor are graphs that are kept for a while and let go, such as the losses of an inner loop.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        average = None
        for _ in range(9):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            average = loss if average is None else 0.9 * average + 0.1 * loss  # BUG
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        total = 0.0
        for _ in range(9):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss  # BUG
        """,
        """
        import copy
        import torch
        net = torch.nn.Linear(3, 1)
        slow = copy.deepcopy(net).requires_grad_(False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            target = torch.randn(8, 1) + 0.9 * slow(torch.randn(8, 3)).detach()
            loss = (net(torch.randn(8, 3)) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for s, p in zip(slow.parameters(), net.parameters()):
                s.copy_(0.99 * s + 0.01 * p)  # BUG
        """,
    )
    good = (
        """
        import copy
        import torch
        net = torch.nn.Linear(3, 1)
        slow = copy.deepcopy(net).requires_grad_(False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            target = torch.randn(8, 1) + 0.9 * slow(torch.randn(8, 3))
            loss = (net(torch.randn(8, 3)) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for s, p in zip(slow.parameters(), net.parameters()):
                s.copy_(0.99 * s + 0.01 * p.data)
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        average, total = None, 0.0
        for _ in range(9):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            average = loss.detach() if average is None else 0.9 * average + 0.1 * loss.detach()
            total += loss.item()
        """,
        """
        import torch
        rnn, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
        h = torch.zeros(8, 4)
        for _ in range(4):
            loss = 0.0
            h = h.detach()
            for _ in range(12):
                h = rnn(torch.randn(8, 3), h)
                loss = loss + (head(h) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._carrying: set[Site] = set()  # lines whose results were told to be carried on
        self._kept_by_hooks = False

    def could_not_look(self) -> str:
        return BLIND["packed"] if self._kept_by_hooks else ""

    def on_ops(self, event: Ops) -> Verdicts:
        for op in event.ops:
            depth = op.facts.carried
            if depth >= ITERATIONS and self._carries_on(op):
                self._carrying.add(op.site)
                kept = kept_by(self.history, op)
                yield Verdict(
                    kept,
                    f"{value_at(self.history, kept, 'this')} is built on a tensor of the iteration before, graph "
                    f"and all: by now its graph reaches back through {depth} iterations",
                    [("carried over", kept), ("made", op.site)],
                )
            elif op.kind == "written" and self._is_synced_live(op):
                names = networks(self.history, [op.facts.pid])
                yield Verdict(
                    op.site,
                    f"{names} follows another network with gradients on: its weights are no constants any more, and "
                    "their graph reaches back through all the updates of it",
                    [("carried over", op.site)],
                    [op.facts.pid],
                    fix="update it under `torch.no_grad()`",
                )

    def _carries_on(self, op: Op) -> bool:
        """Not where another line does, and this one only looks at what it keeps: reads what a line has written."""
        behind = self.history.graph.live_ancestors(op.inputs).values()
        carriers = {source.site: source.name for source in behind if source.facts.carried}
        if op.name not in WRITING and not WRITING.isdisjoint(carriers.values()):
            return False
        return not carriers or op.site in carriers

    def _is_synced_live(self, written: Op) -> bool:
        """A frozen copy that was written, by no optimizer, with something that carries gradient. Through `.data`, only
        that gets a graph, and is gone at once."""
        history, pid = self.history, written.facts.pid
        write = history.graph.get(written.inputs[0])
        into = next(history.graph.inputs(write), None) if write is not None else None
        if into is not None and into.name in ("data", "detach"):
            return False
        frozen = not history.params[pid].requires_grad
        return frozen and write is not None and write.live and pid in history.networks.copies

    def on_held(self, event: HeldGraphs) -> Verdicts:
        """Nothing is built on them; they are only kept."""
        history = self.history
        if not self._carrying.isdisjoint(event.sites):
            return
        if "packed" in history.blind:
            self._kept_by_hooks = (
                True  # an output that they hand back as it is keeps itself: nobody has stored it
            )
            return
        outside = [s for s in event.sites if (seen := history.sites.get(s)) and seen.function != "forward"]
        made, stored = self._made_and_stored(outside or list(event.sites))
        away = NOWHERE if stored or self._is_handed_over(made) else self._put_into(event.holder)
        what = f"what {line(history, made)} makes" if away else value_at(history, made, "this")
        culprit = stored or away or made
        yield Verdict(
            culprit,
            f"{what} is kept with its graph: what it was in {event.iterations} of the "
            f"traced iterations is still there, up to {event.age} iterations later",
            [("made", made), ("stored", culprit), *(("made", site) for site in event.sites)],
        )

    def _made_and_stored(self, sites: list[Site]) -> tuple[Site, Site]:
        """Several lines have made what is held: best the one that puts it away, too."""
        found = ((made, stored) for made in sites if (stored := self._stored(made)))
        return next(found, (sites[0], NOWHERE))

    def _stored(self, made: Site) -> Site:
        """The line that puts it away, where it is in the same function."""
        seen = self.history.sites.get(made)
        at = stored_at(seen.file, seen.line) if seen is not None else 0
        return self.history.site_at(seen.file, at, seen.function) if seen is not None and at else NOWHERE

    def _is_handed_over(self, made: Site) -> bool:
        """`metrics.note(critic(obs).mean())`: the line that makes it gives it away, too."""
        seen = self.history.sites.get(made)
        return seen is not None and isinstance(around(seen.file, seen.line)[1], ast.Expr)

    def _put_into(self, holder: str) -> Site:
        """The only line that puts anything into what holds it: in a hook, or in a method of a buffer."""
        files = {known.file for known in self.history.sites.values()} if holder else set()
        lines = [(file, at) for file in sorted(files) for at in put_into(file, holder)]
        if len(lines) != 1:
            return NOWHERE
        return self.history.site_at(*lines[0], function_at(*lines[0]))


rule = GrowingGraph
