"""The same weights and the same data must give the same step as Stable-Baselines3: an oracle by others."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import stable_baselines3 as sb3
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import configure
from stable_baselines3.common.type_aliases import ReplayBufferSamples

from gradsan.rl.algorithms import build, preset
from gradsan.rl.losses import gae
from gradsan.rl.make import make_envs
from gradsan.rl.replay import Batch

# Both sides add the same float32 numbers in another order; Adam's first step is at most the learning rate.
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def ours(algorithm: str, env: str, **options: Any) -> Any:
    config = preset(algorithm, env, **options)
    return build(config, make_envs(env, config.num_envs))


def theirs(algorithm: str, env: str, **options: Any) -> Any:
    with torch.random.fork_rng():
        model = getattr(sb3, algorithm.upper())("MlpPolicy", env, device="cpu", **options)
    model.set_logger(configure(None, []))
    return model


def linears(*networks: torch.nn.Module) -> list[torch.nn.Linear]:
    return [layer for net in networks for layer in net.modules() if isinstance(layer, torch.nn.Linear)]


def copy_weights(source: list[torch.nn.Linear], target: list[torch.nn.Linear]) -> None:
    for one, other in zip(source, target, strict=True):
        other.load_state_dict(one.state_dict())


def assert_same_weights(
    one: list[torch.nn.Linear], other: list[torch.nn.Linear], within: dict[str, float] = CLOSE
) -> None:
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a.weight, b.weight, **within)
        torch.testing.assert_close(a.bias, b.bias, **within)


def layers_of(policy: Any) -> list[torch.nn.Linear]:
    body = policy.mlp_extractor
    return linears(body.policy_net, policy.action_net, body.value_net, policy.value_net)


def fill(model: Any, samples: Any, old_log_prob: torch.Tensor) -> None:
    """Hands the samples of one of our rollouts to their buffer, as one long row."""
    buffer = RolloutBuffer(len(samples.obs), model.observation_space, model.action_space, "cpu")
    for name, values in (
        ("observations", samples.obs),
        ("actions", samples.action),
        ("values", samples.value),
        ("advantages", samples.advantage),
        ("returns", samples.returns),
        ("log_probs", old_log_prob),
    ):
        shape = getattr(buffer, name).shape
        setattr(buffer, name, values.numpy().astype(np.float32).reshape(shape))
    buffer.pos, buffer.full = len(samples.obs), True
    model.rollout_buffer = buffer


@pytest.mark.parametrize("algorithm", ["ppo", "a2c"])
def test_an_update_on_the_same_rollout_is_theirs(algorithm: str) -> None:
    if algorithm == "ppo":
        agent = ours("ppo", "CartPole-v1", epochs=4, entropy_bonus=0.01, anneal=False)
        options = {"n_epochs": 4, "ent_coef": 0.01, "learning_rate": 1e-3, "batch_size": 256}
    else:
        agent, options = ours("a2c", "CartPole-v1", rollout=20), {}
    model = theirs(algorithm, "CartPole-v1", **options)
    rollouts: list[Any] = []
    update, agent.update = agent.update, rollouts.append
    agent.advance()
    (samples,) = rollouts
    mine, other = linears(agent.networks), layers_of(model.policy)
    copy_weights(mine, other)
    fill(model, samples, agent.networks.policy(samples.obs).log_prob(samples.action))
    update(samples)
    with torch.random.fork_rng():
        model.train()
    assert_same_weights(mine, other)


def test_networks_start_from_the_same_distribution() -> None:
    """Orthogonal, gain √2, a policy close to uniform: the singular values are those of their networks."""
    mine = linears(ours("ppo", "CartPole-v1").networks)
    for one, other in zip(mine, layers_of(theirs("ppo", "CartPole-v1").policy), strict=True):
        torch.testing.assert_close(
            torch.linalg.svdvals(one.weight), torch.linalg.svdvals(other.weight), **CLOSE
        )
        torch.testing.assert_close(one.bias, other.bias)


def test_advantages_are_theirs_through_termination_and_truncation() -> None:
    rng = np.random.default_rng(0)
    length, envs, discount, trace = 40, 3, 0.97, 0.9
    reward, value, last = (rng.normal(size=(length, envs)).astype(np.float32) for _ in range(3))
    terminated = rng.random((length, envs)) < 0.1
    truncated = (rng.random((length, envs)) < 0.1) & ~terminated
    after = rng.normal(size=envs).astype(np.float32)
    ended = terminated | truncated
    # Where an episode was cut, `last` is the value of the state it was cut at.
    next_value = np.where(ended, last, np.concatenate([value[1:], after[None]]))
    found = gae(reward, value, next_value, terminated, truncated, discount, trace)

    box, choice = gym.spaces.Box(-1, 1, (1,)), gym.spaces.Discrete(2)
    buffer = RolloutBuffer(length, box, choice, "cpu", trace, discount, envs)
    buffer.rewards, buffer.values = reward + discount * last * truncated, value
    buffer.episode_starts[1:] = ended[:-1]
    buffer.compute_returns_and_advantage(torch.from_numpy(after), ended[-1])
    np.testing.assert_allclose(found, buffer.advantages, rtol=1e-4, atol=1e-5)


def random_batch(size: int, obs: int, action: torch.Tensor) -> Batch:
    chance = torch.Generator().manual_seed(0)
    return Batch(
        torch.randn(size, obs, generator=chance),
        action,
        torch.randn(size, generator=chance),
        torch.randn(size, obs, generator=chance),
        torch.rand(size, generator=chance) < 0.2,
        torch.full((size,), 0.98),
    )


def feed(model: Any, batch: Batch) -> None:
    """Their replay gives this batch and nothing else."""
    samples = ReplayBufferSamples(
        observations=batch.obs,
        actions=batch.action.reshape(len(batch.action), -1),
        next_observations=batch.next_obs,
        dones=batch.terminated[:, None].float(),
        rewards=batch.reward[:, None],
        discounts=batch.discount[:, None],
    )
    model.replay_buffer.sample = lambda *_, **__: samples


def test_an_update_of_dqn_on_the_same_batch_is_theirs() -> None:
    agent = ours("dqn", "CartPole-v1", loss="huber", hidden=(64, 64))
    model = theirs("dqn", "CartPole-v1", learning_rate=2.3e-3)
    batch = random_batch(64, 4, torch.arange(64) % 2)
    batch = batch._replace(reward=5 * batch.reward)  # errors on both sides of the Huber threshold
    copy_weights(linears(agent.q), linears(model.q_net))
    copy_weights(linears(agent.target.network), linears(model.q_net_target))
    feed(model, batch)
    for _ in range(5):
        agent.update(batch.obs, batch.action[:, None], agent.target_value(batch)[:, None])
    model.train(gradient_steps=5, batch_size=64)
    assert_same_weights(linears(agent.q), linears(model.q_net))


def test_an_update_of_td3_on_the_same_batch_is_theirs() -> None:
    agent = ours("td3", "Pendulum-v1", hidden=(64, 64), target_noise=0.0)
    model = theirs(
        "td3",
        "Pendulum-v1",
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [64, 64]},
        target_policy_noise=1e-9,
    )
    batch = random_batch(64, 3, torch.linspace(-1, 1, 64)[:, None])
    pairs = [
        (linears(agent.actor), linears(model.actor)),
        (linears(agent.critic), linears(model.critic)),
        (linears(agent.target_actor.network), linears(model.actor_target)),
        (linears(agent.target_critic.network), linears(model.critic_target)),
    ]
    for mine, other in pairs:
        copy_weights(mine, other)
    feed(model, batch)
    for _ in range(4):
        agent.update(batch)
    with torch.random.fork_rng():
        model.train(gradient_steps=4, batch_size=64)
    # Their critic loss lacks the factor ½. Adam divides it out, but for its eps beside the smallest gradients:
    # far less than one of the steps of 1e-3.
    for mine, other in pairs:
        assert_same_weights(mine, other, {"rtol": 0, "atol": 1e-4})


def test_an_update_of_sac_on_the_same_batch_is_theirs() -> None:
    """Without noise, which the two sides draw in another order."""
    agent = ours("sac", "Pendulum-v1", hidden=(64, 64))
    same = {"learning_rate": 1e-3, "gamma": agent.config.gamma, "tau": agent.config.target_rate}
    model = theirs("sac", "Pendulum-v1", **same, policy_kwargs={"net_arch": [64, 64]})
    batch = random_batch(64, 3, torch.linspace(-0.9, 0.9, 64)[:, None])
    copy_actor(agent.actor.net[-1], model.actor)
    copy_weights(linears(agent.actor)[:-1], linears(model.actor.latent_pi))
    critics = [
        (linears(agent.critic), linears(model.critic)),
        (linears(agent.target.network), linears(model.critic_target)),
    ]
    for mine, other in critics:
        copy_weights(mine, other)
    feed(model, batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "randn", lambda shape, **_: torch.zeros(shape))
        patch.setattr(torch.distributions.Normal, "rsample", lambda self, *_: self.loc + 0 * self.scale)
        for _ in range(3):
            agent.update(batch)
        model.train(gradient_steps=3, batch_size=64)
    for mine, other in critics:
        assert_same_weights(mine, other)
    assert_same_weights(linears(agent.actor)[:-1], linears(model.actor.latent_pi))
    torch.testing.assert_close(agent.actor.net[-1].weight[:1], model.actor.mu.weight, **CLOSE)
    torch.testing.assert_close(agent.actor.net[-1].weight[1:], model.actor.log_std.weight, **CLOSE)
    torch.testing.assert_close(agent.temperature.log.reshape(1), model.log_ent_coef, **CLOSE)


def copy_actor(last: torch.nn.Linear, actor: Any) -> None:
    """Ours has one last layer for mean and log-deviation, theirs one each."""
    with torch.no_grad():
        for rows, layer in ((slice(0, 1), actor.mu), (slice(1, 2), actor.log_std)):
            layer.weight.copy_(last.weight[rows])
            layer.bias.copy_(last.bias[rows])
