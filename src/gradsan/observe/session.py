"""One observation session: installs the taps in order and takes them out in reverse."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import ParamSpec

from gradsan.observe import last_resort, warning_places
from gradsan.observe.containment import Containment
from gradsan.observe.focus.attention import AttentionPolicy
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.backward import BackwardTap
from gradsan.observe.graphs.backward_diagnosis import BackwardDiagnosis
from gradsan.observe.graphs.checkpoints import CheckpointTap
from gradsan.observe.graphs.error_origins import ErrorOrigins, frames_of
from gradsan.observe.graphs.gradient_sketch import GradientSketch
from gradsan.observe.last_resort import attempt
from gradsan.observe.names import Namer
from gradsan.observe.ops.compiled import Compiled
from gradsan.observe.ops.inspect_op import held_by
from gradsan.observe.ops.interop import InteropTap
from gradsan.observe.ops.operations import OperationTap
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.outlet import BlindSpots, Outlet, Recording
from gradsan.observe.patches import Patches, Tap
from gradsan.observe.registry import Known, Leaves, Optimizers
from gradsan.observe.sites import Sites
from gradsan.observe.training.chart_tap import ChartTap
from gradsan.observe.training.clipping import ClipTap
from gradsan.observe.training.loss_scaling import ScalerTap
from gradsan.observe.training.magnitudes import Magnitudes
from gradsan.observe.training.networks import NetworkTap
from gradsan.observe.training.optimizers import OptimizerTap
from gradsan.observe.training.sharded import ShardTap
from gradsan.observe.worlds.environments import EnvironmentTap
from gradsan.observe.worlds.experience import ExperienceTap
from gradsan.observe.worlds.rollouts import Rollouts
from gradsan.record import torch_errors
from gradsan.record.events import Backward, Event, Failed, OptimizerSeen, ParamSeen, StepDone

P = ParamSpec("P")
LOOKS_AROUND = 8  # for environments, in the script's variables
NAMES_ARE_DUE, TRAINING_BEGINS = {Backward, StepDone}, {OptimizerSeen, ParamSeen, Backward}


class Session:
    """`with Session(sink, mode): …` watches everything that happens inside."""

    def __init__(
        self, sink: Recording, mode: str = "adaptive", include: tuple[str, ...] = (), draws: bool = False
    ) -> None:
        self.watching = True
        """False where the taps without which there is nothing to judge could not be installed."""
        self._sink = sink
        self._patches = Patches()
        self._taken_out_by: list[Callable[[], None]] = []
        self.tracing = tracing = Tracing()
        self._outlet = outlet = Outlet(self._send, tracing)
        self.containment = containment = Containment(outlet.send, tracing)
        sketch, sites = GradientSketch(), Sites(outlet.send, include)
        self.known = known = Known(sites, Leaves(outlet.send, sketch.reborn), Optimizers())
        self._namer = Namer(known, sink.emit)
        blind_spots, switches = BlindSpots(containment, outlet, sites), GradientSwitches(sites)
        self._error_origins = ErrorOrigins(sites, switches)
        magnitudes = Magnitudes(known.leaves, lambda: sink.iteration)
        diagnosis = BackwardDiagnosis(containment, known.leaves, tracing, switches, blind_spots)
        rollouts = Rollouts(outlet.emit, tracing.newest)
        self.attention = policy = AttentionPolicy(
            mode, sink, containment, outlet, known, tracing, sketch, self._patches, rollouts.count_ends
        )
        self.fast_path = fast_path = policy.fast_path
        experience = ExperienceTap(rollouts, outlet.emit)
        self._environments, self._looks_around = EnvironmentTap(containment, sites, rollouts), 0
        self.operations = OperationTap(
            containment, outlet, known, tracing, switches, blind_spots, policy.silence, experience
        )
        everywhere = (containment, outlet, known, tracing)
        self._backward = BackwardTap(*everywhere, sketch, fast_path, diagnosis, magnitudes, policy.news)
        self._optimizers = OptimizerTap(*everywhere, sketch, fast_path, magnitudes)
        self._charts = ChartTap(containment, sink, known, lambda: self.iteration) if draws else None
        withdrawing = (self._patches, self._optimizers, policy.late)
        self._compiled = Compiled(
            containment, tracing, blind_spots, sites, withdrawing, self._optimizers.note_compiled_steps
        )
        self._sharding = ShardTap(containment)
        self._others: tuple[Tap, ...] = (
            NetworkTap(*everywhere, fast_path, policy.news),
            InteropTap(containment, sites, tracing, switches),
            ClipTap(*everywhere, fast_path, magnitudes, self._optimizers.notice_rewriting),
            ScalerTap(containment, outlet, known),
            CheckpointTap(containment, outlet, known),
            self._compiled,
            self._environments,
            self._optimizers.ranks,
            self._sharding,
        )

    def __enter__(self) -> Session:
        # What no containment could hold has left our books as they are: look no further.
        last_resort.listeners.append(self.containment.look_away)
        self._taken_out_by = [
            self._deaf, self._patches.restore, self._optimizers.remove, self._compiled.remove,
            self._sharding.remove,
        ]  # fmt: skip
        self._try("threads", self._follow_threads)
        self._try("warnings", warning_places.install, self._patches)
        if self._charts is not None:
            self._taken_out_by.append(self._charts.remove)
            self._install(self._charts)
        for tap in (self._backward, self._optimizers):
            self.watching = self._install(tap) and self.watching
        for other in self._others:
            self._install(other)
        self._taken_out_by.append(self.attention.stop)
        self._try("attention", self.attention.start, self.operations)
        return self

    def _deaf(self) -> None:
        if self.containment.look_away in last_resort.listeners:
            last_resort.listeners.remove(self.containment.look_away)

    def _install(self, tap: Tap) -> bool:
        name = type(tap).__name__
        return all([self._try(f"{name}.{part.__name__}", part, self._patches) for part in tap.parts])  # noqa: C419 - all parts

    def _try(self, name: str, install: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> bool:
        """What cannot be installed (in a PyTorch that we do not know) must not take the rest with it."""
        try:
            install(*args, **kwargs)
        except Exception:
            self.containment.fault(name, installing=True)
            return False
        return True

    def __exit__(self, *exc: object) -> None:
        self.containment.contain("session", self.tracing.flush)
        attempt("session", self.tracing.step.close)
        self.containment.contain("ranks", self._optimizers.ranks.at_end, self.iteration)
        self.containment.contain("freeze", self._optimizers.note_flags)
        self.take_out()
        attempt("session", self._sink.finish)

    def take_out(self) -> None:
        """Every tap, each whatever becomes of the others."""
        while self._taken_out_by:
            attempt("session", self._taken_out_by.pop())

    def _follow_threads(self) -> None:
        """A thread that starts while we look deeply is looked at, too."""
        contain, tracing, tap = self.containment.contain, self.tracing, self.operations
        start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def bootstrap_inner(thread: threading.Thread) -> None:
            if tracing.tap is not None:
                contain("thread", tap.enter)
            try:
                start(thread)
            finally:
                contain("end of a thread", tap.leave_for_good)

        self._patches.set(threading.Thread, "_bootstrap_inner", bootstrap_inner)

    def _send(self, event: Event) -> None:
        kind = type(event)
        if kind in NAMES_ARE_DUE and self._namer.is_due():
            self.containment.contain("names", self._namer.look, sys._getframe(2))
        if kind in TRAINING_BEGINS:
            self._look_for_environments(event)
        self.attention.before_event()
        before = self._sink.iteration
        self._sink.emit(event)
        if isinstance(event, Backward):
            self.attention.backward(event)
        elif isinstance(event, OptimizerSeen):
            self.attention.optimizer_made()
        if self._sink.iteration != before:
            self.attention.after_iteration()

    def _look_for_environments(self, event: Event) -> None:
        """The script has made what it will train, or begins to: by now it has its environment, too."""
        if isinstance(event, ParamSeen):
            self._environments.look_for_libraries()
        elif self._looks_around < LOOKS_AROUND:
            self._looks_around += 1
            self.containment.contain("environment", self._environments.look_around, sys._getframe(2))

    # -- what others ask --------------------------------------------------------------------------------

    @property
    def iteration(self) -> int:
        """With those that are being let through at this moment."""
        return self._sink.iteration + self.fast_path.skipped

    def explain(self, error: BaseException) -> None:
        """The script ended with this exception: say what it means, unless a tap has said so already."""
        self.containment.contain("explain", self._explain, error)

    def _explain(self, error: BaseException) -> None:
        self.tracing.flush()
        for raised in torch_errors.chain(error):
            if self.operations.has_told(raised):
                return
            row = torch_errors.row_of(raised)
            if row is not None and (event := self._failed(raised, row.kind)) is not None:
                self._outlet.emit(event)
                return

    def _failed(self, error: BaseException, kind: str) -> Failed | None:
        if not (site := self._error_origins.raised(error)):
            return None
        origin = self._error_origins.find(error, kind)
        noted = self.operations.failure_of(error)
        if noted is not None:
            return noted._replace(origin=origin, explain=True)
        innermost = [frame for frame, _ in frames_of(error)][-1]
        attribute, holder = held_by(innermost, self.known.sites)
        text = torch_errors.text_of(error)
        return Failed(kind, site, text, attribute=attribute, holder=holder, origin=origin, explain=True)

    def catch_up(self) -> None:
        """Bring the judge up to this very line: somebody is going to ask it."""
        self.containment.contain("catch up", self._catch_up)

    def _catch_up(self) -> None:
        self.tracing.flush()
        self._sink.catch_up()
