"""Everything known of the run so far, put together from events: what rules read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradsan.judge.ledger import Ledger
from gradsan.judge.networks import Networks
from gradsan.judge.provenance import Provenance, note
from gradsan.record.events import (
    NOWHERE,
    Attention,
    Backward,
    Blind,
    Event,
    Fault,
    Ops,
    OptimizerSeen,
    ParamFlag,
    ParamNamed,
    ParamReborn,
    ParamSeen,
    Repeated,
    Resumed,
    Sample,
    Site,
    SiteSeen,
    Step,
    StepDone,
    Sync,
    Turn,
    ZeroGrad,
)
from gradsan.record.iterations import Iterations


@dataclass(slots=True)
class Param:
    pid: int
    kind: str
    shape: tuple[int, ...]
    requires_grad: bool
    created: Site
    name: str = ""
    aliases: tuple[str, ...] = ()
    frozen_at: Site = NOWHERE
    epoch: int = 0  # how many steps have changed it
    last_step: Site = NOWHERE
    stepped_after: int = 0  # the newest value when it was last stepped
    seen_at: int = 0  # iteration


@dataclass(slots=True)
class Optimizer:
    oid: int
    kind: str
    site: Site
    params: list[int]
    sites: list[Site] = field(default_factory=list)
    steps: int = 0
    stepping: bool = False
    last_step: Site = NOWHERE


class History:
    def __init__(self) -> None:
        self.sites: dict[Site, SiteSeen] = {}
        self.params: dict[int, Param] = {}
        self.optimizers: dict[int, Optimizer] = {}
        self.ledger = Ledger()
        self.graph = Provenance()
        self.networks = Networks(self)
        self.param_nodes: dict[int, tuple[int, int]] = {}  # nid -> (pid, epoch when it was read)
        self._iterations = Iterations()
        self.deep_iterations = 0
        self.deep = False
        self.attention: list[tuple[int, str]] = []
        self.blind: dict[str, Blind] = {}
        self.faults: list[Fault] = []
        # Parameters whose lack of gradient a more telling rule has explained already.
        self.explained: set[int] = set()
        # Those that take part in a loss as constants, and the line that makes them one. That may be right: an
        # advantage, a target.
        self.constant_at: dict[int, Site] = {}
        self.ever_fed: set[int] = set()
        self.samples: list[Sample] = []
        self.handed: set[int] = set()  # stepped with gradient that the script itself put there
        self.ever_reached: set[int] = set()  # by `autograd.grad` too, whose results the script applies
        self.steps_before_backward: set[int] = set()

    @property
    def iteration(self) -> int:
        return self._iterations.count

    def owner_of(self, pid: int) -> list[Optimizer]:
        return [o for o in self.optimizers.values() if pid in o.params]

    def site_at(self, file: str, line: int, function: str) -> Site:
        """A site for a line that was found by reading the source, not by running it."""
        for known in self.sites.values():
            if known.file == file and known.line == line:
                return known.site
        # Observed sites are counted upwards from one; these go the other way.
        site = min(min(self.sites, default=0), 0) - 1
        self.sites[site] = SiteSeen(site, file, line, function)
        return site

    def apply(self, event: Event) -> None:
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    # -- one method per event -----------------------------------------------------------------------

    def _site(self, event: SiteSeen) -> None:
        self.sites[event.site] = event

    def _param(self, event: ParamSeen) -> None:
        self.params[event.pid] = Param(
            event.pid, event.kind, event.shape, event.requires_grad, event.created, event.name
        )
        self.params[event.pid].seen_at = self.iteration

    def _reborn(self, event: ParamReborn) -> None:
        self.ledger.parts.pop(event.pid, None)

    def _named(self, event: ParamNamed) -> None:
        self.params[event.pid].name = event.name
        self.params[event.pid].aliases = event.aliases

    def _flag(self, event: ParamFlag) -> None:
        param = self.params[event.pid]
        param.requires_grad = event.requires_grad
        if event.site or event.requires_grad:
            param.frozen_at = NOWHERE if event.requires_grad else event.site

    def _optimizer(self, event: OptimizerSeen) -> None:
        known = self.optimizers.get(event.oid)
        if known is None:
            self.optimizers[event.oid] = Optimizer(
                event.oid, event.kind, event.site, list(event.params), [event.site]
            )
        else:
            known.params.extend(event.params)
            known.sites.append(event.site)

    def _backward(self, event: Backward) -> None:
        self.ledger.fed(event, self.iteration)
        self.ever_fed.update(event.fed)
        self.ever_reached.update(event.fed if event.call == "backward" else event.reached)

    def _zero(self, event: ZeroGrad) -> None:
        self.ledger.cleared(event.params, event.site)

    def _stepped(self, event: StepDone) -> None:
        optimizer = self.optimizers[event.oid]
        optimizer.stepping = False
        if self._iterations.step(event.oid):
            self._end_iteration()

    def _turn(self, event: Turn) -> None:
        self._iterations.turn()
        self._end_iteration()

    def _end_iteration(self) -> None:
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
        self.ledger.consumed(event.oid, event.site, event.held + event.lent)
        optimizer.steps += 1
        optimizer.stepping = True
        optimizer.last_step = event.site
        for pid in event.held:
            self.params[pid].epoch += 1
            self.params[pid].last_step = event.site
            self.params[pid].stepped_after = self.graph.newest

    def _step(self, event: Step) -> None:
        self.handed.update(event.by_hand)
        unknown = [pid for pid in event.by_hand if not self.ledger.parts.get(pid)]
        if unknown:
            self.ledger.by_hand(unknown, self.iteration, NOWHERE)

    def _ops(self, event: Ops) -> None:
        for op in event.ops:
            self.graph.add(op, self.iteration)
            if op.name == "param":
                pid = note(op, "pid")
                self.param_nodes[op.nid] = (pid, self.params[pid].epoch)
            elif op.name == "written":
                self.networks.written(op)
            elif op.name == "set_grad":
                self.networks.gradient_set(op)

    def _sync(self, event: Sync) -> None:
        self.networks.synced(event)

    def _sampled(self, event: Sample) -> None:
        self.samples.append(event)
        if len(self.samples) > 2_000:  # keep the shape of the curves, not every point of them
            self.samples = self.samples[::2]

    def _repeated(self, event: Repeated) -> None:
        self._iterations.skip(event.times)
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

    def _blind(self, event: Blind) -> None:
        self.blind.setdefault(event.reason, event)

    def _fault(self, event: Fault) -> None:
        self.faults.append(event)


_HANDLERS: dict[type, Callable[[History, Any], None]] = {
    SiteSeen: History._site,
    ParamSeen: History._param,
    ParamReborn: History._reborn,
    ParamNamed: History._named,
    ParamFlag: History._flag,
    OptimizerSeen: History._optimizer,
    Backward: History._backward,
    ZeroGrad: History._zero,
    Step: History._step,
    StepDone: History._stepped,
    Turn: History._turn,
    Ops: History._ops,
    Sync: History._sync,
    Repeated: History._repeated,
    Sample: History._sampled,
    Resumed: History._resumed,
    Attention: History._attention,
    Blind: History._blind,
    Fault: History._fault,
}
