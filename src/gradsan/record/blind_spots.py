"""What the observer may be unable to look at, in the words of the report."""

from __future__ import annotations

SAVED_TENSORS = "tensors that saved-tensor hooks keep for backward (checkpointing, offloading)"
COMPILED = "code inside torch.compile that could not be run eagerly"
TRANSFORMED = "values inside torch.func transforms"
