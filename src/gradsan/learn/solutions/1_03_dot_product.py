import torch


def dot_gradient(x: torch.Tensor) -> torch.Tensor:
    """The gradient of xᵀx at `x`, found by autograd; `x` itself stays untouched."""
    x = x.detach().clone().requires_grad_()
    y = x @ x
    y.backward()
    return x.grad


if __name__ == "__main__":
    print("gradient of x·x at (1, 2, 3):", dot_gradient(torch.tensor([1.0, 2.0, 3.0])))
