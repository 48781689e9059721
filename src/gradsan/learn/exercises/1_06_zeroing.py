# 1.06  Start each step from zero
#
# The other side of the coin: in a training loop each step wants the gradient
# of *this* step. If nobody clears `.grad`, step 10 is made of the gradients of
# ten different places, and the point runs past the valley like a ball with too
# much momentum. Nothing is raised; the training is only worse.
#
# Clear it with `x.grad = None` (or `x.grad.zero_()`), or, once you have an
# optimizer, with `optimizer.zero_grad()`.
#
# `torch.no_grad()` around the update tells autograd that moving x is not part
# of the computation. Exercise 2.06 comes back to it.
#
# Your task: make every step use its own gradient only.

import torch


def descend(f, start: float, steps: int, lr: float) -> float:
    """Walk downhill on `f` from `start`: `steps` steps of plain gradient descent."""
    x = torch.tensor(start, requires_grad=True)
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        # TODO: the next step should not see this step's gradient
    return x.item()


if __name__ == "__main__":
    print("lowest point of (x - 3)², should be near 3:", descend(lambda x: (x - 3) ** 2, 0.0, 50, 0.1))
