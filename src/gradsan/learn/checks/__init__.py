"""Two functions per exercise: one compares values, one drives the answer under the sanitizer."""

from __future__ import annotations

# Importing a module registers its checks.
from gradsan.learn.checks import agents, autograd, backward, clipping, intact, missing, parameters, sac, views
from gradsan.learn.checks.registry import DRIVES, VALUES

__all__ = [
    "DRIVES",
    "VALUES",
    "agents",
    "autograd",
    "backward",
    "clipping",
    "intact",
    "missing",
    "parameters",
    "sac",
    "views",
]
