import torch
from torch import nn


def train(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns, steps: int) -> None:
    """Fit `net` to `returns` by `steps` steps on the mean squared error."""
    for _ in range(steps):
        loss = (net(states).squeeze(-1) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(2, 1)
    states, returns = torch.randn(8, 2), torch.randn(8)
    before = net.weight.detach().clone()
    train(net, torch.optim.SGD(net.parameters(), lr=0.1), states, returns, 5)
    print("the weights moved by", (net.weight - before).detach())
