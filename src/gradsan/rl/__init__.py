"""Reference agents whose gradients are right by construction, and the losses they are made of."""

from gradsan.rl.contracts import Contract, Contracts
from gradsan.rl.without_gradient import without_gradient

__all__ = ["Contract", "Contracts", "without_gradient"]
