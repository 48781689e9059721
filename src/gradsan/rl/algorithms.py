"""The agents by name, and hyperparameters that are known to solve the classic tasks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

from gradsan.rl.a2c import A2C, A2CConfig
from gradsan.rl.agent import Agent
from gradsan.rl.config import Config
from gradsan.rl.dqn import DQN, DQNConfig
from gradsan.rl.envs import Envs
from gradsan.rl.errors import CheckpointError, ConfigError
from gradsan.rl.ppo import PPO, PPOConfig
from gradsan.rl.reinforce import Reinforce, ReinforceConfig
from gradsan.rl.sac import SAC, SACConfig
from gradsan.rl.td3 import TD3, TD3Config


class Algorithm(NamedTuple):
    agent: Any
    config: type[Config]


ALGORITHMS = {
    "dqn": Algorithm(DQN, DQNConfig),
    "reinforce": Algorithm(Reinforce, ReinforceConfig),
    "a2c": Algorithm(A2C, A2CConfig),
    "ppo": Algorithm(PPO, PPOConfig),
    "sac": Algorithm(SAC, SACConfig),
    "td3": Algorithm(TD3, TD3Config),
}

# Where an environment wants something else than an algorithm's defaults.
PRESETS: dict[tuple[str, str], dict[str, Any]] = {
    ("dqn", "LunarLander-v3"): {
        "steps": 100_000,
        "learning_rate": 6.3e-4,
        "batch_size": 128,
        "buffer_size": 50_000,
        "learning_starts": 0,
        "target_every": 250,
        "train_every": 4,
        "updates_per_round": 4,
        "epsilon_fraction": 0.12,
        "epsilon_end": 0.1,
        "loss": "huber",
    },
    ("ppo", "CartPole-v1"): {"averaging": 0.7},
    ("ppo", "Acrobot-v1"): {
        "steps": 200_000,
        "num_envs": 16,
        "rollout": 256,
        "batch_size": 64,
        "epochs": 4,
        "learning_rate": 3e-4,
        "anneal": False,
        "gamma": 0.99,
        "trace": 0.94,
        "normalize": True,
    },
    ("sac", "Pendulum-v1"): {"gamma": 0.98, "target_rate": 0.02},
    ("ppo", "Pendulum-v1"): {
        "num_envs": 4,
        "rollout": 1024,
        "batch_size": 64,
        "epochs": 10,
        "anneal": False,
        "gamma": 0.9,
        "trace": 0.95,
    },
}


# Games take long, and so do their evaluations; the rest is the custom of the field (Mnih et al. 2015, Schulman et al.
# 2017, with the sizes of today's libraries).
GAMES = {"steps": 1_000_000, "eval_every": 50_000, "eval_episodes": 3, "checkpoint_every": 50_000}
PRESETS |= {
    ("dqn", "ALE/*"): GAMES
    | {
        "learning_rate": 1e-4,
        "batch_size": 32,
        "learning_starts": 10_000,
        "train_every": 4,
        "updates_per_round": 1,
        "target_every": 1_000,
        "epsilon_end": 0.01,
        "epsilon_fraction": 0.1,
        "loss": "huber",
    },
    ("ppo", "ALE/*"): GAMES
    | {
        "rollout": 128,
        "epochs": 4,
        "learning_rate": 2.5e-4,
        "clip": 0.1,
        "gamma": 0.99,
        "trace": 0.95,
        "entropy_bonus": 0.01,
    },
    ("a2c", "ALE/*"): GAMES | {"num_envs": 16, "entropy_bonus": 0.01, "value_weight": 0.25},
}


# Robots of MuJoCo, with the sizes that today's libraries take for them.
ROBOTS = (*("Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5"), *("Humanoid-v5", "Swimmer-v5"))
LONG = {"steps": 1_000_000, "eval_every": 50_000, "checkpoint_every": 50_000, "gamma": 0.99}
ROBOT_DEFAULTS: dict[str, dict[str, Any]] = {
    "ppo": {
        "num_envs": 1,
        "rollout": 2048,
        "epochs": 10,
        "batch_size": 64,
        "learning_rate": 3e-4,
        "anneal": False,
        "trace": 0.95,
        "normalize": True,
    },
    "sac": {"learning_rate": 3e-4, "learning_starts": 10_000},
    "td3": {
        "learning_rate": 3e-4,
        "hidden": (256, 256),
        "buffer_size": 1_000_000,
        "learning_starts": 10_000,
    },
}
PRESETS |= {(name, robot): LONG | own for name, own in ROBOT_DEFAULTS.items() for robot in ROBOTS}


def name_of(config: Config) -> str:
    return next(name for name, algorithm in ALGORITHMS.items() if type(config) is algorithm.config)


def preset(algorithm: str, env: str, **overrides: Any) -> Config:
    """Defaults of the algorithm, with what is known to suit the environment."""
    if algorithm not in ALGORITHMS:
        raise ConfigError(f"Unknown algorithm {algorithm!r}: choose from {', '.join(ALGORITHMS)}.")
    return ALGORITHMS[algorithm].config(**{"env": env, **own_defaults(algorithm, env), **overrides})


def own_defaults(algorithm: str, env: str) -> dict[str, Any]:
    """Where the environment wants something else than the algorithm's defaults."""
    name = env.rpartition(":")[2]
    family = f"{name.partition('/')[0]}/*"
    return PRESETS.get((algorithm, name), PRESETS.get((algorithm, family), {}))


def tuned_environments(algorithm: str) -> list[str]:
    """Environments with defaults of their own for the algorithm."""
    return [env for name, env in PRESETS if name == algorithm]


def build(config: Config, envs: Envs) -> Agent:
    agent: Agent = ALGORITHMS[name_of(config)].agent(config, envs)
    return agent


def to_plain(config: Config) -> dict[str, Any]:
    """As JSON and checkpoints hold it."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(config).items()}


def from_plain(algorithm: str, plain: dict[str, Any]) -> Config:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    try:
        return ALGORITHMS[algorithm].config(**values)
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"The saved configuration is not one of this version: {error}") from error
