"""Everything known of the run so far, put together from events: what rules read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gradsan.judge.experience import ExperienceBook
from gradsan.judge.ledger import Contribution, Ledger
from gradsan.judge.lines.source import uncalled_at
from gradsan.judge.missing.cuts import CutFinder
from gradsan.judge.networks import Networks
from gradsan.judge.order.by_hand import HandMade
from gradsan.judge.provenance import Provenance
from gradsan.judge.ranks import RankBook
from gradsan.record.events import (
    DIRECT,
    NOWHERE,
    Attention,
    Backward,
    Blind,
    BlindSpot,
    Chain,
    ChainSeen,
    Collective,
    DeadCheckpoint,
    Environment,
    Event,
    Experience,
    Failed,
    Fault,
    Group,
    IterationEnd,
    Op,
    Ops,
    OptimizerGone,
    OptimizerId,
    OptimizerSeen,
    ParamFlag,
    ParamId,
    ParamNamed,
    ParamReborn,
    ParamSeen,
    RankStep,
    Reason,
    Repeated,
    Resumed,
    Site,
    SiteSeen,
    Step,
    StepDone,
    Sync,
    Unreduced,
    ValueId,
    Wrapped,
    ZeroGrad,
)

SETTLE_AFTER = 2  # iterations: by then every optimizer of a loop has had its turn


@dataclass(slots=True)
class Param:
    pid: ParamId
    kind: str
    shape: tuple[int, ...]
    requires_grad: bool
    created: Site
    name: str = ""
    aliases: tuple[str, ...] = ()
    frozen_at: Site = NOWHERE
    frozen_by: Chain = DIRECT
    frozen_since: int = 0  # iteration
    thawed: bool = False
    created_by: Chain = DIRECT
    epoch: int = 0  # how many steps have changed it
    last_step: Site = NOWHERE
    last_step_by: Chain = DIRECT
    stepped_after: int = 0  # the newest value when it was last stepped
    seen_at: int = 0  # iteration


@dataclass(slots=True)
class Optimizer:
    oid: OptimizerId
    kind: str
    site: Site
    params: list[ParamId]
    sites: list[Site] = field(default_factory=list)
    made_by: Chain = DIRECT
    steps: int = 0
    stepping: bool = False
    began_empty: bool = False  # its first step came before any gradient for it
    after: int = 0  # how many parameters were known when it was made
    had_gradient: bool = False  # some step of it found one
    last_step: Site = NOWHERE
    gone: bool = False  # nothing holds it any more
    maximize: bool = False


class History:
    def __init__(self) -> None:
        self.sites: dict[Site, SiteSeen] = {}
        self.chains: dict[Chain, tuple[Site, ...]] = {}
        self.params: dict[ParamId, Param] = {}
        self.optimizers: dict[OptimizerId, Optimizer] = {}
        self._owners: dict[ParamId, list[Optimizer]] = {}
        self.ledger = Ledger()
        self.graph = Provenance()
        self.experience = ExperienceBook(self.graph)
        self.networks = Networks(self)
        self.hand = HandMade(self)
        self.param_nodes: dict[ValueId, tuple[ParamId, int]] = {}  # nid -> (pid, epoch when it was read)
        self.iteration = 0  # how many are over
        self.deep_iterations = 0
        self.deep = False
        self.attention: list[tuple[int, Reason]] = []
        self.blind: dict[BlindSpot, Blind] = {}
        self.faults: list[Fault] = []
        self.errors: list[Failed] = []  # errors of autograd that ended the script, or were asked about
        self.ranks = RankBook()
        self.dead_checkpoints: dict[Site, tuple[ParamId, ...]] = {}
        self.cuts = CutFinder(self)
        # Parameters whose lack of gradient has been reported. The engine alone adds to it.
        self.explained: set[ParamId] = set()
        self.ever_fed: set[ParamId] = set()
        self.handed: set[ParamId] = set()  # stepped with gradient that the script itself put there
        self.ever_reached: set[ParamId] = set()  # by `autograd.grad` too, whose results the script applies

    def owner_of(self, pid: ParamId) -> list[Optimizer]:
        return self._owners.get(pid, [])

    def can_be_stepped(self, pid: ParamId) -> bool:
        """Whether an optimizer that is still there owns it."""
        return any(not optimizer.gone for optimizer in self.owner_of(pid))

    def site_at(self, file: str, line: int, function: str) -> Site:
        """A site for a line that was found by reading the source, not by running it."""
        for known in self.sites.values():
            if known.file == file and known.line == line:
                return known.site
        # Observed sites are counted upwards from one; these go the other way.
        site = Site(min(min(self.sites, default=0), 0) - 1)
        self.sites[site] = SiteSeen(site, file, line, function)
        return site

    def uncalled(self, method: str, step: Site) -> Site:
        """Where a method is named and not called, in the function that steps here."""
        seen = self.sites.get(step)
        at = uncalled_at(seen.file, seen.line, method) if seen is not None else 0
        return self.site_at(seen.file, at, seen.function) if seen is not None and at else NOWHERE

    def settle(self, everything: bool = False) -> Iterator[Contribution]:
        """The backwards of which it is known by now who consumed what they put into the gradients, once each."""
        due = self.iteration - SETTLE_AFTER
        for contribution in list(self.ledger.recent.values()):
            if not contribution.settled and (everything or contribution.iteration <= due):
                contribution.settled = True
                yield contribution

    def leave_unsettled(self) -> None:
        """The steps that would have consumed the newest gradients were counted, not recorded. Iterations
        like theirs have been judged to the end; about these nobody can tell any more."""
        for contribution in self.ledger.recent.values():
            contribution.settled = True

    def apply(self, event: Event) -> None:
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    # -- one method per event -----------------------------------------------------------------------

    def _site(self, event: SiteSeen) -> None:
        self.sites[event.site] = event

    def _chain(self, event: ChainSeen) -> None:
        self.chains[event.chain] = event.sites

    def _param(self, event: ParamSeen) -> None:
        self.params[event.pid] = Param(
            event.pid, event.kind, event.shape, event.requires_grad, event.created, event.name
        )
        self.params[event.pid].seen_at = self.iteration
        self.params[event.pid].created_by = event.chain

    def _reborn(self, event: ParamReborn) -> None:
        self.ledger.parts.pop(event.pid, None)

    def _named(self, event: ParamNamed) -> None:
        self.params[event.pid].name = event.name
        self.params[event.pid].aliases = event.aliases

    def _flag(self, event: ParamFlag) -> None:
        param = self.params[event.pid]
        if param.requires_grad and not event.requires_grad:
            param.frozen_since = self.iteration
        param.thawed = param.thawed or (event.requires_grad and not param.requires_grad)
        param.requires_grad = event.requires_grad
        if event.site or event.requires_grad:
            param.frozen_at = NOWHERE if event.requires_grad else event.site
            param.frozen_by = event.chain

    def _optimizer(self, event: OptimizerSeen) -> None:
        known = self.optimizers.get(event.oid)
        if known is None:
            site = event.site or self._copied_at(event.params)
            self.optimizers[event.oid] = Optimizer(
                event.oid, event.kind, site, list(event.params), [site], event.chain,
                maximize=event.maximize, after=len(self.params),
            )  # fmt: skip
        else:
            known.params.extend(event.params)
            known.sites.append(event.site)
        optimizer = self.optimizers[event.oid]
        for pid in event.params:
            owners = self._owners.setdefault(pid, [])
            if optimizer not in owners:
                owners.append(optimizer)

    def _copied_at(self, pids: tuple[ParamId, ...]) -> Site:
        """An optimizer that nobody saw being made is a copy, if one line has copied all that it owns."""
        sites = {copy.site if (copy := self.networks.copies.get(pid)) else NOWHERE for pid in pids}
        return sites.pop() if len(sites) == 1 else NOWHERE

    def _gone(self, event: OptimizerGone) -> None:
        self.optimizers[event.oid].gone = True

    def _backward(self, event: Backward) -> None:
        if event.within:
            self.graph.lead_on([root.nid for root in event.roots], set(event.within))
        self.ledger.fed(event, self.iteration)
        self.hand.fed(event.fed)
        self.ever_fed.update(event.fed)
        self.ever_reached.update(event.fed if event.call == "backward" else event.reached)

    def _zero(self, event: ZeroGrad) -> None:
        # A gradient that was seen being set, and is another one now, was not cleared: it is what it was set to.
        cleared = [p for p in event.params if event.by != "hand" or not self.hand.was_set(p)]
        self.ledger.cleared(cleared, event.site)

    def _stepped(self, event: StepDone) -> None:
        self.optimizers[event.oid].stepping = False

    def _end_iteration(self, event: IterationEnd) -> None:
        self.iteration += 1
        self.deep_iterations += self.deep
        self.ledger.forget_before(self.iteration - 8)
        if self.graph.is_full():
            self._forget_old_values()

    def _forget_old_values(self) -> None:
        self.graph.forget_before(self.iteration - 8)
        kept = self.graph.ops
        self.param_nodes = {nid: read for nid, read in self.param_nodes.items() if nid in kept}

    def consume(self, event: Step) -> None:
        """A step takes its gradient only after the rules have looked at what it is about to take."""
        optimizer = self.optimizers[event.oid]
        optimizer.had_gradient |= any(self.ledger.parts.get(pid) for pid in event.held)
        self.ledger.consumed(event.oid, event.site, event.held + event.lent)
        self.hand.spent(event.held)
        optimizer.steps += 1
        optimizer.stepping = True
        optimizer.last_step = event.site
        for pid in event.held:
            self.params[pid].epoch += 1
            self.params[pid].last_step = event.site
            self.params[pid].last_step_by = event.chain
            self.params[pid].stepped_after = self.graph.newest

    def _step(self, event: Step) -> None:
        self.handed.update(event.by_hand)
        self.hand.replaced(event)
        unknown = [pid for pid in event.by_hand if not self.ledger.parts.get(pid)]
        if unknown:
            self.ledger.by_hand(unknown, self.iteration, NOWHERE)
        optimizer = self.optimizers[event.oid]
        if not optimizer.steps and self.ever_fed.isdisjoint(optimizer.params):
            optimizer.began_empty = not any(self.ledger.parts.get(pid) for pid in event.held)

    def _ops(self, event: Ops) -> None:
        self.hand.updates.clear()
        self.hand.doubled.clear()
        self.hand.added.clear()
        self.hand.erased.clear()
        self.hand.early.clear()
        self.graph.begin()
        add = self.graph.add
        for op in event.ops:
            add(op, self.iteration)
            if op.kind == "operation":
                if op.name == "requires_grad_" and op.facts.pid:
                    self.networks.revived(op)
                    self.graph.begin()
            elif op.kind == "parameter":
                pid = op.facts.pid
                self.param_nodes[op.nid] = (pid, self.params[pid].epoch)
            elif op.kind == "gradient read":
                self.hand.read(op)
            elif op.kind == "no gradient":
                self.hand.missed(op.facts.pid)
            elif op.kind == "written" or op.kind == "gradient set":
                self._told(op)

    def _told(self, op: Op) -> None:
        """A remark about a parameter; what is asked about the graph on the way holds until it grows."""
        if op.kind == "written":
            self.networks.written(op)
            self.hand.written(op)
        else:
            self.networks.gradient_set(op)
            self.hand.gradient_set(op)
        self.graph.begin()

    def _sync(self, event: Sync) -> None:
        self.networks.synced(event)

    def _repeated(self, event: Repeated) -> None:
        self.hand.lost_track()
        self.ledger.lost_sight()
        self.iteration += event.times
        self.deep_iterations += event.times * self.deep
        for optimizer in self.optimizers.values():
            if optimizer.steps:
                optimizer.steps += event.times

    def _resumed(self, event: Resumed) -> None:
        self.ledger.parts.clear()

    def _attention(self, event: Attention) -> None:
        self.deep = event.deep
        if event.deep:
            self.attention.append((self.iteration, event.reason))
            self._forget_old_values()  # else every look would leave something behind

    def _environment(self, event: Environment) -> None:
        self.experience.seen(event)

    def _experience(self, event: Experience) -> None:
        self.experience.add(event)

    def _blind(self, event: Blind) -> None:
        self.blind.setdefault(event.spot, event)

    def _dead_checkpoint(self, event: DeadCheckpoint) -> None:
        self.dead_checkpoints[event.site] = event.params

    def _failed(self, event: Failed) -> None:
        if event.explain:
            self.errors.append(event)

    def _fault(self, event: Fault) -> None:
        self.faults.append(event)

    def _among_ranks(self, event: Group | Wrapped | Unreduced | Collective | RankStep) -> None:
        self.ranks.add(event)


_HANDLERS: dict[type, Callable[[History, Any], None]] = {
    SiteSeen: History._site,
    ChainSeen: History._chain,
    ParamSeen: History._param,
    ParamReborn: History._reborn,
    ParamNamed: History._named,
    ParamFlag: History._flag,
    OptimizerSeen: History._optimizer,
    OptimizerGone: History._gone,
    Backward: History._backward,
    ZeroGrad: History._zero,
    Step: History._step,
    StepDone: History._stepped,
    IterationEnd: History._end_iteration,
    Ops: History._ops,
    Sync: History._sync,
    Repeated: History._repeated,
    Resumed: History._resumed,
    Attention: History._attention,
    Environment: History._environment,
    Experience: History._experience,
    Blind: History._blind,
    DeadCheckpoint: History._dead_checkpoint,
    Failed: History._failed,
    Fault: History._fault,
    **dict.fromkeys((Group, Wrapped, Unreduced, Collective, RankStep), History._among_ranks),
}
