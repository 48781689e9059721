"""gradsan: the gradient sanitizer for PyTorch reinforcement learning."""

__version__ = "0.1.0"
