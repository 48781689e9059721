# 1.08  Backward needs one number
#
# backward() asks "how does *this number* change?". Called on a tensor with
# several elements it does not know which one you mean, and raises.
#
# When each output depends on its own input only, as when one function is
# applied to each state of a batch, sum the outputs first: the other terms of
# the sum contribute nothing to a state's slope, so each state still receives
# exactly its own. A mean would divide every slope by the size of the batch.
#
# Your task: one slope per state, with a single backward().

import torch


def slopes(f, states: torch.Tensor) -> torch.Tensor:
    """The slope of `f` at each element of `states`; `f` works element by element."""
    x = states.detach().clone().requires_grad_()
    y = f(x)
    y.backward()  # TODO: y has as many elements as there are states
    return x.grad


if __name__ == "__main__":
    print("slopes of x² at 1, 2, 3:", slopes(lambda x: x**2, torch.tensor([1.0, 2.0, 3.0])))
