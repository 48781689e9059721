"""Stable-Baselines3 and sb3-contrib, each algorithm as its documentation shows it, only smaller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from program import Algorithm, main
from sb3_contrib.common.envs import InvalidActionEnvDiscrete
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.envs import FakeImageEnv, SimpleMultiObsEnv

CARTPOLE, PENDULUM = "CartPole-v1", "Pendulum-v1"
SMALL = {"policy_kwargs": {"net_arch": [32, 32]}}
REPLAY = {"learning_starts": 100, "batch_size": 32, **SMALL}
ROLLOUT = {"n_steps": 64, "batch_size": 32, "n_epochs": 4, **SMALL}
QUANTILES = {"policy_kwargs": {"net_arch": [32], "n_quantiles": 20}}
LSTM = {"n_steps": 32, "batch_size": 32, "n_epochs": 3}
SHARED_LSTM = {"shared_lstm": True, "enable_critic_lstm": False, "lstm_hidden_size": 32}
NOISE = stable_baselines3.common.noise.NormalActionNoise(np.zeros(1), 0.1 * np.ones(1))


def learn(kind: str, env: Any, steps: int, policy: str = "MlpPolicy", **options: Any) -> Algorithm:
    library = stable_baselines3 if hasattr(stable_baselines3, kind) else sb3_contrib

    def train() -> Iterable[torch.Tensor]:
        made = env() if callable(env) else env
        model = getattr(library, kind)(policy, made, seed=1, device="cpu", **options)
        model.learn(steps)
        return model.policy.state_dict().values()

    return train


def vector() -> Any:
    return make_vec_env(CARTPOLE, n_envs=4, seed=1)


def image() -> Any:
    env = FakeImageEnv(screen_height=40, screen_width=40, n_channels=1, discrete=True)
    env.observation_space.seed(1)  # its frames are drawn from here, whatever the environment's own seed
    return env


def masked() -> Any:
    return InvalidActionEnvDiscrete(dim=20, n_invalid_actions=10)


def dictionary() -> Any:
    return SimpleMultiObsEnv(random_start=False)


ALGORITHMS = {
    "A2C": learn("A2C", vector, 4000, n_steps=5, **SMALL),
    "A2C (rmsprop, gae, normalised)": learn(
        "A2C", vector, 6400, n_steps=8, gae_lambda=0.9, normalize_advantage=True, use_rms_prop=False, **SMALL
    ),
    "PPO": learn("PPO", vector, 2000, **ROLLOUT),
    "PPO (continuous, gSDE)": learn("PPO", PENDULUM, 1664, use_sde=True, target_kl=0.05, **ROLLOUT),
    "PPO (value clipping)": learn("PPO", vector, 1792, clip_range_vf=0.2, ent_coef=0.01, **ROLLOUT),
    "PPO (images)": learn("PPO", image, 640, "CnnPolicy", n_steps=64, batch_size=32),
    "PPO (dictionary)": learn("PPO", dictionary, 640, "MultiInputPolicy", n_steps=64, batch_size=32),
    "DQN": learn("DQN", CARTPOLE, 1500, target_update_interval=100, train_freq=4, **REPLAY),
    "DDPG": learn("DDPG", PENDULUM, 400, action_noise=NOISE, **REPLAY),
    "TD3": learn("TD3", PENDULUM, 400, action_noise=NOISE, **REPLAY),
    "SAC": learn("SAC", PENDULUM, 400, **REPLAY),
    "SAC (fixed temperature, gSDE)": learn("SAC", PENDULUM, 300, ent_coef=0.1, use_sde=True, **REPLAY),
    "ARS": learn("ARS", CARTPOLE, 2000, "LinearPolicy", n_delta=4),
    "CrossQ": learn("CrossQ", PENDULUM, 400, **REPLAY),
    "MaskablePPO": learn("MaskablePPO", masked, 1600, **ROLLOUT),
    "QRDQN": learn("QRDQN", CARTPOLE, 1500, target_update_interval=100, train_freq=4, **REPLAY | QUANTILES),
    "RecurrentPPO": learn(
        "RecurrentPPO", vector, 2200, "MlpLstmPolicy", policy_kwargs={"lstm_hidden_size": 32}, **LSTM
    ),
    "RecurrentPPO (shared LSTM)": learn(
        "RecurrentPPO", vector, 2200, "MlpLstmPolicy", policy_kwargs=SHARED_LSTM, **LSTM
    ),
    "TQC": learn("TQC", PENDULUM, 400, **REPLAY),
    "TRPO": learn("TRPO", CARTPOLE, 1024, n_steps=128, batch_size=32, **SMALL),
    "TRPO (continuous)": learn("TRPO", PENDULUM, 1024, n_steps=128, batch_size=32, **SMALL),
}

if __name__ == "__main__":
    main(ALGORITHMS)
