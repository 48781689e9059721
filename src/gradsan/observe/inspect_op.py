"""Small facts about one operation that only the observer can see, because it holds the tensors."""

from __future__ import annotations

import inspect
import itertools
import math
import zlib
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from gradsan.observe.opnames import AT_RISK
from gradsan.observe.sites import Sites, is_context_decorator, variables_of
from gradsan.observe.values import Tensor
from gradsan.record.events import Site

if TYPE_CHECKING:
    from gradsan.observe.operations import OperationTap

Notes = tuple[tuple[str, Any], ...]
TENSOR = "tensor"
PLAIN = {int, float, bool, str, slice, torch.dtype, torch.device, type(None), type(...)}
_unknown = itertools.count()
WITH_SCALARS = {"add", "sub", "mul", "div", "rsub", "rdiv", "pow", "rpow", "clamp"}
DROPOUTS = {"dropout", "alpha_dropout", "feature_dropout"}
NOTEWORTHY = WITH_SCALARS | AT_RISK | DROPOUTS
FAILURES = (
    ("leaf Variable that requires grad", "leaf-mutated"),
    ("Only Tensors created explicitly by the user", "graph-tensor-copied"),
    ("refusing to serialize non-leaf tensor", "graph-tensor-copied"),
)


def notes(name: str, args: Any, kwargs: Any, inputs: list[Tensor], outputs: list[Tensor]) -> Notes:
    found: Notes = ()
    if outputs and outputs[0].is_meta:
        return found
    if name in DROPOUTS:
        chance, training = (*args[1:], *[None] * 2)[:2]
        return (
            (("idle", True),)
            if kwargs.get("p", chance) == 0.0 or kwargs.get("training", training) is False
            else ()
        )
    if name in WITH_SCALARS:
        found = tuple(("scalar", float(a)) for a in args if isinstance(a, int | float))
        if "alpha" in kwargs:
            found += (("alpha", float(kwargs["alpha"])),)
    if name == "clamp" and inputs and inputs[0].requires_grad and outputs:
        found += (("saturated", _share_changed(inputs[0], outputs[0])),)
    if name in AT_RISK and outputs and outputs[0].dtype.is_floating_point:
        found += non_finite_result(name, inputs, outputs[0])
    return found


def settings(args: Any, kwargs: Any) -> Notes:
    """A digest of everything that is not a tensor: `x[:, 0]` and `x[:, 1]` are two values."""
    words = [a if type(a) in PLAIN else _setting(a) for a in args]
    if kwargs:
        words += [(name, _setting(value)) for name, value in kwargs.items()]
    return (("settings", zlib.crc32(repr(words).encode())),)


def _setting(value: Any) -> Any:
    if type(value) in PLAIN:
        return value
    if isinstance(value, Tensor):
        return TENSOR
    if isinstance(value, tuple | list):
        return [_setting(v) for v in value[:64]]
    if isinstance(value, int | float | str):
        return value
    return f"{type(value).__name__} {next(_unknown)}"  # cannot be compared: never the same as another


def _share_changed(before: Tensor, after: Tensor) -> float:
    if before.shape != after.shape or before.data_ptr() == after.data_ptr() or not before.numel():
        return 0.0
    return round(float((before.detach() != after.detach()).double().mean()), 4)


def non_finite_result(name: str, inputs: list[Tensor], out: Tensor) -> Notes:
    """Set where this operation is the first to make a non-finite value out of finite ones, or NaN out of
    infinities: a mask of -inf is meant, a row that consists of nothing else is not."""
    if out.numel() == 0 or math.isfinite(float(out.detach().sum())):
        return ()
    bad = ~torch.isfinite(out.detach())
    given = [t.detach() for t in inputs if t.dtype.is_floating_point]
    if not all(bool(torch.isfinite(t).all()) for t in given):
        bad = torch.isnan(out.detach())
        if any(bool(torch.isnan(t).any()) for t in given):
            return ()
    # Where nothing is bad, only the sum overflowed.
    return (("nonfinite", describe_bad(name, inputs, bad)),) if bool(bad.any()) else ()


def describe_bad(name: str, inputs: list[Tensor], bad: Tensor, results: Sequence[Tensor] = ()) -> str:
    """`log` of -0.25 at index (3, 1). Where only the result is known: `exp` with the result inf."""
    if name in ("std", "var", "std_mean", "var_mean") and inputs:
        return f"`{name}` of {inputs[0].numel()} sample{'s' if inputs[0].numel() != 1 else ''}"
    where = tuple(bad.nonzero()[0].tolist()) if bad.dim() else ()
    text = f"`{name}`"
    for word, tensors in (("of", inputs), ("with the result", results)):
        if same := [t for t in tensors if t.shape == bad.shape]:
            text += f" {word} " + " and ".join(f"{float(t.detach()[where]):.4g}" for t in same[:2])
            break
    if where:
        text += f" at index {where[0] if len(where) == 1 else where}"
    return text


def context_site(frame: FrameType | None, sites: Sites) -> tuple[Site, str]:
    """Where gradients were switched off: the `with` line, or the decorator's."""
    current = frame
    while current is not None and not sites.is_user(current.f_code):
        if is_context_decorator(current.f_code):
            function = inspect.unwrap(variables_of(current).get("func") or _nothing)
            code = getattr(function, "__code__", None)
            if code is not None and sites.is_user(code):
                return sites.at(code.co_filename, code.co_firstlineno, code.co_name), "decorator"
        current = current.f_back
    return sites.here(current), "with"


def _nothing() -> None: ...


def failure_kind(message: str) -> str:
    return next((kind for text, kind in FAILURES if text in message), "")


def failure_clues(kind: str, inputs: list[Tensor], frame: FrameType, tap: OperationTap) -> Notes:
    clues: Notes = ()
    if inputs:
        leaf = inputs[0] if inputs[0].is_leaf or inputs[0]._base is None else inputs[0]._base
        pid = tap.context.leaves.find(leaf)
        clues += (("nid", tap.values.find(inputs[0]) or 0), ("pid", pid or 0))
    if kind == "graph-tensor-copied":
        clues += holder_clues(frame, tap.context.sites)
    return clues


def holder_clues(frame: FrameType | None, sites: Sites) -> Notes:
    """Which attribute of which class held the tensor that `deepcopy` or pickle could not copy."""
    current = frame
    while current is not None and not sites.is_user(current.f_code):
        key = variables_of(current).get("key")
        if current.f_code.co_name == "_deepcopy_dict" and isinstance(key, str):
            outer = current.f_back.f_back if current.f_back is not None else None
            if outer is None or outer.f_code.co_name != "_reconstruct":
                return ()  # a plain dictionary: its key is no attribute of anything
            return (("attribute", key), ("holder", type(variables_of(outer).get("x")).__name__))
        current = current.f_back
    return ()
