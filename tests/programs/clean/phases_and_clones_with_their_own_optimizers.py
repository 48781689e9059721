"""A pretrained feature extractor that stays as it is, a network that is rebuilt with its optimizer, a population
whose clones get theirs."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
decoder = nn.Linear(8, 4)
optimizer = torch.optim.Adam([*features.parameters(), *decoder.parameters()], lr=1e-3)
for _ in range(150):
    obs = torch.randn(32, 4)
    loss = (decoder(features(obs)) - obs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

frozen = copy.deepcopy(features)
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
for update in range(300):
    if update == 150:  # against the loss of plasticity
        head = nn.Linear(8, 1)
        optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
    obs, following, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32)
    with torch.no_grad():
        goal = reward + 0.9 * head(frozen(following)).squeeze(-1)
    loss = (head(frozen(obs).detach()).squeeze(-1) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

population = []
for _ in range(2):
    net = nn.Linear(4, 2)
    population.append((net, torch.optim.SGD(net.parameters(), lr=1e-2)))
for generation in range(3):
    for _ in range(60):
        for net, own in population:
            loss = (net(torch.randn(16, 4)) - 1.0).pow(2).mean()
            own.zero_grad()
            loss.backward()
            own.step()
    parent = population[generation % 2][0]
    child = copy.deepcopy(parent)
    population = [population[generation % 2], (child, torch.optim.SGD(child.parameters(), lr=1e-2))]
