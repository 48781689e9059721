"""functorch's ahead-of-time compiler, with graphs that are printed."""

# fresh
import torch
from functorch.compile import aot_function
from torch import nn

graphs = []


def keep(graph, inputs):
    graphs.append([str(node.target) for node in graph.graph.nodes])
    return graph


def model(x, w):
    return torch.tanh(x @ w).pow(2).mean()


torch.manual_seed(0)
w = nn.Parameter(torch.randn(4, 2))
compiled = aot_function(model, fw_compiler=keep, bw_compiler=keep)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(10):
    loss = compiled(torch.randn(8, 4), w)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(graphs), graphs)
