"""Whether a mutant is a bug: what its optimizer steps consume, against the original's."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from gradsan_benchmark import forks
from gradsan_benchmark.recorder import PROJECTIONS, record

UPDATES = 2000
REAL, EQUIVALENT, LATENT, INVALID = "real", "equivalent", "latent", "invalid"
# A relative difference below this, for this many steps from the first that differs, is one of the last digits.
ROUNDING, WINDOW = 1e-4, 10
# The first step that differs was made with the same weights: single precision, and some hundred sums of it, are off by
# less. What is in between hardly counts (a small bonus), and is another gradient all the same.
LAST_DIGITS = 1e-5

# What autograd itself says when a gradient cannot be computed; everything else that is raised is no bug of gradients.
AUTOGRAD = re.compile(
    "modified by an inplace operation|does not require grad|through the graph a second time"
    "|implicitly created only for scalar|leaf Variable that requires grad|leaf variable that requires grad"
    "|on Tensor that requires grad|support the deepcopy protocol|can't optimize a non-leaf"
    "|appears to not have been used in the graph|[Ii]nference tensor|is a view and is being modified inplace"
    "|view was created inside|output of a function that returns multiple views|optimizer got an empty parameter list"
    "|backward was already freed|have already been freed|the derivative for .* is not implemented"
    "|element 0 of tensors|only Tensors of floating point dtype can require gradients"
    "|unscale_\\(\\) has already been called|No inf checks were recorded",
    re.DOTALL,
)


class Verdict(NamedTuple):
    kind: str
    reason: str


def run(program: Path, words: tuple[str, ...], limit: float, updates: int = UPDATES) -> dict[str, Any] | None:
    """What the recorder wrote; None where the program did not end in time or ended without a word."""
    with tempfile.TemporaryDirectory() as place:
        result = Path(place, "record.json")

        def work() -> None:
            record(str(program), words, result, updates)

        done = forks.call(work, program.parent, limit)
        if not result.exists():
            return None
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        found["seconds"], found["in_time"] = done.seconds, done.in_time
        return found


def suitable(first: dict[str, Any] | None, second: dict[str, Any] | None) -> str:
    """Why a program cannot be an original; "" where it can."""
    if first is None or second is None:
        return "does not end in time, or ends its process"
    if first["error"]:
        return f"raises {first['error']['type']}: {first['error']['text'][:80]}"
    if not first["steps"]:
        return "no optimizer of torch.optim steps"
    if first["steps"] != second["steps"]:
        return "two runs with the same seeds differ"
    return ""


def classify(original: dict[str, Any], mutant: dict[str, Any] | None, guard: bool = False) -> Verdict:
    """Real: some step differs. Latent: none does in this run, but the mutant computes or keeps more, or has lost
    a guard that did not act. Equivalent: nothing differs. Invalid: an error that is none of autograd's."""
    if mutant is None:
        return Verdict(INVALID, "did not end in time, or ended its process")
    error = mutant["error"]
    if error:
        if AUTOGRAD.search(error["text"]):
            return Verdict(REAL, f"autograd error: {error['text'].splitlines()[0][:120]}")
        return Verdict(INVALID, f"{error['type']}: {error['text'][:120]}")
    mine, theirs = original["steps"], mutant["steps"]
    for place, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a["optimizer"] != b["optimizer"] or a["digest"] != b["digest"]:
            verdict = _differing(mine[place:], theirs[place:], place)
            if verdict.kind == EQUIVALENT and original["backwards"] != mutant["backwards"]:
                # A term that is cut and hardly counts is not the rounding of another order of operations.
                return Verdict(LATENT, f"{verdict.reason}, by other backward passes")
            return verdict
    if len(mine) != len(theirs):
        return Verdict(REAL, f"{len(theirs)} steps in place of {len(mine)}")
    if len(mine) >= UPDATES:
        return Verdict(INVALID, f"the same for {len(mine)} steps; what comes after was not looked at")
    if original["backwards"] != mutant["backwards"]:
        return Verdict(LATENT, "the same steps by larger or other backward passes")
    if sum(mutant["kept"]) > sum(original["kept"]):
        return Verdict(LATENT, "the same steps, and more graphs kept alive")
    if guard:
        return Verdict(LATENT, "the same steps: what was taken away did not act in this run")
    return Verdict(EQUIVALENT, "every step consumes the same bits")


def _differing(mine: list[dict[str, Any]], theirs: list[dict[str, Any]], place: int) -> Verdict:
    largest = 0.0
    for a, b in list(zip(mine, theirs, strict=False))[:WINDOW]:
        if a["optimizer"] != b["optimizer"]:
            return Verdict(REAL, f"step {place + 1} is another optimizer's")
        largest = max(largest, distance(a["sketch"], b["sketch"]))
    first = distance(mine[0]["sketch"], theirs[0]["sketch"])
    if len(mine) == len(theirs) and first > LAST_DIGITS and largest < ROUNDING:
        return Verdict(LATENT, f"differs by too much for a rounding ({first:.0e}) from step {place + 1} on")
    if len(mine) == len(theirs) and largest < ROUNDING:
        return Verdict(EQUIVALENT, f"differs in the last digits ({largest:.0e}) from step {place + 1} on")
    return Verdict(REAL, f"step {place + 1} consumes another gradient or other weights ({largest:.0e})")


def distance(a: list[float], b: list[float]) -> float:
    """The larger of the relative distances of weights and of gradients."""
    found = 0.0
    for start in (0, PROJECTIONS + 1):
        x, y = a[start : start + PROJECTIONS], b[start : start + PROJECTIONS]
        size = math.sqrt(max(a[start + PROJECTIONS], b[start + PROJECTIONS], 0.0))
        apart = max(abs(p - q) for p, q in zip(x, y, strict=True))
        relative = 0.0 if apart == 0 else apart / size if size > 0 else math.inf
        found = max(found, relative) if math.isfinite(relative) else math.inf
    return found
