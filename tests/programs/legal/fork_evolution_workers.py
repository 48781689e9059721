"""A population is evaluated by forked workers through multiprocessing."""

import multiprocessing

import torch
from torch import nn

torch.set_num_threads(1)


def fitness(seed):
    torch.manual_seed(seed)
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(15):
        x = torch.randn(8, 3)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return float(loss)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(3, 1)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(3):
        loss = net(torch.randn(4, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(fitness, range(4)))
    del pool
