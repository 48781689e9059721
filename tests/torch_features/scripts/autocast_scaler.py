# finds: GS401
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=7)
for _ in range(30):
    x = torch.randn(8, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(net(x).squeeze(1).float(), x.sum(1))
    opt.zero_grad()
    #!
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)  # BUG
    scaler.update()
