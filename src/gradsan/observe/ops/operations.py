"""The deep tap: every operation on tensors, differentiable or not, with the user line that ran it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from gradsan.observe import interruptions
from gradsan.observe.containment import Containment
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.function_gradients import backward_site
from gradsan.observe.graphs.graph import DEEPEST, is_transforming, label, node_of
from gradsan.observe.interruptions import is_the_scripts, waiting
from gradsan.observe.last_resort import attempt
from gradsan.observe.ops import fused_scores, inspect_op
from gradsan.observe.ops.axes import WITH_AXES, WITH_PLACES, axes_of, place_of
from gradsan.observe.ops.draws import PICKING, SURPRISING, Draws
from gradsan.observe.ops.mask_facts import of_column
from gradsan.observe.ops.meaning import NOTEWORTHY, Marks, apart, around_one
from gradsan.observe.ops.mode_stack import StackedMode
from gradsan.observe.ops.opnames import CLIPPING, IGNORE, OPERATION, classify
from gradsan.observe.ops.paddings import COMPARING, Paddings
from gradsan.observe.ops.special_calls import Call, SpecialCalls
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.ops.values import Departures, Tensor, Unreadable, Values, is_floating, versions_of
from gradsan.observe.ops.writes import Writes
from gradsan.observe.outlet import BlindSpots, Outlet
from gradsan.observe.registry import Known, Optimizers, shape_of, storage_of
from gradsan.observe.sites import Place, result_is_dropped
from gradsan.observe.slots import SEQUENCES, items_of
from gradsan.observe.training.sharded import wholes_of
from gradsan.observe.unseen import dispatch_modes, is_readable, is_traced, jit_trace, transform, unseen
from gradsan.observe.worlds.experience import LOOKED_AT, ExperienceTap
from gradsan.record import torch_errors
from gradsan.record.events import (
    DRAWING,
    NOTHING,
    PLAIN,
    Failed,
    Op,
    OpFacts,
    OpKind,
    Ops,
    Site,
    Tag,
    ValueId,
)

DIFFERENCES = {"sub", "kl_div", "div"}
COLUMNS = {"getitem", "index_select"}  # rows of a data set that are picked
Read = tuple[list[Tensor], tuple[ValueId, ...], list[int]]  # the inputs, their numbers, their versions
IGNORED = (IGNORE, "")
INSIDE = 256  # operations in the forward of a custom function
NOTHING_TO_LEARN = 30_000  # operations without a graph: a long warm-up, or a search without gradients


class OperationTap(StackedMode):
    def __init__(
        self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing,
        switches: GradientSwitches, blind_spots: BlindSpots, silence: Callable[[], None],
        experience: ExperienceTap,
    ) -> None:  # fmt: skip
        super().__init__()
        self.experience = experience
        self._containment = containment
        self._outlet = outlet
        self._tracing = tracing
        self._switches = switches
        self._blind_spots = blind_spots
        self._silence = silence  # to be called where nothing is differentiable for long
        self.sites, self.leaves = known.sites, known.leaves
        self.pending: list[Op] = []
        self.record = self.pending.append
        self.departures = Departures()
        self.values = Values(self.leaves, self.record, self._returned)
        self.writes = Writes(self.leaves)
        self.marks = Marks()
        self.draws = Draws()
        self.paddings = Paddings()
        self._failures: set[int] = set()
        self._last_failure: tuple[int, Failed] | None = None  # reported only if nobody catches it
        self._kinds: dict[Any, tuple[str, str]] = {}
        self.special = SpecialCalls(self, outlet, switches)
        self._without_graph = 0  # operations in a row
        self._with_graph = 0  # in this iteration

    @property
    def is_active(self) -> bool:
        return self._tracing.tap is self

    def has_entered(self) -> None:
        self.writes.forget_old()
        self.draws.entered()
        self.values.forget_leaves()  # a fused kernel may have stepped them meanwhile: it does not count its write

    def flush(self) -> None:
        if self.pending:
            ops = tuple(self.pending)
            self.pending.clear()
            self._outlet.send(Ops(ops))

    def end_of_iteration(self) -> None:
        self._without_graph = self._with_graph = 0
        self.marks.end_of_iteration()
        self.draws.end_of_iteration()
        self.paddings.end_of_iteration()
        self.experience.forget()
        self.writes.end_of_iteration(self.values.end_of_iteration())

    # -- the tap ----------------------------------------------------------------------------------

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, kind = kwargs or {}, IGNORED
        read: Read | None = None
        # No `contain` here: this runs for every operation, and the mode is off while it does.
        # torch's own Python functions name plain tensors, too.
        stranger = types and (len(types) > 1 or types[0] is not Tensor)
        hidden = bool(stranger or dispatch_modes() or jit_trace() is not None)
        if hidden and is_traced():
            return func(*args, **kwargs)
        try:
            kind = self._kinds.get(func) or self._classify(func)
            # Still on this thread's stack after another thread has made the run light: nothing to note either.
            looks = self._tracing.tap is not None and not getattr(self._pauses, "depth", 0)
            if looks and kind[0] != IGNORE and "operation" not in self._containment.quiet:
                if transform() is not None:
                    self._blind_spots.add("transforms", sys._getframe(1))
                else:
                    read = unseen(self._read, args, kwargs) if hidden else self._read(args, kwargs)
        except Unreadable:
            self._blind_spots.add("subclass", sys._getframe(1))
        except Exception as error:
            self._fault(error)
        if waiting:
            interruptions.deliver(sys._getframe(1))
        if read is None:
            return func(*args, **kwargs)
        inputs = read[0]
        try:
            result = func(*args, **kwargs)
        except (RuntimeError, TypeError) as error:
            self._containment.contain("operation", self._failed, error, inputs, sys._getframe(1))
            raise
        if kind[0] == "iter":
            result = list(result)
        try:
            if hidden:
                unseen(self._note, kind, args, kwargs, read, result, sys._getframe(1))
            elif kind[0] == OPERATION:  # `_note`, written out
                self._operation(kind[1], args, kwargs, *read, result, sys._getframe(1))
            else:
                self._note(kind, args, kwargs, read, result, sys._getframe(1))
        except Unreadable:
            self._blind_spots.add("subclass", sys._getframe(1))
        except Exception as error:
            self._fault(error)
        if waiting:
            interruptions.deliver(sys._getframe(1))
        return iter(result) if kind[0] == "iter" else result

    def _fault(self, error: Exception) -> None:
        if is_the_scripts(error):
            raise error
        attempt("operation", self._containment.fault, "operation")

    def _classify(self, func: Any) -> tuple[str, str]:
        kind = self._kinds[func] = classify(func)
        return kind

    def _read(self, args: Any, kwargs: Any) -> Read:
        inputs = tensors_in(args, kwargs)
        return inputs, *self.values.read(inputs)

    def _note(
        self, kind: tuple[str, str], args: Any, kwargs: Any, read: Read, result: Any, frame: FrameType
    ) -> None:
        inputs, numbers, _ = read
        if kind[0] == OPERATION:
            self._operation(kind[1], args, kwargs, *read, result, frame)
        else:
            handler = getattr(self.special, kind[0])
            handler(Call(kind[1], args, inputs, numbers, result, frame))

    def _operation(
        self, name: str, args: Any, kwargs: Any, inputs: list[Tensor], numbers: tuple[ValueId, ...],
        before: list[int], result: Any, frame: FrameType,
    ) -> None:  # fmt: skip
        place = self.sites.place(frame)
        if name in LOOKED_AT and self.experience.looking:
            self.experience.met(name, inputs, numbers)
        if not inputs and isinstance(result, Tensor) and result.requires_grad and result.is_leaf:
            self.leaves.pid(result, place)  # made to be trained: a parameter, read where it is used
            return
        outputs = [result] if isinstance(result, Tensor) else tensors_in((result,), {})
        # `q / temperature`: the number may have left a tensor by `.item()`.
        if len(args) == 2 and len(inputs) == 1:
            numbers += self.departures.operand(args[1] if args[0] is inputs[0] else args[0])
        elif len(args) == 3 and type(args[2]) is float:  # `scores[i] = score.item()`
            numbers += self.departures.operand(args[2])
        settings = 0  # there are none where all arguments are tensors
        if kwargs or len(args) != len(inputs) or args[0] is not inputs[0] or args[-1] is not inputs[-1]:
            # The place where a tensor is written is described like the place where one is read.
            written = name == "setitem" and inputs and args[-1] is inputs[-1]
            settings = inspect_op.settings(args[:-1] if written else args, kwargs)
        if name in inspect_op.NOTEWORTHY:
            facts = inspect_op.facts(name, args, kwargs, inputs, outputs, settings)
        else:
            facts = OpFacts(settings=settings) if settings else PLAIN
        if name in WITH_AXES and (axes := axes_of(name, args, kwargs, inputs)):
            facts = facts._replace(axes=axes)
        if name in WITH_PLACES and (place_in := place_of(args, inputs)):
            facts = facts._replace(place=place_in)
        if name in COLUMNS and len(inputs) == 2 and outputs and (flags := of_column(outputs[0])):
            facts = facts._replace(mask=flags)
        if name in DIFFERENCES and outputs:
            log_target = bool(kwargs.get("log_target"))
            if between := apart(name, inputs, numbers, outputs[0], self.marks, log_target):
                facts = facts._replace(apart=between)
        elif name == "clamp" and (around := around_one(inputs, facts.scalars)):
            facts = facts._replace(apart=around)
        if name == "embedding" or name in COMPARING:
            self.paddings.note(name, args, inputs)
        if name in ("embedding", "one_hot"):
            self.draws.fed(inputs)
        if name in CLIPPING:
            facts = self._of_gradient(facts, inputs, outputs, frame)
        written = _changed(inputs, before)
        for index, out in enumerate(outputs):
            # `x.float()` of a float tensor is x itself.
            if _is_among(out, inputs) and not _is_among(out, written):
                continue
            sources, made_of = numbers, inputs
            if len(outputs) > 1 and len(inputs) > 1:
                sources, made_of = _own_source(out, inputs, numbers)
            which = facts._replace(part=index) if index else facts
            if written and _is_among(out, written):
                which = which._replace(in_place=True)
            self.define(name, out, sources, place, which, made_of)
        for tensor in written:
            self._wrote(name, tensor, outputs, numbers, place, facts)
        if name in PICKING or name in SURPRISING:
            self._scored(name, args, kwargs, inputs, numbers, result)
        if self.draws.active and not (isinstance(result, Tensor) and result.requires_grad):
            nid = self.values.find(result) if isinstance(result, Tensor) else None
            self.draws.note(name, args, kwargs, inputs, before, result, nid or NOTHING)

    def _scored(
        self,
        name: str,
        args: Any,
        kwargs: Any,
        inputs: list[Tensor],
        numbers: tuple[ValueId, ...],
        result: Any,
    ) -> None:
        nid = self.values.find(result) if isinstance(result, Tensor) and result.requires_grad else None
        if nid is None:
            return
        mark = self.marks.of(numbers[0])
        is_log = mark is not None and mark.meaning == "log-policy"
        if is_log or name in SURPRISING:  # else it may be an embedding: `words[ids]`
            self.paddings.score(name, args, kwargs, inputs, result, nid)
        if self.draws.active and (is_log or name != "getitem"):
            self.draws.score(name, (args, kwargs), inputs, result, nid, is_log)

    def _of_gradient(
        self, facts: OpFacts, inputs: list[Tensor], outputs: list[Tensor], frame: FrameType
    ) -> OpFacts:
        """A new tensor made of a `.grad`, perhaps thrown away at once: somebody meant to change the `.grad`."""
        if not inputs or (pid := self.writes.gradient_of(inputs[0])) is None:
            return facts
        user = self.sites.user_frame(frame)
        if user is None or any(o is inputs[0] for o in outputs):
            return facts
        return facts._replace(clipped=pid, dropped=result_is_dropped(user))

    def define(
        self, name: str, out: Tensor, numbers: tuple[ValueId, ...], place: Place, facts: OpFacts,
        inputs: list[Tensor],
    ) -> ValueId:  # fmt: skip
        if type(out) is not Tensor and not is_readable(out):
            raise Unreadable
        nid, live = self.values.fresh(), out.requires_grad and name not in DRAWING
        site, tags, chain = place
        if not live and _have_gradient(inputs):
            tags += self._cut_tags(out)
            if (off := self._switches.innermost(tags)) is not None:
                facts = facts._replace(grad_off=off.site, grad_off_by=off.how)
        elif not live and (off := self._switches.inference()) is not None:
            facts = facts._replace(grad_off=off.site, grad_off_by=off.how)
        if live and (depth := self.values.carried(nid, numbers)):
            facts = facts._replace(carried=depth)
        self._without_graph = 0 if live else self._without_graph + 1
        if self._without_graph > NOTHING_TO_LEARN:
            self._without_graph = 0
            self._containment.contain("attention", self._silence)
        shape, floating = shape_of(out), is_floating(out)
        self.record(Op(nid, name, site, numbers, live, shape, floating, tags, facts, "operation", chain))
        self.values.define(out, nid)
        if floating and self.marks.active and (tags or name in NOTEWORTHY):
            self.marks.note(nid, name, tags, numbers, live, facts.scalars, facts.mask)
        if live:
            if floating and self.marks.active and not dispatch_modes():
                self.marks.compare(nid, name, numbers, inputs, out)
            self._with_graph += 1
            if self._with_graph < DEEPEST:  # since the last iteration: no chain is longer
                self.writes.used(nid, inputs, out, label(out, nid, site))
        return nid

    def last_is_a_constant(self) -> None:
        """The value that was defined just now was told to require grad, and nothing behind it learns."""
        self.pending[-1] = self.pending[-1]._replace(live=False)

    def _wrote(
        self, name: str, tensor: Tensor, outputs: list[Tensor], numbers: tuple[ValueId, ...], place: Place,
        facts: OpFacts,
    ) -> None:  # fmt: skip
        site = place.site
        nid = self.values.find(tensor) if any(o is tensor for o in outputs) else None
        if nid is None:
            nid = self.values.fresh()
            shape, live = shape_of(tensor), tensor.requires_grad
            floating = is_floating(tensor)
            if live and (depth := self.values.carried(nid, numbers)):
                facts = facts._replace(carried=depth)
            self.record(Op(nid, name, site, numbers, live, shape, floating, (), facts, chain=place.chain))
            if live and node_of(tensor) is not None:
                self.writes.used(nid, [tensor], tensor, label(tensor, nid, site))
        self.values.wrote(tensor, nid)
        self.writes.wrote(tensor, nid, site, name)
        own = self.leaves.find(tensor)
        if own is not None:  # whatever was written: the next use of a leaf starts a graph of its own
            self.values.forget(tensor)
        owner = own or self.writes.parameter_behind(tensor)
        if owner is not None:
            self.remark("written", nid, site, OpFacts(pid=owner))
        elif (pid := self.writes.gradient_of(tensor)) is not None:
            self.remark("gradient set", nid, site, OpFacts(pid=pid))

    def remark(self, kind: OpKind, nid: ValueId, site: Site, facts: OpFacts) -> None:
        """About a value, as an operation without a result of its own."""
        self.record(Op(self.values.fresh(), "", site, (nid,), False, (), True, (), facts, kind))

    # -- cuts -------------------------------------------------------------------------------------

    def _cut_tags(self, out: Tensor) -> tuple[Tag, ...]:
        if out.is_inference():
            return ("inference_mode",)
        return () if torch.is_grad_enabled() else ("no_grad",)

    def has_told(self, error: BaseException) -> bool:
        """Whether this very exception has passed here."""
        return id(error) in self._failures

    def failure_of(self, error: BaseException) -> Failed | None:
        """What was noted when this very exception passed here."""
        noted = self._last_failure
        same = noted is not None and noted[0] == id(error) and noted[1].message == torch_errors.text_of(error)
        return noted[1] if noted is not None and same else None

    # -- custom functions --------------------------------------------------------------------------

    def read(self, args: Any) -> tuple[ValueId, ...] | None:
        """The values that a custom function is about to be given; None where nobody is looking."""
        if self._depth() or is_transforming():
            return None
        inputs = tensors_in(args, {})
        return tuple([self.values.number(t) for t in inputs]) if all(map(is_readable, inputs)) else None

    def applied(
        self, function: Any, args: Any, numbers: tuple[ValueId, ...], result: Any, frame: FrameType
    ) -> None:
        """A custom function: its results come from its arguments and from what its forward did inside."""
        place, inputs = self.sites.place(frame), tensors_in(args, {})
        name, facts = function.__name__, OpFacts(backward=backward_site(function, self.sites))
        outputs = list(filter(is_readable, tensors_in((result,), {})))
        scores = self._scores(args, inputs, outputs)
        for at, out in enumerate(outputs):
            inside = self.values.find(out)
            given = self._given(inside, numbers) if inside is not None and len(outputs) > 1 else numbers
            sources = (*given, inside) if inside is not None else numbers
            own = place._replace(tags=(*place.tags, "function", *scores.get(at, ())))
            self.define(name, out, sources, own, facts, inputs)

    def _given(self, inside: ValueId, numbers: tuple[ValueId, ...]) -> tuple[ValueId, ...]:
        """Which arguments one of several results was made of, as its forward has shown; all, where it has not."""
        made = {op.nid: op.inputs for op in self.pending[-INSIDE:]}
        stack, found = [inside], {inside}
        while stack:
            for source in made.get(stack.pop(), ()):
                if source not in found:
                    found.add(source)
                    if source not in numbers:
                        stack.append(source)
        return tuple([n for n in numbers if n in found]) or numbers

    def _scores(self, args: Any, inputs: list[Tensor], outputs: list[Tensor]) -> dict[int, tuple[Tag, ...]]:
        if not self.marks.active or dispatch_modes():  # a mode of the script's own would see it computed
            return {}
        self.pause()
        try:
            return fused_scores.tags_of(args, inputs, outputs)
        finally:
            self.resume()

    def _returned(self, tensor: Tensor) -> tuple[ValueId, ...]:
        self.pause()
        try:
            return self.departures.returned(tensor)
        finally:
            self.resume()

    # -- what the rest of the observer asks ---------------------------------------------------------

    def note_step(self, optimizer: torch.optim.Optimizer, site: Site) -> None:
        stepped = [param for param in Optimizers.params(optimizer) if param.grad is not None]
        for param in filter(is_readable, stepped):
            self.writes.wrote(param, self.values.fresh(), site, "step", by_step=True)
            self.values.forget(param)  # a fused kernel does not count its write
        for whole in wholes_of(stepped):  # filled anew before its next use
            self.values.forget(whole)

    def _failed(self, error: Exception, inputs: list[Tensor], frame: FrameType) -> None:
        row = torch_errors.row_of(error)
        if row is None:
            return
        event = inspect_op.failed(error, row.kind, inputs, frame, self)
        if row.kind in torch_errors.AT_ONCE:
            self._failures.add(id(error))
            self._outlet.emit(event)
        else:
            self._last_failure = id(error), event


interruptions.HALF.add(OperationTap.__torch_function__.__code__)


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors among the arguments, lists of them included, in order."""
    found: list[Tensor] = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        # Not `isinstance`: it asks a stranger for its `__class__`, which may be a property that does something.
        kind = type(value)
        if kind is Tensor or issubclass(kind, Tensor):
            found.append(value)
        elif issubclass(kind, SEQUENCES):
            for item in items_of(value):
                if issubclass(type(item), Tensor):
                    found.append(item)
                elif issubclass(type(item), SEQUENCES):
                    found.extend(t for t in items_of(item) if issubclass(type(t), Tensor))
    return found


def _own_source(
    out: Tensor, inputs: list[Tensor], numbers: tuple[ValueId, ...]
) -> tuple[tuple[ValueId, ...], list[Tensor]]:
    """One of several results may be a view of one of several inputs (`broadcast_tensors`): then it is
    made of that one alone."""
    storage = storage_of(out)
    same = [i for i, t in enumerate(inputs) if storage and storage_of(t) == storage]
    return ((numbers[same[0]],), [inputs[same[0]]]) if len(same) == 1 else (numbers, inputs)


def _changed(tensors: list[Tensor], before: list[int]) -> list[Tensor]:
    """Those that have another version than before."""
    now = versions_of(tensors)
    if now == before:
        return []
    return [tensor for tensor, old, new in zip(tensors, before, now, strict=True) if old != new]


def _have_gradient(tensors: list[Tensor]) -> bool:
    for tensor in tensors:  # noqa: SIM110 - runs for every operation, and `any` is slower
        if tensor.requires_grad:
            return True
    return False


def _is_among(tensor: Tensor, others: list[Tensor]) -> bool:
    for other in others:  # noqa: SIM110 - runs for every operation, and `any` is slower
        if other is tensor:
            return True
    return False
