# 2.03  detach().clone() of a slice
#
# How far did an update move the first row of the weights? To tell, keep a
# snapshot, update, subtract. But a slice, `weight[0]`, is a *view*: it looks
# into the memory of the whole tensor, and shows the new numbers after the
# update. `detach()` only takes it out of the graph; the memory stays shared.
#
#     t.detach()           no graph,  same memory
#     t.clone()            graph,     own memory
#     t.detach().clone()   no graph,  own memory   ← a snapshot
#
# Your task: make `before` a snapshot.

import torch
from torch import nn


def first_row_change(layer: nn.Linear, optimizer: torch.optim.Optimizer, states, returns) -> torch.Tensor:
    """Do one training step and return how far it moved the first row of the layer's weights."""
    before = layer.weight[0].detach()  # TODO: whose memory does this look at?
    loss = (layer(states).sum(dim=-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return layer.weight[0].detach() - before


if __name__ == "__main__":
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    print("moved by", first_row_change(layer, optimizer, torch.randn(8, 3), torch.randn(8)))
