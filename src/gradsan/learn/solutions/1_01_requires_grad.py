import torch


def tracked(values: list[float]) -> torch.Tensor:
    """A tensor that holds `values` and that autograd follows."""
    return torch.tensor(values, requires_grad=True)


if __name__ == "__main__":
    x = tracked([1.0, 2.0])
    print("does autograd follow x?", x.requires_grad)
