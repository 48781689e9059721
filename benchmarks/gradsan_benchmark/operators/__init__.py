"""The operators by family; importing a file registers what it holds."""

from gradsan_benchmark.operators import (  # noqa: F401
    cuts,
    excluded,
    in_place,
    leaks,
    meaning,
    networks,
    order,
    scaling,
    shapes,
    sync,
)
from gradsan_benchmark.operators.base import OPERATORS, Operator

__all__ = ["OPERATORS", "Operator"]
