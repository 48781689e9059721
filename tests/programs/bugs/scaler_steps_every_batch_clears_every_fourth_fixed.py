"""Mixed precision with accumulation: the step moved out of the condition, the clearing did not."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
for batch in range(1, 21):
    obs, wanted = torch.randn(16, 4), torch.randn(16, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        predicted = net(obs)
    loss = (predicted.float() - wanted).pow(2).mean() / 4
    scaler.scale(loss).backward()
    if batch % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
