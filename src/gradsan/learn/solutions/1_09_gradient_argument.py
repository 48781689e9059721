import torch


def weighted_gradient(f, theta: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The gradient of Σ weights[i] · f(theta)[i] for the parameter vector `theta`."""
    theta = theta.detach().clone().requires_grad_()
    y = f(theta)
    y.backward(gradient=weights)
    return theta.grad


if __name__ == "__main__":
    print(
        "should be (2, 60):",
        weighted_gradient(lambda t: t**2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 10.0])),
    )
