"""Two workers, synced from a server every round; the server steps on the mean of their gradients."""

import torch
from torch import nn

torch.manual_seed(0)
server = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
workers = [nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2)) for _ in range(2)]
optimizer = torch.optim.Adam(server.parameters(), lr=1e-3)
for _ in range(30):
    for worker in workers:
        worker.load_state_dict(server.state_dict())
        worker.zero_grad()
        obs, action, advantage = torch.randn(16, 3), torch.randint(2, (16,)), torch.randn(16)
        log_prob = worker(obs).log_softmax(-1)[torch.arange(16), action]
        (-(log_prob * advantage).mean()).backward()
    optimizer.zero_grad()
    for mine, *theirs in zip(server.parameters(), *[w.parameters() for w in workers], strict=True):
        mine.grad = torch.stack([p.grad for p in theirs]).mean(0)
    optimizer.step()
