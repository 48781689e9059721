"""GS302: a target network is in an optimizer, or receives gradient for nothing."""

from __future__ import annotations

from gradsan.judge.effect import of_all
from gradsan.judge.flow import param_users
from gradsan.judge.history import History, Optimizer
from gradsan.judge.leaks.agreement import agreement
from gradsan.judge.leaks.live_references import LiveReference, live_reference
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import optimizer_made_at, used_in
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 3
AGREED = 3  # backwards in which two networks were only compared with each other


class TargetNetworkTrained(Rule):
    code = "GS302"
    name = "target-network-trained"
    severity = "error"
    what = """
        An optimizer owns a target network, one that is overwritten from another network. Or it owns a reference, a copy
        of the policy that the policy is measured against. Or the random network that a predictor is to imitate (a
        novelty bonus) learns together with the predictor. Where no optimizer owns such a network but gradient reaches
        it all the same, the finding is only informative: that work is wasted.
    """
    why = """
        A target network is there to stand still between syncs. If the optimizer moves it, the target chases
        the prediction, and value estimates diverge.
    """
    symptom = """
        Where gradient reaches it, target and prediction meet half way: the TD loss is small from the
        beginning and the return does not rise. Where only momentum or weight decay moves it, little
        shows. In the informative case there is nothing to see but a slower update.
    """
    fix = "build the optimizer from the online network only, and compute targets under `torch.no_grad()`"
    deliberate = """
        A network that was merely started as a copy of another and then learns on its own (self-play,
        ensembles) is no target. Where it is taken for one, allow it on the line of its optimizer.
    """
    bad = (
        """
        import torch
        q, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD([*q.parameters(), *target.parameters()], lr=0.1)  # BUG
        for _ in range(6):
            s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            target.load_state_dict(q.state_dict())
        """,
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
            y = r + 0.9 * target(s2).max(1).values  # BUG
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            with torch.no_grad():
                for p, t in zip(q.parameters(), target.parameters()):
                    t.lerp_(p, 0.01)
        """,
        """
        # A reference is a copy that nobody froze, and goes to the optimizer with the policy.
        import copy
        import torch
        from torch.nn.functional import logsigmoid
        agent = torch.nn.ModuleDict({"policy": torch.nn.Linear(3, 4)})
        agent["reference"] = copy.deepcopy(agent["policy"])
        opt = torch.optim.SGD(agent.parameters(), lr=0.1)  # BUG
        def score(model, s, a):
            return torch.distributions.Categorical(logits=model(s)).log_prob(a)
        for _ in range(6):
            s, better, worse = torch.randn(8, 3), torch.randint(4, (8,)), torch.randint(4, (8,))
            gained = score(agent["policy"], s, better) - score(agent["policy"], s, worse)
            before = score(agent["reference"], s, better) - score(agent["reference"], s, worse)
            loss = -logsigmoid(0.5 * (gained - before)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        q, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            target.load_state_dict(q.state_dict())
        """,
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            mixed = {k: 0.99 * v + 0.01 * q.state_dict()[k] for k, v in target.state_dict().items()}
            target.load_state_dict(mixed)
        """,
        """
        # Two players that began alike, are kept near each other, and have losses of their own.
        import copy
        import torch
        one = torch.nn.Linear(3, 4)
        other = copy.deepcopy(one)
        opt = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
        for _ in range(6):
            s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
            mine, theirs = one(s).log_softmax(-1), other(s).log_softmax(-1)
            near = (mine.exp() * (mine - theirs)).sum(-1).mean()
            loss = (theirs.gather(1, a) * gain - mine.gather(1, a) * gain).mean() + 0.1 * near
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._wasted: dict[int, int] = {}
        self._used_at: dict[ParamId, Site] = {}
        self._taught_at: dict[ParamId, set[Site]] = {}
        self._agreements = 0

    def on_step(self, event: Step) -> Verdicts:
        yield from self._owned(self.history.optimizers[event.oid], event.site)

    def at_end(self) -> Verdicts:
        """A sync that came late says so of an optimizer whose steps were only counted since."""
        for optimizer in self.history.optimizers.values():
            if optimizer.steps:
                yield from self._owned(optimizer, optimizer.last_step)

    def _owned(self, optimizer: Optimizer, step: Site) -> Verdicts:
        history = self.history
        targets = [pid for pid in optimizer.params if history.networks.is_target(pid)]
        if not targets:
            return
        sync = history.networks.copies[targets[0]]
        yield Verdict(
            optimizer_made_at(self.history, optimizer),
            f"this optimizer owns {networks(history, targets)}, which is a target network: "
            f"{line(history, sync.site)} overwrites it from {networks(history, [sync.source])}",
            [("optimizer", optimizer.site), ("sync", sync.site), ("step", step)],
            targets,
            explains=targets,
            measure=lambda: of_all(history, history.ledger.fresh(targets[0]), set(targets)),
        )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        found = live_reference(self.history, contribution)
        if found is not None:
            yield self._moved(found, contribution)
        yield from self._agreed(contribution)
        yield from self._wasted_on(contribution)

    def _moved(self, found: LiveReference, contribution: Contribution) -> Verdict:
        history, pids, score = self.history, found.pids, found.score
        source = {copy.source for pid in pids if (copy := history.networks.copies.get(pid))}
        return Verdict(
            optimizer_made_at(history, history.owner_of(min(pids))[0]),
            f"this optimizer trains {networks(history, pids)}, a copy of {networks(history, source)} that is there to "
            f"measure it on {line(history, found.difference.site)}: the two are moved towards each other",
            [("optimizer", history.owner_of(min(pids))[0].site), ("use", used_in(history, score, found.difference)),
             ("divergence", found.difference.site), ("backward", contribution.site)],
            pids,
            explains=pids,
            fix="leave the reference out of the optimizer, and score it under `torch.no_grad()`",
        )  # fmt: skip

    def _agreed(self, contribution: Contribution) -> Verdicts:
        """Said once the same difference has come back, and has stayed all that either network learns from."""
        history = self.history
        for pid in contribution.event.fed:
            self._taught_at.setdefault(pid, set()).add(contribution.site)
        found = agreement(history, contribution)
        if found is None:
            return
        pids = found.given | found.learning
        self._agreements += 1
        if self._agreements < AGREED or any(len(self._taught_at[pid]) > 1 for pid in pids):
            return
        owner = history.owner_of(min(found.given))[0]
        yield Verdict(
            optimizer_made_at(history, owner),
            f"{networks(history, found.given)} and {networks(history, found.learning)} are both trained, and learn "
            f"only to agree on {line(history, found.difference.site)}: no data says what is right, so both end with "
            "what is easiest to say",
            [
                ("optimizer", owner.site),
                ("difference", found.difference.site),
                ("backward", contribution.site),
            ],
            pids,
            explains=pids,
            fix="leave the one that is the target out of the optimizer, and call it under `torch.no_grad()`",
        )

    def _wasted_on(self, contribution: Contribution) -> Verdicts:
        history, event = self.history, contribution.event
        wasted = {p for p in event.fed if history.networks.is_target(p) and not self._is_used(p)}
        wasted -= history.networks.handed_over | history.explained
        if not wasted:
            return
        # Its value in a target may stand before that: no gradient comes from there.
        used = param_users(history.graph, history.graph.live_ancestors(r.nid for r in event.roots), wasted)
        first = min((op for op in used if op.site and op.live), key=lambda op: op.nid, default=None)
        loss = history.graph.get(event.roots[0].nid) if event.roots else None
        if first is not None:
            where = first.site if loss is None else used_in(history, first, loss)
            self._used_at.update(dict.fromkeys(wasted, where))
        site = self._used_at.get(min(wasted), event.site)  # in passing, the line that was seen before
        seen = self._wasted[site] = self._wasted.get(site, 0) + 1
        if seen >= TIMES:
            yield Verdict(
                site,
                f"gradient is computed for the target network {networks(history, wasted)}, and nothing uses it",
                [("use", site), ("backward", event.site)],
                wasted,
                severity="info",
                fix="set `requires_grad_(False)` on the target network: the same result for less work",
            )

    def _is_used(self, pid: ParamId) -> bool:
        """An optimizer owns it, or the script hands gradient over to what it is a copy of."""
        history = self.history
        return bool(history.owner_of(pid)) or history.networks.source_of(pid) in history.handed


rule = TargetNetworkTrained
