"""IMPALA with V-trace under no_grad, hand-written entropy, RMSprop."""

import torch
from torch import nn

torch.manual_seed(0)
T, B = 6, 5
body, pi, v = nn.Sequential(nn.Linear(4, 16), nn.ReLU()), nn.Linear(16, 3), nn.Linear(16, 1)
parameters = [*body.parameters(), *pi.parameters(), *v.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=5e-4, alpha=0.99, eps=0.01)


@torch.no_grad()
def vtrace(log_rho, rewards, values, bootstrap, gamma=0.99):
    rho = log_rho.exp().clamp(max=1.0)
    after = torch.cat([values[1:], bootstrap[None]])
    delta = rho * (rewards + gamma * after - values)
    acc, out = torch.zeros_like(bootstrap), []
    for t in reversed(range(T)):
        acc = delta[t] + gamma * rho[t] * acc
        out.append(acc)
    vs = torch.stack(out[::-1]) + values
    return vs, rho * (rewards + gamma * torch.cat([vs[1:], bootstrap[None]]) - values)


for _ in range(10):
    obs, action, behaviour = torch.randn(T + 1, B, 4), torch.randint(3, (T, B)), torch.randn(T, B, 3)
    hidden = body(obs)
    values = v(hidden).squeeze(-1)
    log_pi = torch.log_softmax(pi(hidden[:-1]), -1)
    log_prob = log_pi.gather(-1, action[..., None]).squeeze(-1)
    old = torch.log_softmax(behaviour, -1).gather(-1, action[..., None]).squeeze(-1)
    vs, advantage = vtrace(log_prob - old, torch.randn(T, B), values[:-1], values[-1])
    entropy = -(log_pi.exp() * log_pi).sum(-1)
    loss = -(log_prob * advantage).mean() + 0.25 * (values[:-1] - vs).pow(2).mean() - 0.01 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 40)
    optimizer.step()
