# finds: GS202
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
seen = []


def scale(module, inputs, output):
    return output * 0.5
    #! return output.detach() * 0.5


def halve(param):
    param.grad.mul_(0.5)


net[0].register_forward_hook(scale)
net[2].register_full_backward_hook(lambda module, into, out: seen.append(len(out)))
net[0].weight.register_hook(lambda grad: grad.clamp(-1, 1))
net[2].weight.register_post_accumulate_grad_hook(halve)
for _ in range(30):
    x = torch.randn(8, 3)
    out = net(x)
    out.register_hook(lambda grad: grad * 2)
    loss = (out.squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
seen = sum(seen)
