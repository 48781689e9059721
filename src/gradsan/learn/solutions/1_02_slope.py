import torch


def slope(f, at: float) -> float:
    """The derivative of `f` at the point `at`, found by autograd."""
    x = torch.tensor(at, requires_grad=True)
    y = f(x)
    y.backward()
    return x.grad.item()


if __name__ == "__main__":
    print("slope of x**2 at 2:", slope(lambda x: x**2, 2.0))
