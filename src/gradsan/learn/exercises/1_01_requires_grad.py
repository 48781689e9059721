# 1.01  A tensor that autograd follows
#
# PyTorch records what you compute so that it can later tell how a result
# changes when an input changes. It does not record everything: it follows only
# what comes from a tensor that was marked with `requires_grad=True`.
#
#     x = torch.tensor([1.0, 2.0], requires_grad=True)
#     y = (x * 3).sum()      # y knows where it came from: y.grad_fn is set
#
# Such a tensor, made by you and not by an operation, is called a *leaf*. The
# gradient ends up in its `.grad`. Only floating-point numbers can have one.
#
# Your task: make `tracked` return a leaf that autograd follows.

import torch


def tracked(values: list[float]) -> torch.Tensor:
    """A tensor that holds `values` and that autograd follows."""
    # TODO: mark the tensor, so that autograd records what is done with it
    return torch.tensor(values)


if __name__ == "__main__":
    x = tracked([1.0, 2.0])
    print("does autograd follow x?", x.requires_grad)
