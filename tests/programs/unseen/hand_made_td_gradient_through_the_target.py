"""Q-learning with weights in a dictionary and no optimizer: the bootstrap is differentiated, too.

Round 2
Class: gradients by hand
"""

import torch

torch.manual_seed(210)
gen = torch.Generator().manual_seed(3)
params = {
    "w1": (torch.randn(3, 32, generator=gen) * 0.4).requires_grad_(),
    "b1": torch.zeros(32, requires_grad=True),
    "w2": (torch.randn(32, 2, generator=gen) * 0.2).requires_grad_(),
}


def q_values(p, obs):
    return torch.relu(obs @ p["w1"] + p["b1"]) @ p["w2"]


def td_loss(p, batch, gamma=0.9):
    obs, action, reward, done, next_obs = batch
    chosen = q_values(p, obs).gather(1, action).squeeze(1)
    bootstrap = q_values(p, next_obs).max(dim=1).values  # BUG GS301
    goal = reward + gamma * (1 - done) * bootstrap  # BUG GS301
    return torch.nn.functional.smooth_l1_loss(chosen, goal)


def update(p, batch, lr=0.05):
    grads = torch.autograd.grad(td_loss(p, batch), list(p.values()))
    with torch.no_grad():
        for weight, grad in zip(p.values(), grads):
            weight.sub_(lr * grad)


for step in range(80):
    obs = torch.randn(32, 3, generator=gen)
    action = torch.randint(2, (32, 1), generator=gen)
    reward = obs.gather(1, action).squeeze(1)
    done = (torch.rand(32, generator=gen) < 0.1).float()
    update(params, (obs, action, reward, done, torch.randn(32, 3, generator=gen)))
