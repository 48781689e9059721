import torch


def partials(f, x: float, y: float) -> tuple[float, float]:
    """The slopes of f(x, y) in the direction of x and in the direction of y."""
    a = torch.tensor(x, requires_grad=True)
    b = torch.tensor(y, requires_grad=True)
    f(a, b).backward()
    return a.grad.item(), b.grad.item()


if __name__ == "__main__":
    print("slopes of x²y at (2, 3), should be (12, 4):", partials(lambda x, y: x**2 * y, 2.0, 3.0))
