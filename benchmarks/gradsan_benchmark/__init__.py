"""A benchmark of gradient bugs in reinforcement learning, with an oracle: see README.md."""

__version__ = "1.0"
