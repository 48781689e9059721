"""Shapes that meet in a loss, with letters for sizes that no parameter has."""

from __future__ import annotations

from collections.abc import Iterable

from gradsan.judge.provenance import Provenance, params_of
from gradsan.picture.reduction import IsHome
from gradsan.record.events import Op, ValueId

LETTERS = "BTNMKLPQRSUVWXYZ"
JOINS = {
    "add", "sub", "mul", "div", "minimum", "maximum", "min", "max", "where", "mse_loss", "smooth_l1_loss", "l1_loss",
    "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "nll_loss", "cross_entropy",
    "gaussian_nll_loss", "kl_div",
}  # fmt: skip
INSIDE = {"distribution", "log_prob", "entropy", "rsample", "sample", "kl_divergence"}  # PyTorch's own affair
ALONG = {"sum", "mean", "softmax", "log_softmax", "logsumexp", "std", "var", "max", "min", "amax", "amin"}


class Symbols:
    """One letter for each size, in the order in which they are met; sizes of parameters stay numbers."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self._known = {0, 1, *sizes}
        self._letters: dict[int, str] = {}

    def shape(self, of: tuple[int, ...]) -> str:
        return "[" + ", ".join(self._size(size) for size in of) + "]"

    def _size(self, size: int) -> str:
        if size in self._known:
            return str(size)
        number = len(self._letters)
        return self._letters.setdefault(size, LETTERS[number] if number < len(LETTERS) else f"N{number}")


def shapes(graph: Provenance, ops: dict[ValueId, Op], sizes: set[int], is_home: IsHome) -> set[str]:
    """What is added, multiplied or compared with what, and along which axis sums and softmaxes run, beyond the
    networks: where the operations of the loss itself begin. Of constants, only what its own function makes."""
    symbols, found = Symbols(sizes), set()
    for nid in sorted(ops, reverse=True):
        op = ops[nid]
        inputs = list(graph.inputs(op))
        if not (op.live or is_home(op.site)) or any(params_of(i) for i in inputs) or INSIDE & set(op.tags):
            continue
        given = [i.shape for i in inputs if i.shape]
        if op.name in JOINS and len(given) > 1 and op.live:
            one, other = sorted(map(symbols.shape, given[:2]))
            found.add(f"joins {one} and {other}")
        elif op.name in ALONG and len(given) == 1 and 0 < len(op.facts.axes) < len(given[0]):
            axes = ", ".join(map(str, op.facts.axes))
            found.add(f"runs along axis {axes} of {symbols.shape(given[0])}")
    return found
