"""Actor and target actor run as one stacked call; the smoothed next action is put beside the actor's in a new tensor.

Round 15
Class: forward errors
"""

import copy

import torch
from torch import nn
from torch.func import functional_call, vmap

torch.manual_seed(1509)
OBS, ACT, BATCH = 5, 2, 32


class QValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS + ACT, 40), nn.ReLU(), nn.Linear(40, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


class TD3Loss:
    def __init__(self, actor, critics, noise=0.2, noise_clip=0.4, gamma=0.97):
        self.actor, self.critics = actor, critics
        self.target_actor = copy.deepcopy(actor).requires_grad_(False)
        self.target_critics = copy.deepcopy(critics).requires_grad_(False)
        self.noise, self.noise_clip, self.gamma = noise, noise_clip, gamma

    def stacked_params(self):
        online, slow = self.actor.named_parameters(), self.target_actor.parameters()
        return {name: torch.stack([mine, theirs]) for (name, mine), theirs in zip(online, slow)}

    def actions(self, obs, after):
        """The actor's action in `obs` and the target actor's, smoothed, in `after`."""

        def call(params, x):
            return functional_call(self.actor, params, (x,))

        both = vmap(call)(self.stacked_params(), torch.stack([obs, after]))
        noise = (self.noise * torch.randn(len(after), ACT)).clamp(-self.noise_clip, self.noise_clip)
        next_action = (both[1].detach() + noise).clamp(-1, 1)
        return torch.stack([both[0], next_action])

    def value_loss(self, batch, next_action):
        with torch.no_grad():
            lowest = torch.min(*[critic(batch["after"], next_action) for critic in self.target_critics])
            goal = batch["reward"] + self.gamma * (1 - batch["done"]) * lowest
        errors = [critic(batch["obs"], batch["action"]) - goal for critic in self.critics]
        return sum(error.pow(2).mean() for error in errors)

    def actor_loss(self, batch, action):
        return -self.critics[0](batch["obs"], action).mean()

    def update_targets(self, tau=0.01):
        pairs = [(self.target_actor, self.actor), (self.target_critics, self.critics)]
        with torch.no_grad():
            for slow_net, fast_net in pairs:
                for slow, fast in zip(slow_net.parameters(), fast_net.parameters()):
                    slow.lerp_(fast, tau)


def replay():
    obs, action = torch.randn(BATCH, OBS), torch.rand(BATCH, ACT) * 2 - 1
    after = 0.9 * obs + 0.1 * action.sum(1, keepdim=True)
    done = (torch.rand(BATCH) < 0.05).float()
    return {"obs": obs, "action": action, "reward": -after.pow(2).mean(1), "after": after, "done": done}


actor = nn.Sequential(nn.Linear(OBS, 40), nn.ReLU(), nn.Linear(40, ACT), nn.Tanh())
critics = nn.ModuleList([QValue(), QValue()])
loss_module = TD3Loss(actor, critics)
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optim = torch.optim.Adam(critics.parameters(), lr=1e-3)
for update in range(60):
    batch = replay()
    both = loss_module.actions(batch["obs"], batch["after"])
    value_loss = loss_module.value_loss(batch, both[1].detach())
    critic_optim.zero_grad()
    value_loss.backward()
    critic_optim.step()

    actor_loss = loss_module.actor_loss(batch, both[0])
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    loss_module.update_targets()
    if update % 20 == 0:
        print(update, value_loss.item(), actor_loss.item())
