"""What can go wrong in training, each as one sentence that says what to do."""

from __future__ import annotations


class RlError(Exception):
    """A fault with a message made for the user: commands print it without a traceback."""


class ShapeError(RlError, ValueError):
    """A loss was given tensors whose shapes do not belong together."""


class GraphError(RlError, ValueError):
    """A value that must be constant has a graph: gradient would flow into it."""


class ContractError(RlError, AssertionError):
    """A loss reaches what its contract avoids, or misses what it must reach."""


class ConfigError(RlError, ValueError):
    """Hyperparameters that do not go together, or do not fit the environment."""


class EnvironmentFault(RlError):
    """The environment is unknown, unsupported, raised, or returned nonsense."""


class Diverged(RlError):
    """What was learned is no longer made of numbers."""


class CheckpointError(RlError):
    """A checkpoint is missing, truncated, or belongs to another run."""


def in_a_line(error: BaseException) -> str:
    """What an exception says, as the end of a sentence of ours."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else "it does not say why"
    if text.endswith(":") and len(lines) > 1:
        text = f"{text} {lines[1]}"
    if isinstance(error, KeyError):
        text = f"{text} is missing"
    return text if text[-1] in ".?!" else f"{text}."
