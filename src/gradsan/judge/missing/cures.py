"""What to change where a cut keeps a gradient away, said of the very call that cuts."""

from __future__ import annotations

from gradsan.judge.lines.callers import NEW_TENSORS
from gradsan.judge.missing.cuts import Cut

NUMBERS = frozenset({"item", "float", "tolist", "numpy", "array"})


def cure(cut: Cut) -> str:
    """Nothing where the cut is no single call that can be taken away."""
    op = cut.op
    for mode in ("no_grad", "inference_mode"):
        if mode in op.tags:
            return f"compute it outside of `torch.{mode}()`, which is for targets, old log-probabilities and acting"
    if op.live or cut.choice:
        return ""
    if op.name in ("detach", "data"):
        call = ".data" if op.name == "data" else ".detach()"
        return (
            f"leave `{call}` out here; only targets, advantages and old log-probabilities are to be constants"
        )
    if op.name in NUMBERS:
        return "keep the tensor itself, not its numbers, and join several with `torch.stack`"
    if op.name in NEW_TENSORS:
        return f"join the tensors themselves with `torch.stack` or `torch.cat` instead of `torch.{op.name}`"
    return "pass `create_graph=True` to `torch.autograd.grad`" if op.name == "grad" else ""
