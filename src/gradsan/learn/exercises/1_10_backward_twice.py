# 1.10  Backward twice
#
# To save memory, backward() frees the graph as it walks through it. A second
# walk over the same part raises "Trying to backward through the graph a second
# time". Most often that is a bug: a value of an earlier step is still in use.
# Sometimes it is what you want: two losses share a trunk, and you need the
# gradient of each by itself, say to compare how strongly they pull.
#
# `backward(retain_graph=True)` keeps the graph for one more walk. Ask for it
# only where another backward follows: a graph that nobody needs is memory lost.
#
# Your task: return both gradients separately. The trunk is expensive: it may
# run only once.

import torch


def pulls(trunk, policy_loss, value_loss, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of policy_loss(trunk(w)) and that of value_loss(trunk(w)), each by itself."""
    w = w.detach().clone().requires_grad_()
    shared = trunk(w)
    policy_loss(shared).backward()
    of_policy = w.grad
    w.grad = None
    value_loss(shared).backward()  # TODO: the trunk's graph is gone by now. Who could have kept it?
    return of_policy, w.grad


if __name__ == "__main__":
    both = pulls(torch.tanh, lambda h: h.sum(), lambda h: (h**2).sum(), torch.tensor([0.5, 1.0]))
    print("policy pulls", both[0], "value pulls", both[1])
