"""Which memory an operation writes: read off its schema, as PyTorch itself declares it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch

# The schemas of these say nothing of the running statistics that they update while training.
UNDECLARED = ("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_batch_norm_impl_index")
RUNNING = ("running_mean", "running_var")


@functools.lru_cache(maxsize=4096)
def _written_arguments(func: Any) -> tuple[tuple[int, str], ...]:
    arguments = list(enumerate(func._schema.arguments))
    if func._schema.name.removeprefix("aten::") in UNDECLARED:
        return tuple((i, a.name) for i, a in arguments if a.name in RUNNING)
    return tuple((i, a.name) for i, a in arguments if a.alias_info is not None and a.alias_info.is_write)


def written(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], statistics: bool = True
) -> Iterator[torch.Tensor]:
    """The tensors that this call of an operator writes into; without `statistics`, only those that it
    declares and that autograd therefore counts as written."""
    for index, name in _written_arguments(func):
        value = args[index] if index < len(args) else kwargs.get(name)
        if name in RUNNING and not (statistics and _is_training(func, args, kwargs)):
            continue
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, torch.Tensor):
                yield item


def _is_training(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    index = next(i for i, a in enumerate(func._schema.arguments) if a.name in ("training", "train"))
    return bool(args[index] if index < len(args) else kwargs.get("training"))


def operation(func: Any) -> str:
    """`aten::add_` → "add_"."""
    return str(func._schema.name).split("::")[-1]
