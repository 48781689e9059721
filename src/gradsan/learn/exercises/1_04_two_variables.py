# 1.04  Two variables
#
# One backward() serves every leaf at once: each gets the slope of the result in
# its own direction, with the others held still. A leaf that was not marked gets
# nothing: its `.grad` stays None, and no error tells you.
#
# In RL the two could be the mean and the spread of a policy, or the weights of
# an actor and those of a critic.
#
# Your task: return both slopes of f(x, y).

import torch


def partials(f, x: float, y: float) -> tuple[float, float]:
    """The slopes of f(x, y) in the direction of x and in the direction of y."""
    a = torch.tensor(x, requires_grad=True)
    b = torch.tensor(y)  # TODO: why would b.grad stay None?
    f(a, b).backward()
    return a.grad.item(), 0.0  # TODO: the second slope is not always zero


if __name__ == "__main__":
    print("slopes of x²y at (2, 3), should be (12, 4):", partials(lambda x, y: x**2 * y, 2.0, 3.0))
