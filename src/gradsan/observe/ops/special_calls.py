"""Calls that are not ordinary operations: values that leave for Python and come back, attributes, switches."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from gradsan.observe.ops.mask_facts import of_column
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.ops.values import Tensor, is_floating, versions_of
from gradsan.observe.outlet import Outlet
from gradsan.observe.registry import shape_of
from gradsan.observe.sites import Place
from gradsan.observe.slots import is_array
from gradsan.record.events import (
    NOTHING,
    NOWHERE,
    PLAIN,
    BackwardId,
    Op,
    OpFacts,
    ParamFlag,
    ParamId,
    Site,
    ValueId,
)

if TYPE_CHECKING:
    from gradsan.observe.ops.operations import OperationTap

UNKNOWN = BackwardId(0)
MOST_NUMBERS = 512  # of a list that comes in


class Call(NamedTuple):
    """One call that is not an ordinary operation, after it returned."""

    name: str
    args: Any
    inputs: list[Tensor]
    numbers: tuple[ValueId, ...]
    result: Any
    frame: FrameType


class SpecialCalls:
    """One method for each kind that `opnames.classify` tells apart."""

    def __init__(self, tap: OperationTap, outlet: Outlet, switches: GradientSwitches) -> None:
        self._tap = tap
        self._emit = outlet.emit
        self._switches = switches
        self._sites, self._leaves = tap.sites, tap.leaves
        self._values, self._writes = tap.values, tap.writes
        self.last_grad_write: Site = NOWHERE

    def set_grad_enabled(self, call: Call) -> None:
        if _is_leaving(call.frame):
            self._switches.left_no_grad()
        else:
            self._switches.entered_no_grad(call.frame)

    # -- leaving and coming back ------------------------------------------------------------------

    def departure(self, call: Call) -> None:
        if call.inputs:
            self._tap.draws.left(call.inputs[0])
        if not call.inputs or not is_floating(call.inputs[0]):
            return
        place, nid = self._sites.place(call.frame), self._values.fresh()
        shape, facts = shape_of(call.inputs[0]), PLAIN
        if type(call.result) is float:
            facts = OpFacts(numbers=(call.result,))
        site, tags, chain = place
        self._tap.record(
            Op(nid, call.name, site, call.numbers[:1], False, shape, True, tags, facts, chain=chain)
        )
        self._tap.departures.left(call.name, call.result, nid)
        self._tap.experience.left(call.inputs[0], call.numbers[0])
        if call.name in ("numpy", "array"):
            self._writes.share_with_numpy(call.inputs[0], place.site)

    def choice(self, call: Call) -> None:
        """`bool`, `int` and indices select; no value flows."""
        if call.inputs:
            self._tap.draws.left(call.inputs[0])

    def arrival(self, call: Call) -> None:
        data, result = call.args[0] if call.args else None, call.result
        self._tap.draws.arrived(result)
        if not isinstance(result, Tensor) or self._values.find(result) is not None:
            return
        place = self._sites.place(call.frame)
        sources = call.numbers or tuple(self._tap.departures.recognise(data))
        facts = OpFacts(numbers=numbers) if (numbers := _plain_numbers(data)) else PLAIN
        if told := self._tap.draws.told(result):
            facts = facts._replace(told=told)
        if flags := of_column(result):
            facts = facts._replace(mask=flags)
        nid = self._tap.define(call.name, result, sources, place, facts, call.inputs)
        if result.requires_grad and result.is_leaf and sources:  # `torch.tensor(…, requires_grad=True)`
            self._tap.last_is_a_constant()
            self._revived(result, nid, place)
        if is_array(data) or call.name == "frombuffer":
            self._writes.share_with_numpy(result, place.site)

    # -- attributes -------------------------------------------------------------------------------

    def _view_attribute(self, call: Call) -> None:
        if isinstance(call.result, Tensor):
            place = self._sites.place(call.frame)
            self._tap.define(call.name, call.result, call.numbers, place, PLAIN, call.inputs)
            if self._tap.draws.active:
                versions = versions_of(call.inputs)
                self._tap.draws.note(call.name, call.args, {}, call.inputs, versions, call.result, NOTHING)
            if call.name == "data":
                self._writes.hide(call.result)

    get_data = get_T = get_mT = get_H = get_mH = get_real = get_imag = _view_attribute

    def get_grad(self, call: Call) -> None:
        if (pid := self._leaves.find(call.inputs[0])) is None:
            return
        if call.result is None:
            self._tap.remark("no gradient", NOTHING, self._sites.here(call.frame), OpFacts(pid=pid))
        elif isinstance(call.result, Tensor):
            self.gradient(call.result, pid, self._sites.here(call.frame))
            self._writes.is_gradient(call.result, pid)

    def gradient(self, grad: Tensor, pid: ParamId, site: Site, backward: BackwardId = UNKNOWN) -> None:
        """A value of its own: the gradient of a parameter, read from its `.grad` or handed out by `backward`."""
        made_of = (self._values.number(grad),) if backward else ()  # the call is an operation, and a cut
        nid, facts = self._values.fresh(), OpFacts(pid=pid, made_by=backward)
        shape = shape_of(grad)
        self._tap.record(Op(nid, "grad", site, made_of, False, shape, True, (), facts, "gradient read"))
        self._values.define(grad, nid)

    def set_grad(self, call: Call) -> None:
        self.last_grad_write = self._sites.here(call.frame)
        if (pid := self._leaves.find(call.inputs[0])) is not None and len(call.numbers) > 1:
            self._tap.remark("gradient set", call.numbers[1], self.last_grad_write, OpFacts(pid=pid))

    def set_data(self, call: Call) -> None:
        site, nid = self._sites.here(call.frame), self._values.fresh()
        target = call.inputs[0]
        shape = shape_of(target)
        self._tap.record(Op(nid, "set_data", site, call.numbers, target.requires_grad, shape, True))
        self._values.wrote(target, nid)
        self._writes.wrote(target, nid, site, "set_data")
        if (owner := self._writes.owner_of_gradient(target)) is not None and len(call.numbers) > 1:
            self._writes.is_gradient(target, owner)  # in other memory, from now on
            self._tap.remark("gradient set", call.numbers[1], site, OpFacts(pid=owner))
        if (pid := self._leaves.find(target)) is not None:
            self._values.forget(target)
            shared = self._leaves.sharing(target)
            self._tap.remark("written", nid, site, OpFacts(pid=pid, shares=shared))

    def set_requires_grad(self, call: Call) -> None:
        target, place = call.inputs[0], self._sites.place(call.frame)
        pid = self._leaves.find(target)
        if pid is not None:
            self._emit(ParamFlag(pid, target.requires_grad, place.site, place.chain))
            self._values.forget(target)
            return
        self._revived(target, call.numbers[0], place)

    def _revived(self, target: Tensor, source: ValueId, place: Place) -> None:
        """A value without a graph was told to require grad: a new leaf, and nothing behind it learns."""
        nid, shape, facts = self._values.fresh(), shape_of(target), PLAIN
        if target.requires_grad and target.is_leaf:
            facts = OpFacts(pid=self._leaves.pid(target, place))
        site = place.site
        self._tap.record(
            Op(nid, "requires_grad_", site, (source,), target.requires_grad, shape, True, (), facts)
        )
        self._values.define(target, nid)

    requires_grad = set_requires_grad

    def detach(self, call: Call) -> None:
        """`h.detach_()`: a leaf is frozen, anything else is a constant from now on, in the same tensor."""
        target, place = call.inputs[0], self._sites.place(call.frame)
        pid = self._leaves.find(target)
        if pid is not None:
            self._emit(ParamFlag(pid, target.requires_grad, place.site, place.chain))
            self._values.forget(target)
        elif self._writes.gradient_of(target) is None:  # as PyTorch's own `zero_grad` does
            self._tap.define(call.name, target, call.numbers, place, PLAIN, call.inputs)

    def iter(self, call: Call) -> None:
        place = self._sites.place(call.frame)
        for part, out in enumerate(call.result):
            if isinstance(out, Tensor):
                self._tap.define("unbind", out, call.numbers, place, PLAIN._replace(part=part), call.inputs)

    def deepcopy(self, call: Call) -> None:
        if isinstance(call.result, Tensor) and self._leaves.find(call.result) is None:
            self._values.define(call.result, call.numbers[0])


def _plain_numbers(data: Any) -> tuple[float, ...]:
    """A list of floats, and of nothing else."""
    if type(data) is not list or not 1 < len(data) <= MOST_NUMBERS or any(type(v) is not float for v in data):
        return ()
    return tuple(data)


def _is_leaving(frame: FrameType) -> bool:
    """`no_grad` ends by making another switch, whose `__init__` may be ours: who asks for that?"""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_name == "__init__":
        caller = caller.f_back
    return caller is not None and caller.f_code.co_name == "__exit__"
