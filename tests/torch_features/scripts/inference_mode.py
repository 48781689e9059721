# finds: GS201 GS202
import torch
from torch import nn

policy, value = nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)


@torch.inference_mode()
def act(s):
    return torch.distributions.Categorical(logits=policy(s)).sample()


for _ in range(30):
    s, ret = torch.randn(8, 3), torch.randn(8)
    with torch.inference_mode():
        a = act(s)
        baseline = value(s).squeeze(1)
    advantage = ret - baseline.clone()
    log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a.clone())
    #! with torch.inference_mode():
    #!     log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    #! log_prob = log_prob.clone()
    loss = -(log_prob * advantage).mean() + (value(s).squeeze(1) - ret).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
