import torch


def slope_of_sum(f, g, at: float) -> float:
    """The slope of f(x) + g(x) at the point `at`, with one backward() for each."""
    x = torch.tensor(at, requires_grad=True)
    f(x).backward()
    g(x).backward()
    return x.grad.item()


if __name__ == "__main__":
    print("slope of x² + 3x at 2, should be 7:", slope_of_sum(lambda x: x**2, lambda x: 3 * x, 2.0))
