"""What a program's optimizer steps consume, in plain PyTorch; runs in the process of the program.

For each of the first steps: a digest of the parameters that the optimizer owns and of their gradients, and a few
random projections of both, by which a difference in the last digits is told from one that matters.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import sys
import traceback
import warnings
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from gradsan_benchmark.forks import script

PROJECTIONS = 3
MOST_NODES = 20_000
LOOKS = {4, 8, 16, 32, 64}  # at which backwards and steps it is counted what lives


class Recorder:
    def __init__(self, result: Path, updates: int) -> None:
        self.result, self.updates = result, updates
        self.steps: list[dict[str, Any]] = []
        self.backwards: list[list[int]] = []
        self.kept: list[int] = []
        self.warned: list[dict[str, Any]] = []
        # Not by `id`, which an optimizer that is gone leaves to the next.
        self.order: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self.numbers = count()
        self.vectors: dict[tuple[int, int], Any] = {}

    def install(self) -> None:
        import torch
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: self.before_step(optimizer))
        original, recorder = torch.autograd.backward, self

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            kept = kwargs.get("retain_graph", args[1] if len(args) > 1 else None)
            recorder.before_backward(tensors, bool(kept))
            original(tensors, *args, **kwargs)

        torch.autograd.backward = backward
        sys.modules["torch.autograd"].backward = backward  # type: ignore[attr-defined]
        warnings.showwarning = self.on_warning  # type: ignore[assignment]

    def on_warning(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        text = str(message).splitlines()[0] if str(message) else ""
        self.warned.append({"file": filename, "line": lineno, "kind": category.__name__, "text": text})

    def before_backward(self, tensors: Any, kept: bool) -> None:
        import torch

        if len(self.backwards) < self.updates:
            roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
            found = walk([t.grad_fn for t in roots if getattr(t, "grad_fn", None) is not None])
            self.backwards.append([*found, int(kept)])
            # A state that a rollout carries on is there now, and may be gone before the step.
            if len(self.backwards) in LOOKS:
                self.kept.append(graphs_alive())

    def before_step(self, optimizer: Any) -> None:
        if optimizer not in self.order:
            self.order[optimizer] = next(self.numbers)
        number = self.order[optimizer]
        digest, sketch = hashlib.blake2b(digest_size=12), [0.0] * (2 * PROJECTIONS + 2)
        index = 0
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.add(parameter.detach(), index, digest, sketch, 0)
                if parameter.grad is None:
                    digest.update(b"none")
                else:
                    self.add(parameter.grad.detach(), index, digest, sketch, PROJECTIONS + 1)
                index += 1
        self.steps.append({"optimizer": number, "digest": digest.hexdigest(), "sketch": sketch})
        if len(self.steps) in LOOKS:
            self.kept.append(graphs_alive())
        if len(self.steps) >= self.updates:
            self.write(None)
            os._exit(0)

    def add(self, tensor: Any, index: int, digest: Any, sketch: list[float], place: int) -> None:
        import torch

        plain = (tensor.to_dense() if tensor.is_sparse else tensor).contiguous().reshape(-1)
        digest.update(plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b"")
        wide = plain.double()
        key = (index, wide.numel())
        if key not in self.vectors:
            own = torch.Generator().manual_seed(index + 1)
            self.vectors[key] = torch.randn(PROJECTIONS, wide.numel(), generator=own, dtype=torch.float64)
        for n, value in enumerate((self.vectors[key] @ wide).tolist()):
            sketch[place + n] += value
        sketch[place + PROJECTIONS] += float(wide.square().sum())

    def write(self, error: BaseException | None) -> None:
        found = {
            "steps": self.steps,
            "backwards": self.backwards,
            "kept": self.kept,
            "warnings": self.warned,
            "error": describe(error),
        }
        self.result.write_text(json.dumps(found), encoding="utf-8")


def walk(roots: list[Any]) -> tuple[int, int, int]:
    """How many nodes lie behind these, how many of them are leaves that take a gradient, and how many numbers the
    gradients of all of them hold: a matrix of pairs in place of a vector is more work by the same nodes."""
    seen, waiting, leaves, size = set(roots), list(roots), 0, 0
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        leaves += hasattr(node, "variable")
        size += sum(math.prod(part.shape) for part in getattr(node, "_input_metadata", ()))
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return len(seen), leaves, size


def graphs_alive() -> int:
    """The nodes behind all tensors that live now: what a program keeps and should not."""
    import torch

    found = [o for o in gc.get_objects() if type(o) in (torch.Tensor, torch.nn.Parameter)]
    return walk([t.grad_fn for t in found if t.grad_fn is not None])[0]


def describe(error: BaseException | None) -> dict[str, Any] | None:
    if error is None:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    places = [{"file": frame.filename, "line": frame.lineno} for frame in frames]
    return {"type": type(error).__name__, "text": str(error)[:2000], "frames": places}


def record(path: str, words: tuple[str, ...], result: Path, updates: int) -> None:
    """Runs the program under a recorder and writes what it saw."""
    recorder = Recorder(result, updates)
    recorder.install()
    error: BaseException | None = None
    try:
        script(path, *words)
    except SystemExit:
        pass
    except BaseException as raised:
        error = raised
    recorder.write(error)
