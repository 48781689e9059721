# 1.09  backward(gradient=…)
#
# Instead of summing first, you can tell backward() how much each output counts:
# `y.backward(gradient=weights)` computes the gradient of Σ weights[i] · y[i].
# With ones it is the plain sum of the last exercise.
#
# The policy gradient has exactly this form. Each action's log-probability is an
# output, and its advantage, how much better than expected it turned out, is the
# weight: ∇ Σ advantage[t] · log π(a[t]).
#
# Your task: weigh the outputs. The weights are plain numbers to autograd.

import torch


def weighted_gradient(f, theta: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The gradient of Σ weights[i] · f(theta)[i] for the parameter vector `theta`."""
    theta = theta.detach().clone().requires_grad_()
    y = f(theta)
    y.backward(gradient=torch.ones_like(y))  # TODO: all outputs count the same here
    return theta.grad


if __name__ == "__main__":
    print(
        "should be (2, 60):",
        weighted_gradient(lambda t: t**2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 10.0])),
    )
