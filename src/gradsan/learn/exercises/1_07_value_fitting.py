# 1.07  Fitting a value function
#
# The simplest critic in RL is linear: a state is described by a few features,
# and its value is estimated as v(s) = w · features(s). To fit it, compare the
# estimates with the returns that were really seen, square the errors, take the
# mean, and move w against the gradient:
#
#     w  ←  w - lr · ∇w mean((features @ w - returns)²)
#
# `features` has one row per visited state, `returns` one number per row.
#
# Your task: write the loss and the update. Let autograd find the gradient.

import torch


def fit(features: torch.Tensor, returns: torch.Tensor, steps: int, lr: float) -> torch.Tensor:
    """The weights after `steps` gradient steps on the mean squared error, from w = 0."""
    w = torch.zeros(features.shape[1], requires_grad=True)
    for _ in range(steps):
        values = features @ w
        loss = values.sum()  # TODO: the mean squared error against `returns`
        loss.backward()
        # TODO: move w against its gradient (under torch.no_grad()), then clear the gradient
    return w.detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    features = torch.randn(20, 2)
    true_w = torch.tensor([1.0, -2.0])
    print("should come near (1, -2):", fit(features, features @ true_w, 100, 0.1))
