import torch


def slopes(f, states: torch.Tensor) -> torch.Tensor:
    """The slope of `f` at each element of `states`; `f` works element by element."""
    x = states.detach().clone().requires_grad_()
    y = f(x)
    y.sum().backward()
    return x.grad


if __name__ == "__main__":
    print("slopes of x² at 1, 2, 3:", slopes(lambda x: x**2, torch.tensor([1.0, 2.0, 3.0])))
