"""Which operation made the first non-finite value of a forward that nobody traced, read from what its nodes keep."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gradsan.observe.ops.inspect_op import bad_value
from gradsan.record.events import BadValue

# Those that keep what they were given: computed once more, it says what came out.
FROM_INPUTS: dict[str, Callable[..., Tensor]] = {
    "log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "acos": torch.acos,
    "asin": torch.asin, "atanh": torch.atanh, "acosh": torch.acosh, "lgamma": torch.lgamma,
}  # fmt: skip
OVERFLOWS = {"exp", "expm1", "exp2"}  # they keep the result: what is infinite began here, what is NaN did not
OUT_OF_DOMAIN = {"sqrt", "rsqrt", "reciprocal"}


def began_here(name: str, inputs: list[Tensor], results: list[Tensor]) -> BadValue | None:
    """What an operation was given, or has made, where finite numbers went in, for all one can tell, and others came
    out."""
    again = FROM_INPUTS.get(name)
    if again is not None and len(inputs) == 1:
        bad = torch.isfinite(inputs[0]) & ~torch.isfinite(again(inputs[0]))
        return bad_value(name, inputs, bad) if bool(bad.any()) else None
    if name not in OVERFLOWS | OUT_OF_DOMAIN or len(results) != 1:
        return None
    bad = torch.isinf(results[0]) if name in OVERFLOWS else ~torch.isfinite(results[0])
    return bad_value(name, [], bad, results) if bool(bad.any()) else None
