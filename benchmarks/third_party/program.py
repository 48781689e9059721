"""What every program here does: train one algorithm, then say what the weights are, to the last bit."""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

Algorithm = Callable[[], Iterable[torch.Tensor]]


def main(algorithms: dict[str, Algorithm]) -> None:
    """`python with_LIBRARY.py ALGORITHM RESULT.json`; without arguments, the names of the algorithms."""
    if len(sys.argv) == 1:
        print("\n".join(algorithms))
        return
    name, result = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    seed(0)
    updates = [0]
    hook = register_optimizer_step_post_hook(lambda *_: updates.__setitem__(0, updates[0] + 1))
    started = time.process_time()  # of this process alone: whatever else the machine does
    weights = list(algorithms[name]())
    seconds = time.process_time() - started
    hook.remove()
    found = {"updates": updates[0], "weights": digest(weights), "random": random_state(), "seconds": seconds}
    result.write_text(json.dumps(found))


def seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


def digest(tensors: Iterable[torch.Tensor]) -> str:
    """The bits of all tensors; that there are some, and that they are numbers, is part of the bargain."""
    found, count = hashlib.sha256(), 0
    for tensor in tensors:
        plain = tensor.detach().contiguous()
        assert plain.isfinite().all()
        found.update(plain.numpy().tobytes())
        count += plain.numel()
    assert count
    return found.hexdigest()


def random_state() -> str:
    state = (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())
    return hashlib.sha256(repr(state).encode()).hexdigest()
