import torch
from torch import nn


class TwoHeads(nn.Module):
    """Two value heads on the same features, averaged, times one learned scale."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.body = nn.Linear(features, features)
        self.heads = nn.ModuleList([nn.Linear(features, 1), nn.Linear(features, 1)])
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.body(x))
        return self.scale * (self.heads[0](h) + self.heads[1](h)).squeeze(-1) / 2


def train(net: TwoHeads, states: torch.Tensor, returns: torch.Tensor, steps: int, lr: float) -> None:
    """Fit the network to `returns`. This function is right; the class above is not."""
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(steps):
        loss = (net(states) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    print("the optimizer will see:", [name for name, _ in TwoHeads(3).named_parameters()])
