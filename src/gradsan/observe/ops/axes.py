"""Along which axes an operation ran: `softmax(x, dim=-1)` of a matrix ran along axis 1."""

from __future__ import annotations

from typing import Any

from gradsan.observe.ops.values import Tensor

REDUCTIONS = {
    "sum", "mean", "nansum", "nanmean", "std", "var", "max", "min", "amax", "amin", "argmax", "argmin", "median",
    "prod", "logsumexp",
}  # fmt: skip
ALONG = {
    "softmax", "log_softmax", "gather", "cumsum", "cumprod", "sort", "argsort", "cat", "stack", "cosine_similarity",
    "flip",
}  # fmt: skip
RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
WITH_AXES = REDUCTIONS | ALONG | RECURRENT | {"getitem", "setitem", "select"}
WITH_PLACES = {"getitem", "setitem"}
WHOLE = slice(None)
MAKES_AN_AXIS = {"stack"}
ALONG_THE_FIRST = {"cat", "stack"}  # where nothing is said
# Where nothing is said, PyTorch takes the first axis of a row and of a cube, else the second.
LEFT_TO_CHOOSE = {"softmax", "log_softmax"}


def axes_of(name: str, args: Any, kwargs: Any, inputs: list[Tensor]) -> tuple[int, ...]:
    """Counted from the front; a reduction to which no axis was given runs over all of them."""
    if not inputs:
        return ()
    if name in RECURRENT:
        return _of_recurrence(args)
    dims = inputs[0].dim() + (name in MAKES_AN_AXIS)
    given = kwargs.get("dim", kwargs.get("axis"))
    if name == "cosine_similarity":  # of two
        given = given if given is not None else args[2] if len(args) > 2 else 1
    elif given is None:
        given = args[1] if len(args) > 1 else kwargs.get("other")
    if name == "getitem":
        return _taken_out(given)
    if name == "setitem":
        return _picked(given)
    if type(given) is int:  # nearly always, and asking for a tensor is slow
        return (given % dims,) if dims else ()
    if isinstance(given, Tensor):
        return ()  # `max(a, b)` compares two tensors
    if given is None or isinstance(given, bool):  # `std(x, False)`: no axis
        if name in ALONG_THE_FIRST:
            return (0,)
        if name in LEFT_TO_CHOOSE and dims:
            return (0,) if dims in (1, 3) else (1,)
        return tuple(range(dims)) if name in REDUCTIONS else ()
    if not isinstance(given, tuple | list) or not all(type(axis) is int for axis in given):
        return ()
    return tuple(sorted({axis % dims for axis in given})) if dims else ()


def _of_recurrence(args: Any) -> tuple[int, ...]:
    """The weights are the third argument, unless the sequences are packed; whether samples come first, the last."""
    if len(args) != 9 or not isinstance(args[2], tuple | list):
        return ()
    return (int(args[8] is True),)


def _taken_out(index: Any) -> tuple[int, ...]:
    """The axes of which `x[:, 0]` takes one element; nothing where axes are added or picked by tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(type(part) in (int, slice) for part in parts):
        return ()
    return tuple(axis for axis, part in enumerate(parts) if type(part) is int)


def place_of(args: Any, inputs: list[Tensor]) -> tuple[int, ...]:
    """The axis and the place along it that `x[t]` or `x[:, t]` reads or writes; nothing where there are several."""
    if len(args) < 2 or not inputs or args[0] is not inputs[0]:
        return ()
    index = args[1]
    if type(index) is int:
        axis = 0
    elif type(index) is tuple and [type(part) for part in index].count(int) == 1:
        axis = next(axis for axis, part in enumerate(index) if type(part) is int)
        if any(part != WHOLE for part in index if type(part) is slice) or not _taken_out(index):
            return ()
        index = index[axis]
    else:
        return ()
    return (axis, index % inputs[0].shape[axis]) if axis < inputs[0].dim() and inputs[0].shape[axis] else ()


def _picked(index: Any) -> tuple[int, ...]:
    """The axis that the one tensor of `x[:, index] = …` runs along; nothing where axes are added or taken out."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(type(part) is slice or isinstance(part, Tensor) for part in parts):
        return ()
    along = tuple(axis for axis, part in enumerate(parts) if type(part) is not slice)
    return along if len(along) == 1 else ()
