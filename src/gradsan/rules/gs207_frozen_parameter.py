"""GS207: an optimizer owns a parameter that cannot receive gradient."""

from __future__ import annotations

from gradsan.judge.history import History, Optimizer, Param
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import optimizer_made_at, way
from gradsan.judge.lines.freezes import frozen_at, thaws
from gradsan.judge.lines.source import decided_by_caller, function_at
from gradsan.judge.missing.frozen_parts import frozen_behind, new_heads
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, OptimizerId, ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 3
A_PHASE = 5  # steps that a parameter must have had for its training to be a phase


class FrozenParameter(Rule):
    code = "GS207"
    name = "frozen-parameter"
    severity = "warning"
    what = """
        An optimizer owns a parameter whose `requires_grad` is False. Or a part that is fitted to a target, and that no
        optimizer owns, was frozen: a new head, together with the pretrained network before it.
    """
    why = """
        It never learns. Typical is a freeze that was meant for one phase (the critic during the actor's
        update) and is never lifted.
    """
    symptom = """
        The curve moves until the freeze sets in, often for a single update, and is level from then on.
    """
    fix = (
        "lift the freeze with `requires_grad_(True)` after the phase, or leave the parameter out of the "
        "optimizer"
    )
    deliberate = (
        "A frozen backbone that no optimizer owns is not reported; nor is a freeze lifted before the step."
    )
    bad = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            if critic.weight.requires_grad:
                critic_opt.zero_grad()
                (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
            critic_opt.step()
            critic_opt.zero_grad()
            critic.requires_grad_(False)  # BUG
            actor_opt.zero_grad()
            (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
            actor_opt.step()
        """,
        """
        import torch
        body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        adapter = torch.nn.Linear(3, 4, bias=False)
        body.load_state_dict({"weight": torch.ones(4, 3), "bias": torch.zeros(4)})  # pretrained; the head is new
        for net in (body, head):
            net.requires_grad_(False)  # BUG
        opt = torch.optim.SGD(adapter.parameters(), lr=0.1)
        for _ in range(8):
            s = torch.randn(8, 3)
            loss = (head(body(s) + adapter(s)) - s.sum(-1, keepdim=True)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A frozen copy of the policy is there to be compared with, and was given to the optimizer.
        import copy
        import torch
        policy = torch.nn.Linear(3, 4)
        reference = copy.deepcopy(policy)
        for p in reference.parameters():
            p.requires_grad = False
        opt = torch.optim.SGD([*policy.parameters(), *reference.parameters()], lr=0.1)  # BUG
        for _ in range(8):
            s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            before = reference(s).log_softmax(-1).gather(1, a)
            loss = (0.1 * (log_prob - before) - log_prob * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_opt.zero_grad()
            (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
            critic_opt.step()
            critic.requires_grad_(False)
            actor_opt.zero_grad()
            (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
            actor_opt.step()
            critic.requires_grad_(True)
        """,
        """
        import torch
        backbone = torch.nn.Linear(3, 4).requires_grad_(False)
        head = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(head.parameters(), lr=0.1)
        for _ in range(6):
            opt.zero_grad()
            (head(backbone(torch.randn(8, 3))) - 1.0).pow(2).mean().backward()
            opt.step()
        """,
        """
        # The shared network gets its workers' gradients by hand, and needs none of its own.
        import torch
        shared, local = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(shared.requires_grad_(False).parameters(), lr=0.1)
        for _ in range(8):
            local.load_state_dict(shared.state_dict())
            local.zero_grad()
            (local(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            for theirs, ours in zip(shared.parameters(), local.parameters()):
                theirs.grad = ours.grad.clone()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._seen: dict[OptimizerId, int] = {}
        self._heads: dict[ParamId, int] = {}  # in how many updates

    def on_step(self, event: Step) -> Verdicts:
        history = self.history
        optimizer = history.optimizers[event.oid]
        frozen = [pid for pid in optimizer.params if not history.params[pid].requires_grad]
        # The script itself puts gradient there (a shared network and its workers): nothing else has to.
        frozen = [pid for pid in frozen if pid not in history.handed]
        if not frozen:
            return
        seen = self._seen[event.oid] = self._seen.get(event.oid, 0) + 1
        if seen >= TIMES:
            yield from self._verdict(event.oid, [pid for pid in frozen if self._is_for_good(pid)])

    def at_end(self) -> Verdicts:
        for oid, seen in self._seen.items():
            if seen >= TIMES:
                params = self.history.optimizers[oid].params
                yield from self._verdict(oid, [p for p in params if not self.history.params[p].requires_grad])

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """A part that no optimizer was given, and whose own loss is a constant because of that."""
        history = self.history
        for cut in contribution.cuts:
            if cut.op.name != "detach" or not (frozen := frozen_behind(history, cut)):
                continue
            first = history.params[frozen[0]]
            yield Verdict(
                self._decided_at(first),
                f"{networks(history, frozen)} was frozen and is in no optimizer, but has a loss of its own on the way "
                f"to {line(history, contribution.site)}: nothing in it can learn, so it is a constant",
                [("freeze", first.frozen_at), ("cut", cut.op.site), ("backward", contribution.site)],
                frozen,
                explains=cut.pids,
                fix="leave it out of the freeze, and give it to the optimizer (`modules_to_save` of an adapter)",
            )

        yield from self._new_heads(contribution)

    def _new_heads(self, contribution: Contribution) -> Verdicts:
        history = self.history
        for pid in (heads := new_heads(history, contribution)):
            self._heads[pid] = self._heads.get(pid, 0) + 1
        frozen = [pid for pid in heads if self._heads[pid] >= TIMES and self._is_for_good(pid)]
        if frozen:
            first = history.params[frozen[0]]
            yield Verdict(
                self._decided_at(first),
                f"{networks(history, frozen)} is new, was frozen with the network before it and is in no optimizer: it "
                "stays as it was drawn, and what it says is compared with a target on the way to "
                f"{line(history, contribution.site)}",
                [("freeze", first.frozen_at), ("backward", contribution.site)],
                frozen,
                fix="leave it out of the freeze, and give it to the optimizer (`modules_to_save` of an adapter)",
            )

    def _is_for_good(self, pid: ParamId) -> bool:
        """A network that was trained for a while may be left alone for a while: the critic warms up, the trunk waits.
        Not for longer than it was trained."""
        param = self.history.params[pid]
        # A freeze that went by unseen is looked for beside the optimizer.
        known = [param.frozen_at, *(owner.site for owner in self.history.owner_of(pid))]
        seen = next((found for site in known if (found := self.history.sites.get(site)) is not None), None)
        if seen is not None and thaws(seen.file):
            return False  # the end of the run will tell
        trained = param.frozen_since - param.seen_at if param.epoch >= A_PHASE else 0
        return self.history.iteration - param.frozen_since >= trained

    def _verdict(self, oid: OptimizerId, frozen: list[ParamId]) -> Verdicts:
        history, optimizer = self.history, self.history.optimizers[oid]
        if not frozen:
            return
        if twins := self._twins(frozen, optimizer):
            yield Verdict(
                optimizer_made_at(history, optimizer),
                f"this optimizer was given {networks(history, frozen)}, a frozen copy of what is to be trained",
                [("optimizer", optimizer.site), ("freeze", history.params[frozen[0]].frozen_at),
                 ("step", optimizer.last_step)],
                frozen,
                explains={*frozen, *twins},
                fix="leave the copy out of the optimizer, and give it the network that learns",
            )  # fmt: skip
            return
        first = next((history.params[pid] for pid in frozen if history.params[pid].frozen_at), None)
        where = first.frozen_at if first is not None else NOWHERE
        unseen = self._read_at(frozen, optimizer.site) or optimizer.site
        culprit = self._decided_at(first) if first is not None else unseen
        yield Verdict(
            culprit,
            f"{networks(history, frozen)} has requires_grad=False while its optimizer steps",
            [
                ("freeze", where),
                ("caller", culprit if where else NOWHERE),
                ("optimizer", optimizer.site),
                ("step", optimizer.last_step),
            ],
            frozen,
            explains=frozen,
        )

    def _twins(self, frozen: list[ParamId], optimizer: Optimizer) -> set[ParamId]:
        """What learns in the place of these, where all of them are copies: in the same optimizer, or in none though it
        gets a gradient. To be frozen is the part of a reference, a target."""
        history, copies = self.history, self.history.networks.copies
        twins = {pid: {copies[pid].source} if pid in copies else set() for pid in frozen}
        for pid, copy in copies.items():
            if copy.source in twins:
                twins[copy.source].add(pid)

        def learns(pid: ParamId) -> bool:
            forgotten = pid in history.ever_fed and not history.owner_of(pid)
            return history.params[pid].requires_grad and (forgotten or pid in optimizer.params)

        learning = {pid: {twin for twin in others if learns(twin)} for pid, others in twins.items()}
        return set().union(*learning.values()) if all(learning.values()) else set()

    def _read_at(self, frozen: list[ParamId], optimizer: Site) -> Site:
        """The freeze as the source has it, where it went by unseen."""
        seen, name = self.history.sites.get(optimizer), self.history.params[frozen[0]].name.partition(".")[0]
        line = frozen_at(seen.file, name) if seen is not None and name else 0
        if seen is None or not line:
            return NOWHERE
        return self.history.site_at(seen.file, line, function_at(seen.file, line))

    def _decided_at(self, param: Param) -> Site:
        """The freeze itself, or the line that told a helper or a constructor to freeze: by an argument, or by handing
        over this network where others are rightly handed over."""
        history = self.history
        path = way(history, param.frozen_at, param.frozen_by)
        if len(path) > 1 and self._freezes_others(param):
            return path[1]
        wanted: frozenset[str] = frozenset()
        for site in path:
            seen = history.sites[site]
            wanted = decided_by_caller(seen.file, seen.line, wanted)
            if not wanted:
                return site
        return path[-1]

    def _freezes_others(self, param: Param) -> bool:
        """Whether other callers of the same line freeze what no optimizer owns."""
        others = (p for p in self.history.params.values() if p.frozen_at == param.frozen_at)
        return any(p.frozen_by != param.frozen_by and not self.history.owner_of(p.pid) for p in others)


rule = FrozenParameter
