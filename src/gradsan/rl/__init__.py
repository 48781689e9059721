"""Reference agents whose gradients are right by construction, and the losses they are made of."""

from gradsan.rl.contracts import Contract, Contracts
from gradsan.rl.frozen import frozen

__all__ = ["Contract", "Contracts", "frozen"]
