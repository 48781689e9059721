"""Losses of reinforcement learning as pure functions of tensors.

Each checks the shapes it is given, says in its docstring which arguments receive gradient, and refuses a
graph on those that never may.
"""

from gradsan.rl.losses.actor_critic import (
    sac_actor_loss,
    sac_target,
    sac_temperature_loss,
    smoothed_action,
    tanh_gaussian_sample,
    td3_actor_loss,
    td3_target,
    twin_critic_loss,
)
from gradsan.rl.losses.policy import (
    a2c_loss,
    categorical_entropy,
    categorical_log_prob,
    gaussian_entropy,
    gaussian_log_prob,
    ppo_clip_loss,
    ppo_value_loss,
    reinforce_loss,
)
from gradsan.rl.losses.returns import gae, n_step_returns
from gradsan.rl.losses.value import (
    double_q_target,
    huber_td_loss,
    q_learning_target,
    squared_td_loss,
    td_target,
    value_loss,
)

__all__ = [
    "a2c_loss",
    "categorical_entropy",
    "categorical_log_prob",
    "double_q_target",
    "gae",
    "gaussian_entropy",
    "gaussian_log_prob",
    "huber_td_loss",
    "n_step_returns",
    "ppo_clip_loss",
    "ppo_value_loss",
    "q_learning_target",
    "reinforce_loss",
    "sac_actor_loss",
    "sac_target",
    "sac_temperature_loss",
    "smoothed_action",
    "squared_td_loss",
    "tanh_gaussian_sample",
    "td3_actor_loss",
    "td3_target",
    "td_target",
    "twin_critic_loss",
    "value_loss",
]
