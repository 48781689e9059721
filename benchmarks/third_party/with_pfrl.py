"""PFRL: its agents on CartPole and Pendulum, put together as its own examples do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np
import pfrl_parts as parts
import torch
from pfrl import agents, explorers, replay_buffers
from program import Algorithm, main

DISCRETE, CONTINUOUS = "CartPole-v1", "Pendulum-v1"
Q_LEARNING = {"gamma": 0.95, "replay_start_size": 64, "minibatch_size": 32, "target_update_interval": 50}
ACTOR_CRITIC = {"gamma": 0.95, "replay_start_size": 64, "minibatch_size": 32}


def train(env_name: str, steps: int, build: Callable[[], tuple[Any, list[torch.nn.Module]]]) -> Algorithm:
    def run() -> Iterable[torch.Tensor]:
        agent, networks = build()
        env = gymnasium.make(env_name, max_episode_steps=60)
        env.action_space.seed(0)
        obs = batch(env.reset(seed=0)[0])
        for step in range(steps):
            action = agent.batch_act([obs])[0] if isinstance(agent, agents.A2C) else agent.act(obs)
            # A2C looks at all its environments at once; here there is one.
            following, reward, over, cut, _ = env.step(action)
            obs = batch(following)
            told = (obs, float(reward), over, cut or step == steps - 1)
            if isinstance(agent, agents.A2C):
                agent.batch_observe(*([x] for x in told))
            else:
                agent.observe(*told)
            if over or cut:
                obs = batch(env.reset()[0])
        return [tensor for network in networks for tensor in network.state_dict().values()]

    return run


def batch(obs: Any) -> np.ndarray:
    return np.asarray(obs, dtype=np.float32)


def q_learning(kind: str, q: Callable[[], torch.nn.Module], **options: Any) -> Algorithm:
    def build() -> tuple[Any, list[torch.nn.Module]]:
        network = q()
        buffer = options.pop("buffer", replay_buffers.ReplayBuffer(1000))
        greedy = explorers.ConstantEpsilonGreedy(0.2, lambda: np.random.randint(2))
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
        arguments = {"explorer": greedy, **Q_LEARNING, **options}
        agent = getattr(agents, kind)(network, optimizer, buffer, **arguments)
        return agent, [network, agent.target_model]

    return train(DISCRETE, 300, build)


def on_policy(kind: str, env: str, steps: int, **options: Any) -> Algorithm:
    make = parts.policy if kind == "REINFORCE" else parts.actor_critic

    def build() -> tuple[Any, list[torch.nn.Module]]:
        network = make(env == DISCRETE)
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
        return getattr(agents, kind)(network, optimizer, **options), [network]

    return train(env, steps, build)


def off_policy(kind: str, **options: Any) -> Algorithm:
    return train(CONTINUOUS, 260, lambda: parts.off_policy(kind, {**ACTOR_CRITIC, **options}))


PPO = {"update_interval": 64, "minibatch_size": 32, "epochs": 4}
RAINBOW_BUFFER = replay_buffers.PrioritizedReplayBuffer(1000, alpha=0.5, beta0=0.4, num_steps=3)
ALGORITHMS = {
    "DQN": q_learning("DQN", parts.q_network),
    "DQN (recurrent)": q_learning(
        "DQN", parts.recurrent_q_network, recurrent=True, episodic_update_len=8, minibatch_size=4,
        buffer=replay_buffers.EpisodicReplayBuffer(1000),
    ),
    "DoubleDQN": q_learning("DoubleDQN", parts.q_network),
    "DoubleDQN (prioritised)": q_learning(
        "DoubleDQN", parts.q_network, buffer=replay_buffers.PrioritizedReplayBuffer(1000), clip_delta=False
    ),
    "AL": q_learning("AL", parts.q_network),
    "PAL": q_learning("PAL", parts.q_network),
    "DoublePAL": q_learning("DoublePAL", parts.q_network),
    "DPP": q_learning("DPP", parts.q_network),
    "CategoricalDQN": q_learning("CategoricalDQN", parts.categorical_q_network),
    "CategoricalDoubleDQN": q_learning("CategoricalDoubleDQN", parts.categorical_q_network),
    "Rainbow": q_learning(
        "CategoricalDoubleDQN", parts.rainbow_network, explorer=explorers.Greedy(), buffer=RAINBOW_BUFFER
    ),
    "IQN": q_learning(
        "IQN", parts.iqn_network, quantile_thresholds_N=8, quantile_thresholds_N_prime=8, quantile_thresholds_K=4
    ),
    "REINFORCE": on_policy("REINFORCE", DISCRETE, 17000, beta=0.01, batchsize=2),
    "REINFORCE (separate backwards)": on_policy(
        "REINFORCE", DISCRETE, 17000, beta=0.01, batchsize=2, backward_separately=True
    ),
    "A2C": on_policy("A2C", DISCRETE, 1000, gamma=0.95, num_processes=1, update_steps=5, use_gae=True),
    "PPO": on_policy("PPO", DISCRETE, 1700, **PPO),
    "PPO (continuous, value clipping)": on_policy("PPO", CONTINUOUS, 1700, clip_eps_vf=0.2, **PPO),
    "ACER": train(DISCRETE, 440, parts.acer),
    "TRPO": train(DISCRETE, 2400, parts.trpo),
    "DDPG": off_policy("DDPG"),
    "TD3": off_policy("TD3"),
    "SAC": off_policy("SoftActorCritic"),
}  # fmt: skip

if __name__ == "__main__":
    main(ALGORITHMS)
