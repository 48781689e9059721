"""Small facts about one operation that only the observer can see, because it holds the tensors."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from gradsan.observe.ops import mask_facts
from gradsan.observe.ops.opnames import AT_RISK
from gradsan.observe.ops.values import Tensor
from gradsan.observe.sites import Sites, variables_of
from gradsan.observe.slots import SEQUENCES, is_float_of_numpy, items_of
from gradsan.observe.unseen import is_dense
from gradsan.record.events import NOBODY, NOTHING, PLAIN, BadValue, Failed, OpFacts
from gradsan.record.torch_errors import text_of

if TYPE_CHECKING:
    from gradsan.observe.ops.operations import OperationTap

TENSOR = "tensor"
NUMBERS = {int, float, bool}
COMPARABLE = {int, float, bool, str, slice, torch.dtype, torch.device, type(None), type(...)}
_unknown = itertools.count()
WITH_SCALARS = {"add", "sub", "mul", "div", "rsub", "rdiv", "pow", "rpow", "clamp", "lerp"}
DROPOUTS = {"dropout", "alpha_dropout", "feature_dropout"}
COUNTING = {"cross_entropy": 4, "nll_loss": 4}  # where `ignore_index` stands among the arguments
LIMITING = {"clamp", "min", "max", "minimum", "maximum"}
CASTING = {"to", "long", "int", "short", "type", "type_as"}
NOTEWORTHY = (
    WITH_SCALARS | AT_RISK | DROPOUTS | {"where"} | LIMITING | set(COUNTING) | {"embedding", "sum"} | CASTING
)
ROWS = 8  # in so many a column must be cut off for it to be more than chance


def facts(
    name: str, args: Any, kwargs: Any, inputs: list[Tensor], outputs: list[Tensor], settings: int
) -> OpFacts:
    if name in DROPOUTS:
        chance, training = (*args[1:], *[None] * 2)[:2]
        idle = kwargs.get("p", chance) == 0.0 or kwargs.get("training", training) is False
        return OpFacts(settings=settings, idle=idle)
    if name == "embedding":
        return OpFacts(settings=settings, mask=mask_facts.of_tokens(inputs))
    if name == "sum":
        return OpFacts(settings=settings, mask=mask_facts.of_sum(inputs))
    if name in CASTING:
        lost = _cut_off(inputs, outputs)
        return OpFacts(settings=settings, cut_off=lost) if settings or lost else PLAIN
    if name in COUNTING:
        return OpFacts(settings=settings, valid=_valid_targets(name, args, kwargs))
    if name in LIMITING and name != "clamp":
        return OpFacts(settings=settings, flat_units=_flat_units(inputs, outputs))
    scalars, alpha = scalars_of(name, args, kwargs) if name in WITH_SCALARS else ((), 1.0)
    saturated, bad = 0.0, None
    if name == "clamp" and inputs and inputs[0].requires_grad and outputs and _are_dense(inputs, outputs):
        saturated = _share_changed(inputs[0], outputs[0])
    if name == "where" and outputs and outputs[0].requires_grad and _are_dense(inputs, outputs):
        saturated = _share_of_constant(args, kwargs)
    if name in AT_RISK and outputs and outputs[0].dtype.is_floating_point and _are_dense(inputs, outputs):
        bad = non_finite_result(name, inputs, outputs[0])
    if (name == "div" or name == "mul") and len(inputs) == 2 and outputs and outputs[0].requires_grad:
        mask = mask_facts.of_product(inputs) if name == "mul" and inputs[0].dim() == 2 else None
        return OpFacts(scalars, alpha, saturated, bad, settings, operand=_single_number(inputs), mask=mask)
    if (name == "rsub" or name == "sub") and scalars == (1.0,):
        return OpFacts(scalars, alpha, saturated, bad, settings, mask=mask_facts.of_flags(inputs))
    return OpFacts(
        scalars, alpha, saturated, bad, settings, flat_units=_flat_units(inputs, outputs) if saturated else 0
    )


def scalars_of(name: str, args: Any, kwargs: Any) -> tuple[tuple[float, ...], float]:
    """The plain numbers among the arguments, and what the second operand is multiplied with."""
    scalars = tuple([float(a) for a in args if type(a) in NUMBERS or is_float_of_numpy(a)])
    if name == "clamp" and kwargs:
        scalars += tuple([float(a) for n in ("min", "max") if isinstance(a := kwargs.get(n), int | float)])
    return scalars, float(kwargs.get("alpha", 1.0))


def _cut_off(inputs: list[Tensor], outputs: list[Tensor]) -> float:
    """How much of numbers of a float a cast to whole numbers has cut off."""
    if not inputs or not outputs or not inputs[0].dtype.is_floating_point or not _are_dense(inputs, outputs):
        return 0.0
    before, after = inputs[0].detach(), outputs[0].detach()
    if after.dtype.is_floating_point or after.dtype is torch.bool or before.shape != after.shape:
        return 0.0
    lost, size = float((before - after).abs().sum()), float(before.abs().sum())
    return round(lost / size, 4) if math.isfinite(lost) and size else 0.0


def _flat_units(inputs: list[Tensor], outputs: list[Tensor]) -> int:
    """How many columns of a live value a constant limit has replaced in every row."""
    live = [t for t in inputs if t.requires_grad]
    if len(live) != 1 or not outputs or live[0].shape != outputs[0].shape or not _are_dense(inputs, outputs):
        return 0
    columns = live[0].shape[-1] if live[0].dim() > 1 else 0
    if columns < 2 or live[0].numel() < ROWS * columns or live[0].data_ptr() == outputs[0].data_ptr():
        return 0
    changed = (live[0].detach() != outputs[0].detach()).reshape(-1, columns)
    return int(changed.all(0).sum())


def _single_number(inputs: list[Tensor]) -> float:
    """The one of two operands that is a single number without a graph."""
    for operand in (inputs[1], inputs[0]):
        if operand.dim() == 0 and not operand.requires_grad:
            return float(operand)
    return 0.0


def _valid_targets(name: str, args: Any, kwargs: Any) -> int:
    """How many targets a mean is taken over, where some are ignored; -1 for a sum."""
    reduction = kwargs.get("reduction", args[6] if len(args) > 6 else "mean")
    if reduction != "mean":
        return -1 if reduction == "sum" else 0
    target = kwargs.get("target", args[1] if len(args) > 1 else None)
    at = COUNTING[name]
    ignored = kwargs.get("ignore_index", args[at] if len(args) > at else -100)
    if not isinstance(target, Tensor) or target.dtype.is_floating_point or target.is_meta:
        return 0
    valid = int((target != ignored).sum())
    return valid if valid < target.numel() else 0


def _are_dense(inputs: list[Tensor], outputs: list[Tensor]) -> bool:
    return all(map(is_dense, inputs)) and all(map(is_dense, outputs))


def settings(args: Any, kwargs: Any) -> int:
    """A digest of everything that is not a tensor: `x[:, 0]` and `x[:, 1]` are two values."""
    words = [a if type(a) in COMPARABLE else _setting(a) for a in args]
    if kwargs:
        words += [(name, _setting(value)) for name, value in kwargs.items()]
    return zlib.crc32(repr(words).encode())


def _setting(value: Any) -> Any:
    if type(value) in COMPARABLE:
        return value
    kind = type(value)
    if issubclass(kind, Tensor):
        return TENSOR
    if issubclass(kind, SEQUENCES):
        return [_setting(v) for v in itertools.islice(items_of(value), 64)]
    for base in (int, float, str):  # an enumeration's, NumPy's
        if issubclass(kind, base):
            return base.__repr__(value)
    return f"other {next(_unknown)}"  # cannot be compared: never the same as another


def _share_changed(before: Tensor, after: Tensor) -> float:
    if before.shape != after.shape or before.data_ptr() == after.data_ptr() or not before.numel():
        return 0.0
    return round(float((before.detach() != after.detach()).double().mean()), 4)


def _share_of_constant(args: Any, kwargs: Any) -> float:
    """How much a `where` took from the one of its two sides that has no gradient."""
    given = [*args, *kwargs.values()]
    at = next((i for i, a in enumerate(given) if isinstance(a, Tensor) and a.dtype is torch.bool), None)
    if at is None or len(given) != 3:
        return 0.0
    condition = given.pop(at)
    live = [isinstance(side, Tensor) and side.requires_grad for side in given]
    if all(live) or not condition.numel():
        return 0.0
    taken = float(condition.double().mean())
    return round(1.0 - taken if live[0] else taken, 4)


def non_finite_result(name: str, inputs: list[Tensor], out: Tensor) -> BadValue | None:
    """Set where this operation is the first to make a non-finite value out of finite ones, or NaN out of
    infinities: a mask of -inf is meant, a row that consists of nothing else is not."""
    if out.numel() == 0 or math.isfinite(float(out.detach().sum())):
        return None
    bad = ~torch.isfinite(out.detach())
    given = [t.detach() for t in inputs if t.dtype.is_floating_point]
    if not all(bool(torch.isfinite(t).all()) for t in given):
        bad = torch.isnan(out.detach())
        if any(bool(torch.isnan(t).any()) for t in given):
            return None
    # Where nothing is bad, only the sum overflowed.
    return bad_value(name, inputs, bad) if bool(bad.any()) else None


def bad_value(name: str, inputs: list[Tensor], bad: Tensor, results: Sequence[Tensor] = ()) -> BadValue:
    """What the operation was given where its result is bad; where only the result is known, that."""
    if name in ("std", "var", "std_mean", "var_mean") and inputs:
        return BadValue(name, samples=inputs[0].numel())
    where = tuple(bad.nonzero()[0].tolist()) if bad.dim() else ()
    given, made = (
        tuple([float(t.detach()[where]) for t in tensors if t.shape == bad.shape][:2])
        for tensors in (inputs, results)
    )
    return BadValue(name, given, () if given else made, where)


def failed(error: Exception, kind: str, inputs: list[Tensor], frame: FrameType, tap: OperationTap) -> Failed:
    pid, value = NOBODY, NOTHING
    if kind == "inference-tensor":
        inputs = [t for t in inputs if t.is_inference()]
    if inputs:
        leaf = inputs[0] if inputs[0].is_leaf or inputs[0]._base is None else inputs[0]._base
        pid, value = tap.leaves.find(leaf) or NOBODY, tap.values.find(inputs[0]) or NOTHING
    attribute, holder = held_by(frame, tap.sites) if kind == "graph-tensor-copied" else ("", "")
    return Failed(kind, tap.sites.here(frame), text_of(error), pid, value, attribute, holder)


def held_by(frame: FrameType | None, sites: Sites) -> tuple[str, str]:
    """Which attribute of which class held the tensor that `deepcopy` or pickle could not copy."""
    current = frame
    while current is not None and not sites.is_user(current.f_code):
        key = variables_of(current).get("key")
        if current.f_code.co_name == "_deepcopy_dict" and isinstance(key, str):
            outer = current.f_back.f_back if current.f_back is not None else None
            if outer is None or outer.f_code.co_name != "_reconstruct":
                return "", ""  # a plain dictionary: its key is no attribute of anything
            return key, type(variables_of(outer).get("x")).__name__
        current = current.f_back
    return "", ""
