"""A trust-region step: the line search writes trial weights while the value loss, computed before it with a shared
trunk, still waits for its backward.

Round 2
Class: gradients by hand
"""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(209)
trunk = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
pi, vf = nn.Linear(32, 3), nn.Linear(32, 1)
policy_params = [*trunk.parameters(), *pi.parameters()]
vf_optimizer = torch.optim.Adam([*trunk.parameters(), *vf.parameters()], lr=1e-3)


def surrogate(obs, action, old, advantage):
    log_prob = torch.log_softmax(pi(trunk(obs)), -1).gather(1, action[:, None])[:, 0]
    return ((log_prob - old).exp() * advantage).mean()


def line_search(start, direction, obs, action, old, advantage):
    before = surrogate(obs, action, old, advantage).item()
    for fraction in (1.0, 0.5, 0.25):
        vector_to_parameters(start + fraction * direction, policy_params)  # BUG GS102 GS104
        with torch.no_grad():
            if surrogate(obs, action, old, advantage).item() > before:
                return
    vector_to_parameters(start, policy_params)


for _ in range(30):
    obs = torch.randn(128, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=pi(trunk(obs)))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :3].argmax(1)).float()
    advantage = reward - reward.mean()
    value_loss = (vf(trunk(obs)).squeeze(-1) - reward).pow(2).mean()  # BUG GS102 GS104
    gradient = torch.autograd.grad(surrogate(obs, action, old, advantage), policy_params)
    direction = 0.3 * torch.cat([g.reshape(-1) for g in gradient])
    line_search(
        parameters_to_vector(policy_params).detach(), direction, obs, action, old, advantage
    )  # BUG GS102 GS104
    vf_optimizer.zero_grad()
    value_loss.backward()
    vf_optimizer.step()
