import torch
from torch import nn


def first_row_change(layer: nn.Linear, optimizer: torch.optim.Optimizer, states, returns) -> torch.Tensor:
    """Do one training step and return how far it moved the first row of the layer's weights."""
    before = layer.weight[0].detach().clone()
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
