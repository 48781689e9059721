"""Three right ways to clip beside a loss scaler: a limit times the scale, a scaler that is off, and by hand."""

import torch
from torch import nn

torch.manual_seed(0)
nets = [nn.Linear(4, 2) for _ in range(3)]
optimizers = [torch.optim.SGD(net.parameters(), lr=1e-2) for net in nets]
on = torch.amp.GradScaler("cpu", init_scale=256.0)
off = torch.amp.GradScaler("cpu", init_scale=256.0, enabled=False)


def loss_of(net):
    return nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(2, (16,)))


for _ in range(12):
    for optimizer in optimizers:
        optimizer.zero_grad()
    on.scale(loss_of(nets[0])).backward()
    nn.utils.clip_grad_norm_(nets[0].parameters(), 0.5 * on.get_scale())
    on.step(optimizers[0])
    on.update()

    off.scale(loss_of(nets[1])).backward()
    nn.utils.clip_grad_norm_(nets[1].parameters(), 0.5)
    off.step(optimizers[1])
    off.update()

    (loss_of(nets[2]) * 256.0).backward()
    for p in nets[2].parameters():
        p.grad /= 256.0
    nn.utils.clip_grad_norm_(nets[2].parameters(), 0.5)
    optimizers[2].step()
