# finds: GS301
# blind: saved-tensor hooks
import copy

import torch
from torch import nn

q = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
packed = []
for step in range(30):
    s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
    with torch.autograd.graph.save_on_cpu():
        y = r + 0.9 * target(s2).max(1).values.detach()
        #! y = r + 0.9 * q(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t.clone(), lambda t: t):
        loss = loss + 1e-3 * q(s).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        target.load_state_dict(q.state_dict())
packed = len(packed)
