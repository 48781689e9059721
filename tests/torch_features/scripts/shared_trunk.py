# finds: GS303
import torch
from torch import nn

trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
pi, value = nn.Linear(16, 2), nn.Linear(16, 1)
opt = torch.optim.Adam([*trunk.parameters(), *pi.parameters(), *value.parameters()], lr=1e-2)
for _ in range(30):
    s, returns = torch.randn(16, 4), torch.randn(16)
    h = trunk(s)
    dist, v = torch.distributions.Categorical(logits=pi(h)), value(h).squeeze(1)
    advantage = (returns - v).detach()
    #! advantage = returns - v
    policy_loss = -(dist.log_prob(dist.sample()) * advantage).mean()
    loss = policy_loss + 0.5 * (returns - v).pow(2).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 0.5)
    opt.step()
