"""A digest of all that a program left behind: tensors, networks, optimizers, plain values and random states."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


def seed() -> None:
    """Called before its first line: what the program itself does not seed is the same in every run."""
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)


def write(variables: dict[str, Any]) -> None:
    """Called by the last line of every compared program, for whoever started it."""
    if path := os.environ.get("RELIABILITY_STATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(digest(variables))


def digest(variables: dict[str, Any]) -> str:
    found = hashlib.sha256()
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        for name, value in sorted(variables.items()):
            if not name.startswith("_"):
                found.update(name.encode())
                for part in _parts(value):
                    found.update(part)
        found.update(torch.get_rng_state().numpy().tobytes())
    found.update(repr((random.getstate(), np.random.get_state()[1].tolist())).encode())
    return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        yield from _tensor(value)
    elif issubclass(kind, torch.nn.Module):
        yield from _parts(dict(torch.nn.Module.named_parameters(value)))
        yield from _parts(dict(torch.nn.Module.named_buffers(value)))
    elif issubclass(kind, torch.optim.Optimizer):
        yield from _parts(value.state_dict())
    elif kind is dict:
        for key, item in value.items():
            yield repr(key).encode() if isinstance(key, str | int) else b""
            yield from _parts(item)
    elif kind in (list, tuple):
        for item in value:
            yield from _parts(item)
    elif kind in (int, float, str, bool):
        yield repr(value).encode()
    elif kind.__module__ == "__main__" and "__dict__" in dir(kind):
        yield from _parts(object.__getattribute__(value, "__dict__"))


def _tensor(value: torch.Tensor) -> Iterator[bytes]:
    plain = torch.Tensor.detach(value)
    if (
        plain.is_nested
        or plain.is_meta
        or type(plain).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
    ):
        yield repr(plain.dim()).encode()  # such programs print what matters
        return
    dense = plain.to_dense().as_subclass(torch.Tensor).resolve_conj()
    yield dense.contiguous().flatten().view(torch.uint8).numpy().tobytes()
    if value.is_leaf and (grad := torch.Tensor.grad.__get__(value)) is not None:
        yield from _tensor(grad)
