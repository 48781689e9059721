"""GS205: a parameter receives gradient, and no optimizer owns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from gradsan.judge.copies.replaced import left_behind
from gradsan.judge.flow import is_linear_in, param_users
from gradsan.judge.history import History, Optimizer
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import optimizer_made_at, way
from gradsan.judge.lines.optimizer_names import named_for
from gradsan.judge.lines.plain_containers import plain_container_at, plain_tensor_at
from gradsan.judge.lines.source import collected_at
from gradsan.judge.report.wording import networks
from gradsan.record.events import NOWHERE, ParamId, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 3
UNDER_WAY = 2  # iterations


class UnoptimizedParameter(Rule):
    code = "GS205"
    name = "unoptimized-parameter"
    severity = "error"
    what = """
        A parameter takes part in a loss and receives gradient, but was given to no optimizer: a forgotten head,
        mixer or RNN, layers in a plain list instead of a `ModuleList`, a plain tensor instead of an `nn.Parameter`,
        a layer made after the optimizer.
    """
    why = """
        It keeps its random initial values for the whole run, and everything before it is trained
        through that random function. Training seems to work and stops short.
    """
    symptom = """
        The return rises at first, as the trained part adapts to the random one, and stays on a plateau
        below what the algorithm should reach; the height of the plateau depends on the seed.
    """
    fix = "give the optimizer all parameters that are to learn; keep layers in `nn.ModuleList`, not in a list"
    deliberate = """
        Target networks, networks loaded from a file and never trained here, and a critic that only serves as the
        actor's objective are not reported. Freeze what is not to learn with `requires_grad_(False)`: it is faster, too.
    """
    bad = (
        """
        import torch
        agent, mixer = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(agent.parameters(), lr=0.1)  # BUG
        for _ in range(7):
            loss = (mixer(torch.tanh(agent(torch.randn(8, 3)))) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.heads = [torch.nn.Linear(4, 1) for _ in range(2)]  # BUG
                self.trunk = torch.nn.Linear(3, 4)

            def forward(self, x):
                return sum(head(torch.tanh(self.trunk(x))) for head in self.heads)

        net = Net()
        params = list(net.parameters())
        opt = torch.optim.SGD(params, lr=0.1)
        for _ in range(7):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        trunk, actor = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
        opt = torch.optim.SGD([*trunk.parameters(), *actor.parameters()], lr=0.1)
        for update in range(12):
            if update == 5:  # a warm restart
                opt = torch.optim.SGD(trunk.parameters(), lr=0.01)  # BUG
            log_prob = actor(trunk(torch.randn(8, 3)).relu()).log_softmax(-1)[:, 0]
            loss = -(log_prob * torch.randn(8)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A head that is rescaled by hand as its statistics change (PopArt): that does not train it.
        import torch
        trunk, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(trunk.parameters(), lr=0.1)  # BUG
        scale = torch.tensor(1.0)
        for _ in range(6):
            s, target = torch.randn(8, 3), torch.randn(8, 1)
            with torch.no_grad():
                before = scale.clone()
                scale.lerp_(target.std(), 0.1)
                head.weight.mul_(before / scale)
            loss = (head(trunk(s)) - target / scale).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
        for update in range(20):
            if update == 10:
                head = torch.nn.Linear(8, 5)  # BUG
            q = head(body(torch.randn(16, 3)).relu())
            loss = (q.gather(1, torch.randint(q.shape[1], (16, 1))) - torch.randn(16, 1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        agent, mixer = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
        opt = torch.optim.SGD([*agent.parameters(), *mixer.parameters()], lr=0.1)
        for _ in range(7):
            loss = (mixer(torch.tanh(agent(torch.randn(8, 3)))) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        for _ in range(7):
            s = torch.randn(8, 3)
            loss = -critic(torch.cat([s, torch.tanh(actor(s))], -1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net, scale = torch.nn.Linear(3, 1), torch.ones(1, requires_grad=True)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(7):
            loss = (net(torch.randn(8, 3)) * scale - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            with torch.no_grad():
                scale -= 0.1 * scale.grad
                scale.grad = None
        """,
        """
        # Trained with one loss; the second phase trains a new head on top, and has a loss of its own.
        import torch
        trunk, first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
        opt = torch.optim.SGD([*trunk.parameters(), *first.parameters()], lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            (first(trunk(s).relu()) - s[:, :2]).pow(2).mean().backward()
            opt.step()
            opt.zero_grad()
        opt = torch.optim.SGD(second.parameters(), lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            (second(trunk(s).relu()) - s[:, :2]).pow(2).mean().backward()
            opt.step()
            opt.zero_grad()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._seen: dict[int, int] = {}
        self._trained: dict[Site, set[ParamId]] = {}  # by the line of the backward: what was stepped on it

    def on_settled(self, contribution: Contribution) -> Verdicts:
        history = self.history
        stepped = contribution.consumed_pids()
        before = self._trained.setdefault(contribution.site, set())
        homeless = {pid for pid in contribution.event.fed if self._is_homeless(pid, before - stepped)}
        before |= stepped
        if not homeless or not contribution.consumed:
            return
        for pid in homeless:
            self._seen[pid] = self._seen.get(pid, 0) + 1
        ready = {pid for pid in homeless if self._seen[pid] >= TIMES}
        if not ready or self._is_objective_only(contribution, ready):
            return
        if any(left_behind(history, o, ready) for o in history.optimizers.values()):
            return  # a replacement: GS206
        optimizer = self._meant(history.optimizers[contribution.consumed[0].oid], ready)
        created = next((s for pid in ready if (s := history.params[pid].created)), NOWHERE)
        # An optimizer that is older than the watch is known by the line that steps it.
        made = optimizer_made_at(history, optimizer)
        collected = (self._collected(made) if made == optimizer.site else made) or optimizer.last_step
        kept = next((s for pid in sorted(ready) if (s := self._plain_container(pid))), NOWHERE)
        bare = next((s for pid in sorted(ready) if (s := self._plain_tensor(pid))), NOWHERE)
        late = created if self._came_later(ready, optimizer) else NOWHERE
        hidden = (
            ": `parameters()` does not look into a plain container"
            if kept
            else ": a plain tensor is no parameter of its module; wrap it in `nn.Parameter`"
            if bare
            else ""
        )
        yield Verdict(
            kept or bare or late or collected,
            f"gradient reaches {networks(history, ready)}, but no optimizer was given these weights{hidden}",
            [("plain container", kept), ("plain tensor", bare),
             ("parameters collected" if optimizer.site else "step", collected), ("optimizer", optimizer.site),
             ("parameter made", created), ("backward", contribution.site)],
            ready,
            explains=ready,
            unless_explained=ready,
        )  # fmt: skip

    def _meant(self, stepped: Optimizer, ready: set[ParamId]) -> Optimizer:
        """The one that is named after them; or that owns others of the same form, the first of two critics, say; else
        the one that stepped: an actor's loss goes through critics that are none of its business."""
        params = self.history.params
        forms = Counter(params[pid].shape for pid in ready)
        others = [o for o in self.history.optimizers.values() if ready.isdisjoint(o.params)]
        alike = [o for o in others if forms <= Counter(params[pid].shape for pid in o.params)]
        named = named_for(self.history, others, ready)
        return named or (alike[0] if len(alike) == 1 else stepped)

    def _came_later(self, ready: set[ParamId], optimizer: Optimizer) -> bool:
        """Whether they were made when training was under way: what made them has to tell the optimizer."""
        params = self.history.params
        known = max((params[pid].seen_at for pid in optimizer.params), default=0)
        return min(params[pid].seen_at for pid in ready) > known + UNDER_WAY

    def _is_homeless(self, pid: ParamId, before: set[ParamId]) -> bool:
        """Nobody owns it; or who did is gone, and the loss that it was trained with goes on without it."""
        history = self.history
        left_out = pid in before and not history.can_be_stepped(pid)
        return (
            (left_out or not history.owner_of(pid))
            and pid not in history.networks.copies
            and pid not in history.networks.written_by_hand
            and pid not in history.networks.loaded
            and pid not in history.networks.handed_over
            and pid not in history.explained
        )

    def _is_objective_only(self, contribution: Contribution, pids: set[ParamId]) -> bool:
        """The loss is nothing but the output of these parameters, averaged: a critic as the actor's guide.
        Without a traced graph nobody can tell, and nothing is said."""
        graph = self.history.graph
        roots = [graph.get(r.nid) for r in contribution.event.roots]
        if not all(roots):
            return True
        live = graph.live_ancestors(r.nid for r in contribution.event.roots)
        users = {op.nid for op in param_users(graph, live, pids)}
        return all(root is not None and is_linear_in(graph, root, users) for root in roots)

    def _plain_container(self, pid: ParamId) -> Site:
        """The list that should have been a `ModuleList`, where its layers were made on that line, or for it."""
        history, param = self.history, self.history.params[pid]
        return self._in_the_source(way(history, param.created, param.created_by), plain_container_at)

    def _plain_tensor(self, pid: ParamId) -> Site:
        """The attribute of a module that should have been an `nn.Parameter`."""
        param = self.history.params[pid]
        return self._in_the_source([param.created], plain_tensor_at) if param.kind == "leaf" else NOWHERE

    def _in_the_source(self, sites: Iterable[Site], line_for: Callable[[str, int], int]) -> Site:
        for site in sites:
            seen = self.history.sites.get(site)
            if seen is not None and (line := line_for(seen.file, seen.line)):
                return self.history.site_at(seen.file, line, seen.function)
        return NOWHERE

    def _collected(self, site: Site) -> Site:
        seen = self.history.sites.get(site)
        if seen is None:
            return site
        line = collected_at(seen.file, seen.line)
        return site if line == seen.line else self.history.site_at(seen.file, line, seen.function)


rule = UnoptimizedParameter
