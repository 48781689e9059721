import torch


def pulls(trunk, policy_loss, value_loss, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of policy_loss(trunk(w)) and that of value_loss(trunk(w)), each by itself."""
    w = w.detach().clone().requires_grad_()
    shared = trunk(w)
    policy_loss(shared).backward(retain_graph=True)
    of_policy = w.grad
    w.grad = None
    value_loss(shared).backward()
    return of_policy, w.grad


if __name__ == "__main__":
    both = pulls(torch.tanh, lambda h: h.sum(), lambda h: (h**2).sum(), torch.tensor([0.5, 1.0]))
    print("policy pulls", both[0], "value pulls", both[1])
