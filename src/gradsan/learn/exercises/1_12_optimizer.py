# 1.12  The order of a training step
#
# An optimizer does by `step()` what you did by hand: it moves each parameter
# against its `.grad`. A training step has three calls, and their order matters:
#
#     optimizer.zero_grad()    # forget the last step
#     loss.backward()          # fill .grad
#     optimizer.step()         # use .grad
#
# zero_grad() may come anywhere before backward(). Between backward() and step()
# it wipes what was just computed; step() then has nothing to work with, moves
# nothing, and says nothing.
#
# Your task: put the calls in order.

import torch
from torch import nn


def train(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns, steps: int) -> None:
    """Fit `net` to `returns` by `steps` steps on the mean squared error."""
    for _ in range(steps):
        loss = (net(states).squeeze(-1) - returns).pow(2).mean()
        loss.backward()
        optimizer.zero_grad()  # TODO: what is left for step()?
        optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(2, 1)
    states, returns = torch.randn(8, 2), torch.randn(8)
    before = net.weight.detach().clone()
    train(net, torch.optim.SGD(net.parameters(), lr=0.1), states, returns, 5)
    print("the weights moved by", (net.weight - before).detach())
