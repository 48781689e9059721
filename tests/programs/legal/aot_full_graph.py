"""torch.compile with a full graph, its backend prints what it was given."""

# fresh
import torch
from torch import nn
from torch._dynamo.backends.common import aot_autograd

graphs = []


def keep(graph, inputs):
    graphs.append([str(node.target) for node in graph.graph.nodes])
    return graph


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
fast = torch.compile(net, backend=aot_autograd(fw_compiler=keep, bw_compiler=keep), fullgraph=True)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(8, 4)
    loss = (fast(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(graphs), graphs)
