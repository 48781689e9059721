"""What a digest of a tensor's contents says, with and without PyTorch's own hash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradsan.observe.ops import writes

VALUES = [torch.ones(3), torch.tensor([1.0, float("nan")]), torch.tensor([float("inf"), -float("inf")])]


@pytest.mark.parametrize("digest", [writes._hash, writes._sum], ids=["hash", "sum"])
@pytest.mark.parametrize("tensor", VALUES, ids=["ones", "nan", "inf - inf"])
def test_the_same_contents_have_the_same_digest(
    tensor: torch.Tensor, digest: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "_hash", digest)
    assert writes.content_of(tensor) == writes.content_of(tensor.clone())
    assert writes.content_of(tensor) != writes.content_of(torch.full((3,), 7.0))


def test_every_nan_has_the_same_digest() -> None:
    one, other = float("nan"), float("nan")  # two objects, both alive: Python's own hash tells them apart
    assert writes._digest(one) == writes._digest(other)
    assert writes._digest(one) != writes._digest(2.0)
