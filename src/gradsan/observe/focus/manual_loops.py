"""Where a loop that updates its parameters by hand comes round: no optimizer says so."""

from __future__ import annotations

PATIENCE, PATIENCE_WITH_OPTIMIZERS = 64, 4_096  # backwards without a step


class ManualLoops:
    def __init__(self) -> None:
        self._cleared = False  # whether gradients were, since the last turn
        self._lines: dict[
            int, int
        ] = {}  # of backwards since then, with a stamp of the weights that they reached
        self._backwards = 0
        self._ever_stepped = False

    def gradients_cleared(self) -> None:
        self._cleared = True

    def stepped(self) -> None:
        self._ever_stepped = True
        self._begin()

    def comes_round(self, line: int, has_optimizers: bool, weights: int = 0) -> bool:
        """A backward is about to run on this line: does it begin a new turn? It does where the same line has
        run before and the gradients were cleared or the weights were written since. Who does neither, or has an
        optimizer that might still step (accumulation over a whole episode), gets more time."""
        before = self._lines.get(line)
        self._lines.setdefault(line, weights)
        self._backwards += 1
        patience = PATIENCE_WITH_OPTIMIZERS if has_optimizers else PATIENCE
        updated = self._cleared or before != weights
        over = before is not None and ((updated and not self._ever_stepped) or self._backwards > patience)
        if over:
            self._begin()
            self._lines[line] = weights
        return over

    def _begin(self) -> None:
        self._cleared = False
        self._lines.clear()
        self._backwards = 0
