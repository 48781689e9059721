"""make_fx through `backward()` itself, with fake tensors."""

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

torch.manual_seed(0)


def trained(x, weight):
    weight = weight.detach().requires_grad_()
    loss = torch.tanh(x @ weight).pow(2).mean()
    loss.backward()
    return weight.grad


for mode in ("real", "fake", "symbolic"):
    graph = make_fx(trained, tracing_mode=mode)(torch.randn(8, 4), torch.randn(4, 2))
    print(mode, [str(node.target) for node in graph.graph.nodes])
