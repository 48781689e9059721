"""Numbers and errors, said so that a learner can act on them."""

from __future__ import annotations

import traceback
from pathlib import Path
from textwrap import shorten

import torch

# The first words of PyTorch's message, and what they mean to someone who reads them for the first time.
MEANINGS = {
    "element 0 of tensors does not require grad": (
        "backward() found nothing to follow: no operation on the way to this value was recorded. "
        "Either no input had requires_grad=True, or the path was cut."
    ),
    "one of the variables needed for gradient computation has been modified": (
        "backward() needed a value that was overwritten after it had been used. "
        "Look for an in-place write: `+=`, `x[...] = `, or a method that ends in `_`."
    ),
    "Trying to backward through the graph a second time": (
        "The graph was freed by an earlier backward(). Something used here still hangs on that old graph."
    ),
    "grad can be implicitly created only for scalar outputs": (
        "backward() starts from one number, and this tensor holds several."
    ),
    "a leaf Variable that requires grad": (
        "A tensor that autograd tracks was overwritten in place, and autograd cannot record that. "
        "An update is not part of the computation: say so with torch.no_grad()."
    ),
    "a view of a leaf Variable that requires grad": (
        "A part of a tensor that autograd tracks was overwritten in place. "
        "An update is not part of the computation: say so with torch.no_grad()."
    ),
}


def exception(error: BaseException, path: Path) -> str:
    """The error, the learner's line that raised it, and what it means."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f"Line {frames[-1].lineno} (`{_code(frames[-1])}`)" if frames else f"The check of {path.name}"
    text = str(error).strip().splitlines()
    first = text[0] if text else ""
    meaning = next((words for start, words in MEANINGS.items() if start in first), "")
    said = (
        f"{type(error).__name__}: {shorten(first, 160, placeholder=' …')}" if first else type(error).__name__
    )
    return f"{where} raised {said}" + (f"\n{meaning}" if meaning else "")


def numbers(value: object) -> str:
    """A value in few characters: learners compare two of these by eye."""
    if isinstance(value, torch.Tensor):
        if value.numel() > 6:
            shape = "×".join(map(str, value.shape))
            return f"a {shape} tensor starting {numbers(value.detach().flatten()[:3])}"
        return _rounded(value.detach().tolist())
    return _rounded(value) if isinstance(value, int | float | list) else repr(value)[:80]


def _rounded(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_rounded(item) for item in value) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _code(frame: traceback.FrameSummary) -> str:
    return (frame.line or "").partition("  #")[0]
