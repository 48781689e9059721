"""Exploration by predicting one's own future features. A wrapper catches the features of a hidden layer by a hook and keeps
them; the slow copy of the wrapped network is made when it is first asked for, and by then the wrapper holds features
with a graph, which cannot be copied.
Repaired here.

Round 20
Class: forward errors
"""

import copy
import functools

import torch
import torch.nn.functional as F
from torch import nn


def singleton(cache_key):
    """Makes a method's result once and keeps it on the object."""

    def inner(fn):
        @functools.wraps(fn)
        def wrapper(self):
            instance = getattr(self, cache_key)
            if instance is None:
                instance = fn(self)
                setattr(self, cache_key, instance)
            return instance

        return wrapper

    return inner


def loss_fn(x, y):
    return 2 - 2 * F.cosine_similarity(x, y, dim=-1)


class NetWrapper(nn.Module):
    """Runs a network and gives back what one of its layers said."""

    def __init__(self, net, layer):
        super().__init__()
        self.net, self.layer, self.hidden = net, layer, None
        self.projector = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 12))
        self.hook_registered = False

    def _hook(self, _module, _inputs, output):
        self.hidden = output

    def get_representation(self, x):
        if not self.hook_registered:
            dict(self.net.named_modules())[self.layer].register_forward_hook(self._hook)
            self.hook_registered = True
        self.net(x)
        features, self.hidden = self.hidden, None
        return features

    def forward(self, x):
        return self.projector(self.get_representation(x))


class CuriousWorld(nn.Module):
    def __init__(self, net, layer, n_actions, moving_average_decay=0.98):
        super().__init__()
        self.online_encoder = NetWrapper(net, layer)
        self.target_encoder = None
        self.decay = moving_average_decay
        self.online_predictor = nn.Sequential(nn.Linear(12 + n_actions, 32), nn.ReLU(), nn.Linear(32, 12))

    @singleton("target_encoder")
    def _get_target_encoder(self):
        target_encoder = copy.deepcopy(self.online_encoder)
        return target_encoder.requires_grad_(False)

    @torch.no_grad()
    def update_moving_average(self):
        target = self._get_target_encoder()
        for slow, fast in zip(target.parameters(), self.online_encoder.parameters()):
            slow.mul_(self.decay).add_((1 - self.decay) * fast)

    def forward(self, obs, action, next_obs):
        predicted = self.online_predictor(torch.cat([self.online_encoder(obs), action], dim=-1))
        with torch.no_grad():
            wanted = self._get_target_encoder()(next_obs)
        return loss_fn(predicted, wanted)


def experience(n, n_actions=3):
    """Walks of a beetle on a drum: the angle is seen as eight sensors."""
    angle = torch.rand(n) * 6.283
    action = torch.randint(n_actions, (n,))
    after = angle + 0.4 * (action - 1)
    sensors = torch.arange(8) * 0.785
    see = lambda a: torch.cos(a.unsqueeze(1) - sensors)  # noqa: E731
    return see(angle), F.one_hot(action, n_actions).float(), see(after)


torch.manual_seed(2020)
network = nn.Sequential(nn.Linear(8, 24), nn.ELU(), nn.Linear(24, 24), nn.Tanh())
world = CuriousWorld(network, layer="2", n_actions=3)
optimizer = torch.optim.Adam(world.parameters(), lr=2e-3)
surprise = []
for step in range(60):
    errors = world(*experience(32))
    optimizer.zero_grad()
    errors.mean().backward()
    optimizer.step()
    world.update_moving_average()
    surprise.append(errors.detach().mean().item())
print("surprise", surprise[0], "->", surprise[-1])
