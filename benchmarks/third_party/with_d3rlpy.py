"""d3rlpy: offline algorithms on a few random episodes, networks small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import d3rlpy
import gymnasium
import numpy as np
import torch
from d3rlpy import algos
from program import Algorithm, main

STEPS = 200
QUIET = {
    "logger_adapter": d3rlpy.logging.NoopAdapterFactory(),
    "show_progress": False,
    "n_steps_per_epoch": 100,
}
SMALL = d3rlpy.models.VectorEncoderFactory([32, 32])
QR = d3rlpy.models.QRQFunctionFactory(n_quantiles=8)
IQN = d3rlpy.models.IQNQFunctionFactory(n_quantiles=8, n_greedy_quantiles=8)


def episodes(env_name: str) -> Any:
    env = gymnasium.make(env_name)
    env.action_space.seed(0)
    columns: dict[str, list[Any]] = {"observations": [], "actions": [], "rewards": [], "terminals": []}
    for number in range(12):
        obs, _ = env.reset(seed=number)
        for step in range(40):
            action = env.action_space.sample()
            following, reward, over, _, _ = env.step(action)
            last = over or step == 39
            for name, value in zip(columns, (obs, action, reward, last), strict=True):
                columns[name].append(value)
            obs = following
            if last:
                break
    arrays = {name: np.array(values, dtype=np.float32) for name, values in columns.items()}
    return d3rlpy.dataset.MDPDataset(**arrays, action_space=space(env), action_size=size(env))


def space(env: Any) -> Any:
    discrete = isinstance(env.action_space, gymnasium.spaces.Discrete)
    return d3rlpy.ActionSpace.DISCRETE if discrete else d3rlpy.ActionSpace.CONTINUOUS


def size(env: Any) -> int:
    return int(env.action_space.n) if hasattr(env.action_space, "n") else int(env.action_space.shape[0])


def fit(name: str, **options: Any) -> Algorithm:
    config = getattr(algos, name + "Config")
    known = config.__dataclass_fields__
    for field in ("encoder_factory", "actor_encoder_factory", "critic_encoder_factory", "value_encoder_factory",
                  "imitator_encoder_factory"):  # fmt: skip
        if field in known:
            options.setdefault(field, SMALL)
    discrete = name.startswith("Discrete") or name in ("DQN", "DoubleDQN", "NFQ")

    def train() -> Iterable[torch.Tensor]:
        d3rlpy.seed(0)
        dataset = episodes("CartPole-v1" if discrete else "Pendulum-v1")
        algo = config(batch_size=32, **options).create(device="cpu:0")
        algo.fit(dataset, n_steps=STEPS, **QUIET)
        found = vars(algo.impl.modules).values()
        modules = [m for value in found for m in networks(value)]
        return [tensor for module in modules for tensor in module.state_dict().values()]

    return train


def networks(value: Any) -> list[torch.nn.Module]:
    if isinstance(value, torch.nn.Module):
        return [value]
    return [m for item in value for m in networks(item)] if isinstance(value, list | tuple) else []


ALGORITHMS = {
    "DQN": fit("DQN", target_update_interval=50),
    "DQN (quantiles)": fit("DQN", target_update_interval=50, q_func_factory=QR),
    "DoubleDQN": fit("DoubleDQN", target_update_interval=50),
    "DoubleDQN (IQN)": fit("DoubleDQN", target_update_interval=50, q_func_factory=IQN),
    "NFQ": fit("NFQ"),
    "DiscreteSAC": fit("DiscreteSAC"),
    "DiscreteBC": fit("DiscreteBC"),
    "DiscreteBCQ": fit("DiscreteBCQ", target_update_interval=50),
    "DiscreteCQL": fit("DiscreteCQL", target_update_interval=50),
    "DiscreteDecisionTransformer": fit("DiscreteDecisionTransformer", context_size=5, num_layers=1),
    "AWAC": fit("AWAC"),
    "BC": fit("BC"),
    "BCQ": fit("BCQ"),
    "BEAR": fit("BEAR", warmup_steps=50),
    "CQL": fit("CQL"),
    "CalQL": fit("CalQL"),
    "CRR": fit("CRR"),
    "DDPG": fit("DDPG"),
    "IQL": fit("IQL"),
    "PLAS": fit("PLAS", warmup_steps=50),
    "PLASWithPerturbation": fit("PLASWithPerturbation", warmup_steps=50),
    "PRDC": fit("PRDC"),
    "ReBRAC": fit("ReBRAC"),
    "SAC": fit("SAC"),
    "SAC (IQN)": fit("SAC", q_func_factory=IQN),
    "TACR": fit("TACR", context_size=5, num_layers=1),
    "TD3": fit("TD3"),
    "TD3PlusBC": fit("TD3PlusBC"),
    "DecisionTransformer": fit("DecisionTransformer", context_size=5, num_layers=1),
}

if __name__ == "__main__":
    main(ALGORITHMS)
