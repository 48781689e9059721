# 1.02  The slope of x² at 2
#
# If y = x², then at x = 2 a small step in x changes y about four times as much:
# the derivative is 2x = 4. Autograd finds such slopes for any chain of
# operations. `y.backward()` walks from y back to every leaf it was made of and
# writes the slope into the leaf's `.grad`.
#
# Your task: `slope` gets any function and must give its slope at one point.
# Try x² at 2 first: run this file with `python`.

import torch


def slope(f, at: float) -> float:
    """The derivative of `f` at the point `at`, found by autograd."""
    x = torch.tensor(at, requires_grad=True)
    y = f(x)
    # TODO: walk back from y, then return what arrived at x (as a float)
    return y.item()


if __name__ == "__main__":
    print("slope of x**2 at 2:", slope(lambda x: x**2, 2.0))
