"""What PyTorch's autograd says when it refuses, told apart by the words that stay the same between releases."""

from __future__ import annotations

SAVED_TENSOR_CHANGED = "modified by an inplace operation"
LEAF_CHANGED = "leaf Variable that requires grad"
COPIED = "Only Tensors created explicitly by the user"
PICKLED = "refusing to serialize non-leaf tensor"
NO_GRAPH = "does not require grad and does not have a grad_fn"
GRAPH_FREED = "backward through the graph a second time"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"

_KINDS = {
    SAVED_TENSOR_CHANGED: "saved-tensor-changed",
    LEAF_CHANGED: "leaf-mutated",
    COPIED: "graph-tensor-copied",
    PICKLED: "graph-tensor-copied",
    NO_GRAPH: "no-graph",
    GRAPH_FREED: "graph-freed",
    NOT_SCALAR: "not-scalar",
}
OPERATIONS = ("leaf-mutated", "graph-tensor-copied")  # raised by an operation, the others by backward


def kind_of(message: str) -> str:
    """ "" where it is none of these."""
    return next((kind for text, kind in _KINDS.items() if text in message), "")
