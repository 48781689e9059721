# 1.03  The gradient of xᵀx
#
# For a vector x, the function xᵀx = x₁² + x₂² + … is still one number, but it
# has a slope for each element. Together they form the gradient, a vector of the
# same shape as x. This is the shape of all training: one loss, one slope for
# each weight.
#
# A function that computes a gradient should not leave traces on its argument:
# whoever called it does not expect `x.requires_grad` to flip or `x.grad` to
# appear. `x.detach().clone()` gives you a tensor of your own.
#
# Your task: return the gradient of xᵀx and leave the caller's x as it was.

import torch


def dot_gradient(x: torch.Tensor) -> torch.Tensor:
    """The gradient of xᵀx at `x`, found by autograd; `x` itself stays untouched."""
    x.requires_grad_()  # TODO: this marks the caller's tensor; work on one of your own
    y = x @ x
    # TODO: get the gradient and return it
    return y


if __name__ == "__main__":
    print("gradient of x·x at (1, 2, 3):", dot_gradient(torch.tensor([1.0, 2.0, 3.0])))
