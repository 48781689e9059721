# finds: GS401
import torch
from torch import nn

critic = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for _ in range(30):
    real, fake = torch.randn(8, 3), torch.rand(8, 3)
    mix = (0.5 * real + 0.5 * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).pow(2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    opt.zero_grad()
    #!
    loss.backward()
    opt.step()  # BUG
