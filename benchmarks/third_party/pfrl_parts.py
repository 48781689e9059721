"""Networks for PFRL's agents, small, and the agents that take more than one network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pfrl
import torch
from pfrl import agents, explorers, policies, replay_buffers
from pfrl.agents import acer as acer_agent
from pfrl.agents import iqn as iqn_agent
from torch import nn

Networks = list[nn.Module]


def q_network() -> nn.Module:
    return pfrl.q_functions.FCStateQFunctionWithDiscreteAction(4, 2, n_hidden_channels=32, n_hidden_layers=2)


def recurrent_q_network() -> nn.Module:
    layers = (nn.Linear(4, 32), nn.ReLU(), nn.LSTM(32, 32), nn.Linear(32, 2))
    return pfrl.nn.RecurrentSequential(*layers, pfrl.q_functions.DiscreteActionValueHead())


def categorical_q_network() -> nn.Module:
    kind = pfrl.q_functions.DistributionalFCStateQFunctionWithDiscreteAction
    return kind(4, 2, n_atoms=11, v_min=-10, v_max=10, n_hidden_channels=32, n_hidden_layers=2)


def rainbow_network() -> nn.Module:
    network = categorical_q_network()
    pfrl.nn.to_factorized_noisy(network, sigma_scale=0.5)
    return network


def iqn_network() -> nn.Module:
    return iqn_agent.ImplicitQuantileQFunction(
        psi=nn.Sequential(nn.Linear(4, 32), nn.ReLU()),
        phi=nn.Sequential(iqn_agent.CosineBasisLinear(16, 32), nn.ReLU()),
        f=nn.Linear(32, 2),
    )


def body(size: int, out: int) -> list[nn.Module]:
    return [nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, out)]


def policy(discrete: bool) -> nn.Module:
    if discrete:
        return nn.Sequential(*body(4, 2), policies.SoftmaxCategoricalHead())
    head = policies.GaussianHeadWithStateIndependentCovariance(action_size=1, var_type="diagonal")
    return nn.Sequential(*body(3, 1), head)


def actor_critic(discrete: bool) -> nn.Module:
    return pfrl.nn.Branched(policy(discrete), nn.Sequential(*body(4 if discrete else 3, 1)))


def trpo() -> tuple[Any, Networks]:
    actor, value = policy(True), nn.Sequential(*body(4, 1))
    optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
    agent = agents.TRPO(actor, value, optimizer, update_interval=64, vf_epochs=3, vf_batch_size=32)
    return agent, [actor, value]


def acer() -> tuple[Any, Networks]:
    actor, value = policy(True), nn.Sequential(*body(4, 2), pfrl.q_functions.DiscreteActionValueHead())
    network = nn.Sequential(nn.Identity(), acer_agent.ACERDiscreteActionHead(actor, value))
    optimizer = pfrl.optimizers.SharedRMSpropEpsInsideSqrt(network.parameters(), lr=1e-3, eps=1e-2)
    network.share_memory()
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, torch.Tensor):
                value.share_memory_()
    buffer = replay_buffers.EpisodicReplayBuffer(1000)
    agent = agents.ACER(network, optimizer, 5, 0.95, buffer, n_times_replay=2, replay_start_size=100)
    agent.shared_average_model.share_memory()
    return agent, [network, agent.shared_average_model]


def critic() -> nn.Module:
    return nn.Sequential(pfrl.nn.ConcatObsAndAction(), *body(4, 1))


def off_policy(kind: str, options: dict[str, Any]) -> tuple[Any, Networks]:
    buffer = replay_buffers.ReplayBuffer(1000)
    last = squashed if kind == "SoftActorCritic" else policies.DeterministicHead()
    actor = nn.Sequential(*body(3, 2 if kind == "SoftActorCritic" else 1), head(last))
    critics = [critic() for _ in range(1 if kind == "DDPG" else 2)]
    optimizers = [torch.optim.Adam(n.parameters(), lr=1e-3) for n in (actor, *critics)]
    if kind == "SoftActorCritic":
        options |= {"entropy_target": -1, "temperature_optimizer_lr": 1e-3}
    else:
        options["explorer"] = explorers.AdditiveGaussian(0.1, low=-2, high=2)
    options["burnin_action_func"] = lambda: np.random.uniform(-2, 2, 1).astype(np.float32)
    agent = getattr(agents, kind)(actor, *critics, *optimizers, buffer, **options)
    return agent, [actor, *critics]


def head(function: Any) -> nn.Module:
    return function if isinstance(function, nn.Module) else pfrl.nn.Lambda(function)


def squashed(x: torch.Tensor) -> torch.distributions.Distribution:
    mean, log_scale = torch.chunk(x, 2, dim=1)
    scale = torch.exp(torch.clamp(log_scale, -20.0, 2.0))
    normal = torch.distributions.Independent(torch.distributions.Normal(mean, scale), 1)
    squash = [torch.distributions.transforms.TanhTransform(cache_size=1)]
    return torch.distributions.TransformedDistribution(normal, squash)
