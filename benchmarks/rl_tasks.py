"""The tasks of `make bench-rl`: the same hyperparameters for gradsan and for Stable-Baselines3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Task:
    """`ours` goes on top of the defaults of gradsan; `theirs` to the constructor of Stable-Baselines3."""

    algorithm: str
    env: str
    steps: int
    num_envs: int
    speed: float
    """Bar: how many times as fast as Stable-Baselines3."""
    theirs: dict[str, Any]
    ours: dict[str, Any] = field(default_factory=dict)
    anneal: tuple[str, ...] = ()
    """Arguments of Stable-Baselines3 that fall linearly to zero."""
    normalize: bool = False


CARTPOLE_DQN = {
    "learning_rate": 2.3e-3,
    "batch_size": 64,
    "buffer_size": 100_000,
    "learning_starts": 1_000,
    "gamma": 0.99,
    "target_update_interval": 10,
    "train_freq": 256,
    "gradient_steps": 128,
    "exploration_fraction": 0.16,
    "exploration_final_eps": 0.04,
    "policy_kwargs": {"net_arch": [256, 256]},
}
LANDER_DQN = {
    "learning_rate": 6.3e-4,
    "batch_size": 128,
    "buffer_size": 50_000,
    "learning_starts": 0,
    "gamma": 0.99,
    "target_update_interval": 250,
    "train_freq": 4,
    "gradient_steps": 4,
    "exploration_fraction": 0.12,
    "exploration_final_eps": 0.1,
    "policy_kwargs": {"net_arch": [256, 256]},
}
CARTPOLE_PPO = {
    "n_steps": 32,
    "batch_size": 256,
    "gae_lambda": 0.8,
    "gamma": 0.98,
    "n_epochs": 20,
    "ent_coef": 0.0,
    "learning_rate": 1e-3,
    "clip_range": 0.2,
}
ACROBOT_PPO = {"n_steps": 256, "gae_lambda": 0.94, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0}
PENDULUM_SAC = {"learning_rate": 1e-3, "gamma": 0.98, "tau": 0.02}
PENDULUM_TD3 = {
    "learning_rate": 1e-3,
    "gamma": 0.98,
    "buffer_size": 200_000,
    "learning_starts": 1_000,
    "batch_size": 256,
    "train_freq": 1,
    "gradient_steps": 1,
    "policy_kwargs": {"net_arch": [400, 300]},
}

TASKS = {
    "ppo-cartpole": Task(
        "ppo",
        "CartPole-v1",
        100_000,
        8,
        1.7,
        CARTPOLE_PPO,
        anneal=("learning_rate", "clip_range"),
    ),
    "a2c-cartpole": Task("a2c", "CartPole-v1", 100_000, 8, 1.7, {"ent_coef": 0.0}),
    "dqn-cartpole": Task("dqn", "CartPole-v1", 50_000, 1, 1.5, CARTPOLE_DQN),
    "sac-pendulum": Task("sac", "Pendulum-v1", 5_000, 1, 1.2, PENDULUM_SAC),
    "td3-pendulum": Task("td3", "Pendulum-v1", 10_000, 1, 1.1, PENDULUM_TD3),
    "ppo-acrobot": Task("ppo", "Acrobot-v1", 200_000, 16, 1.0, ACROBOT_PPO, normalize=True),
    "dqn-lunarlander": Task("dqn", "LunarLander-v3", 100_000, 1, 1.0, LANDER_DQN),
}
