# 1.05  Gradients add up
#
# backward() does not *set* `.grad`, it *adds* to it. Two calls on two losses
# leave the gradient of their sum. That is deliberate: a batch too large for
# memory can be fed in pieces, and an agent with several losses can send each
# of them back separately.
#
# Your task: the function below should return the slope of f + g. Somebody has
# thrown the first half away. Keep one backward() per loss.

import torch


def slope_of_sum(f, g, at: float) -> float:
    """The slope of f(x) + g(x) at the point `at`, with one backward() for each."""
    x = torch.tensor(at, requires_grad=True)
    f(x).backward()
    x.grad = None  # TODO: what does this line do to the slope of f?
    g(x).backward()
    return x.grad.item()


if __name__ == "__main__":
    print("slope of x² + 3x at 2, should be 7:", slope_of_sum(lambda x: x**2, lambda x: 3 * x, 2.0))
