"""Each agent learns a trivial problem, gives the same result twice, and keeps its contract."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import rl_toys
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import gradsan
from gradsan.rl.agent import Agent
from gradsan.rl.algorithms import ALGORITHMS, build, preset
from gradsan.rl.config import Sanitize
from gradsan.rl.denormals import denormals_flushed, flushing
from gradsan.rl.envs import Envs
from gradsan.rl.errors import ConfigError, ContractError, EnvironmentFault
from gradsan.rl.evaluate import evaluate
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.rollout import Samples

# Small networks and few steps: trivial problems in seconds.
OFF_POLICY = {
    "steps": 900,
    "hidden": (32,),
    "learning_rate": 3e-3,
    "batch_size": 64,
    "buffer_size": 2_000,
    "learning_starts": 100,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": OFF_POLICY | {"train_every": 4, "updates_per_round": 4, "gamma": 0.5, "target_every": 50},
    "reinforce": {"steps": 6_000, "hidden": (32,), "learning_rate": 1e-2, "gamma": 0.5},
    "a2c": {"steps": 8_000, "hidden": (32,), "learning_rate": 3e-3, "gamma": 0.5},
    "ppo": {"steps": 4_000, "hidden": (32,), "epochs": 5, "learning_rate": 3e-3, "gamma": 0.5},
    "sac": OFF_POLICY | {"gamma": 0.5},
    "td3": OFF_POLICY | {"gamma": 0.5, "exploration_noise": 0.3},
}
# Best possible, and what counts as solved.
GOALS = {
    "Identity": 7.5,
    "DiscreteIdentity": 7.5,
    "Bandit": 7.5,
    "Reach": -0.02,
    "Halves": 7.5,
    "Memory": 7.5,
}
DISCRETE, CONTINUOUS = ("dqn", "reinforce", "a2c", "ppo"), ("sac", "td3", "ppo", "a2c", "reinforce")


def make(algorithm: str, toy: str, **options: Any) -> Agent:
    config = preset(algorithm, f"toys/{toy}-v0", **{**OPTIONS[algorithm], **options})
    return build(config, make_envs(config.env, config.num_envs))


def learned(agent: Agent, steps: int | None = None) -> Agent:
    while agent.step < (steps or agent.base.steps):
        agent.advance()
    return agent


def score(agent: Agent) -> float:
    return float(evaluate(agent, make_env(agent.base.env), 20, seed=5).mean())


@pytest.mark.parametrize("algorithm", DISCRETE)
@pytest.mark.parametrize("toy", ["Identity", "Bandit", "DiscreteIdentity", "Memory"])
def test_learns_to_choose(algorithm: str, toy: str) -> None:
    assert score(learned(make(algorithm, toy))) >= GOALS[toy]


@pytest.mark.parametrize("toy", ["Parts", "Numbers"])
@pytest.mark.parametrize("algorithm", ["dqn", "ppo"])
def test_learns_from_observations_of_several_parts(algorithm: str, toy: str) -> None:
    assert score(learned(make(algorithm, toy))) >= GOALS["Identity"]


@pytest.mark.parametrize("algorithm", ["ppo", "a2c", "reinforce"])
def test_learns_to_choose_several_things_at_once(algorithm: str) -> None:
    assert score(learned(make(algorithm, "Chord"))) >= GOALS["Identity"]


@pytest.mark.parametrize("algorithm", CONTINUOUS)
def test_learns_to_reach_a_number_in_one_step(algorithm: str) -> None:
    more = {"sac": {}, "td3": {"steps": 2_500}, "ppo": {"steps": 16_000}, "a2c": {"steps": 24_000}}
    slow = {"steps": 24_000, "num_envs": 32, "learning_rate": 2e-2}
    assert score(learned(make(algorithm, "Reach", **more.get(algorithm, slow)))) >= GOALS["Reach"]


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("dqn", {"steps": 300, "updates_per_round": 2, "batch_size": 32}),
        ("ppo", {"steps": 768, "num_envs": 4, "epochs": 4, "batch_size": 32}),
        ("a2c", {"steps": 800, "num_envs": 4}),
        ("reinforce", {"steps": 800, "num_envs": 4, "baseline_updates": 1}),
    ],
)
def test_learns_from_images(algorithm: str, options: dict[str, Any]) -> None:
    assert score(learned(make(algorithm, "Halves", **options, learning_rate=1e-3))) >= GOALS["Halves"]


def test_an_observation_may_be_a_view_that_runs_backwards() -> None:
    assert evaluate(make("dqn", "Mirrored"), make_env("toys/Mirrored-v0"), 1, seed=5).shape == (1,)


@pytest.mark.parametrize(
    "options", [{"loss": "huber"}, {"double": True}, {"n_step": 3}, {"target_rate": 0.5}, {"num_envs": 4}]
)
def test_dqn_learns_with_each_of_its_options(options: dict[str, Any]) -> None:
    assert score(learned(make("dqn", "Identity", **options))) >= GOALS["Identity"]


@pytest.mark.parametrize("options", [{"value_clip": 0.2}, {"normalize": True}, {"entropy_bonus": 0.01}])
def test_ppo_learns_with_each_of_its_options(options: dict[str, Any]) -> None:
    assert score(learned(make("ppo", "Identity", **options))) >= GOALS["Identity"]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_ppo_normalises_by_what_the_agent_acts_on(mode: AutoresetMode) -> None:
    """The first observation of an episode, too; here there is no other to act on."""
    config = preset("ppo", "toys/Far-v0", **OPTIONS["ppo"], normalize=True)
    envs = Envs(SyncVectorEnv([rl_toys.Far] * config.num_envs, autoreset_mode=mode))
    agent = learned(build(config, envs))
    assert evaluate(agent, make_env("toys/Far-v0"), 200, seed=5).mean() >= 0.9


@pytest.mark.parametrize("algorithm", ["ppo", "a2c"])
@pytest.mark.parametrize(("num_envs", "rollout"), [(1, 2), (2, 1)])
def test_a_rollout_may_hold_one_sample_or_none(algorithm: str, num_envs: int, rollout: int) -> None:
    """Where a step is spent on each reset, and episodes last one step, half of all steps are none."""
    config = preset(algorithm, "toys/Far-v0", num_envs=num_envs, rollout=rollout, steps=64)
    modes = {"autoreset_mode": AutoresetMode.NEXT_STEP}
    agent = learned(build(config, Envs(SyncVectorEnv([rl_toys.Far] * num_envs, **modes))))
    assert all(torch.isfinite(weight).all() for weight in weights(agent))


def test_dqn_waits_for_its_first_transition() -> None:
    learned(make("dqn", "Identity", n_step=7, train_every=2, learning_starts=0, steps=16))


@pytest.mark.parametrize("num_envs", [1, 3, 8])
def test_dqn_makes_every_update_that_is_due(num_envs: int) -> None:
    options = {"train_every": 2, "updates_per_round": 1, "learning_starts": 0, "target_rate": 0.5}
    agent: Any = make("dqn", "Identity", num_envs=num_envs, steps=48, target_every=2, **options)
    tracked = []
    agent.target.track = tracked.append
    learned(agent)
    assert (agent.step, agent.updates, tracked) == (48, 24, [0.5] * 24)


def test_ppo_leaves_no_batch_of_a_few_samples() -> None:
    agent: Any = make("ppo", "Identity", epochs=2, batch_size=16)
    obs = torch.zeros(70, 3)
    samples = Samples(obs, torch.arange(70), *torch.arange(210.0).reshape(3, 70))
    batches = [batch for batch, _ in agent.minibatches(samples, torch.zeros(70))]
    assert [len(batch.action) for batch in batches] == [18, 18, 17, 17] * 2
    for half in (batches[:4], batches[4:]):
        assert torch.equal(torch.cat([batch.action for batch in half]).sort().values, torch.arange(70))


def test_ppo_learns_from_one_look_at_its_rollout_in_every_epoch() -> None:
    """As in algorithm 1 of the paper: what the critic said when the rollout was full is what all epochs aim at."""
    agent: Any = make("ppo", "Identity", num_envs=2, rollout=35, epochs=3, batch_size=16, value_clip=0.5)
    batches: list[Samples] = []
    loss, asked, value = agent.loss, [], agent.value
    agent.loss = lambda batch, *rest, **named: (batches.append(batch), loss(batch, *rest, **named))[1]
    agent.value = lambda obs: (asked.append(obs), value(obs))[1]
    agent.advance()
    assert [len(batch.action) for batch in batches] == [18, 18, 17, 17] * 3
    assert [len(obs) for obs in asked].count(35 + 1) == 1  # beside the states that episodes were cut at
    epochs = [Samples(*map(torch.cat, zip(*batches[i : i + 4], strict=True))) for i in (0, 4, 8)]
    assert not torch.equal(epochs[0].value, epochs[1].value)  # another order
    for field in ("value", "returns", "advantage"):
        first, *others = (getattr(epoch, field).sort().values for epoch in epochs)
        assert all(torch.equal(first, other) for other in others)
    torch.testing.assert_close(epochs[0].advantage.mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(epochs[0].advantage.std(), torch.tensor(1.0))


def test_sac_learns_with_a_fixed_temperature_and_leaves_it_alone() -> None:
    agent = learned(make("sac", "Reach", temperature=0.05))
    assert score(agent) >= GOALS["Reach"]
    assert float(agent.metrics["temperature"]) == pytest.approx(0.05)


def weights(agent: Agent) -> list[torch.Tensor]:
    parts = agent.policy_state()["parts"]
    return [value for part in parts.values() for value in part.values() if isinstance(value, torch.Tensor)]


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_the_same_seed_gives_the_same_result_and_another_seed_another(algorithm: str) -> None:
    toy = "Reach" if algorithm in ("sac", "td3") else "Identity"
    one, two, other = (weights(learned(make(algorithm, toy, seed=seed), steps=300)) for seed in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_evaluation_changes_nothing(algorithm: str) -> None:
    toy = "Reach" if algorithm in ("sac", "td3") else "Identity"
    one, two = (learned(make(algorithm, toy), steps=150) for _ in range(2))
    score(one)
    assert all(
        torch.equal(a, b) for a, b in zip(weights(learned(one, 300)), weights(learned(two, 300)), strict=True)
    )


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_contracts_hold_at_every_backward_when_deep(algorithm: str) -> None:
    toy = "Reach" if algorithm in ("sac", "td3") else "Identity"
    agent = learned(make(algorithm, toy, sanitize="deep"), steps=200)
    assert agent.updates > 0
    assert "reaches" in str(agent.contracts)


def test_a_broken_contract_stops_before_it_trains() -> None:
    agent: Any = make("dqn", "Identity")
    agent.target.network.requires_grad_(True)
    before = weights(agent)[0].clone()
    agent.target_value = lambda batch: agent.target.network(batch.next_obs).amax(dim=1)
    with pytest.raises(
        ContractError, match=r"td loss reaches q, avoids target.*reaches `agent\.target\.network\.0"
    ):
        learned(agent, steps=300)
    assert torch.equal(weights(agent)[0], before)


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize(
    ("algorithm", "toy"), [(a, "Identity") for a in DISCRETE] + [(a, "Reach") for a in CONTINUOUS]
)
def test_every_agent_runs_clean_under_the_sanitizer(algorithm: str, toy: str, mode: Sanitize) -> None:
    """`make clean-agents` does the same with networks, environments and options as they come, for longer."""
    agent = make(algorithm, toy, sanitize=mode)
    with gradsan.watch(mode) as report:
        learned(agent, steps=250)
    assert report.findings == []


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_an_agent_uses_pytorch_as_everybody_does(algorithm: str) -> None:
    """Optimizers of PyTorch itself, networks that are called as modules, nothing in the place of its functions."""
    agent: Any = make(algorithm, "Reach" if algorithm in ("sac", "td3") else "Identity")
    optimizers = [part for part in agent.parts().values() if isinstance(part, torch.optim.Optimizer)]
    assert optimizers
    assert all(type(optimizer).__module__.startswith("torch.optim") for optimizer in optimizers)
    trained = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    networks = [part for part in agent.parts().values() if isinstance(part, torch.nn.Module)]
    layers = [
        layer
        for net in networks
        for layer in net.modules()
        if isinstance(layer, torch.nn.Linear) and id(layer.weight) in trained
    ]
    called: list[torch.nn.Module] = []
    for layer in layers:
        assert layer.weight.is_contiguous()
        layer.register_forward_hook(lambda module, *_: called.append(module))
    learned(agent, steps=300)
    assert set(called) == set(layers)


@pytest.mark.parametrize("double", [False, True])
def test_targets_made_ahead_are_those_of_each_update_on_its_own(
    double: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for ahead in (16, 1):
        monkeypatch.setattr("gradsan.rl.dqn.TOGETHER", ahead)
        agent: Any = learned(make("dqn", "Identity", double=double, learning_starts=200), steps=150)
        agent.learn(37)
        assert agent.updates == 37
        found.append(agent.q.state_dict())
    # A product of more rows may round another way.
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def test_targets_follow_softly_and_hard() -> None:
    agent: Any = make("dqn", "Identity")
    online, target = agent.q[0].weight, agent.target.network[0].weight
    with torch.no_grad():
        online += 1
    before = target.clone()
    agent.target.track(0.25)
    torch.testing.assert_close(target, before + 0.25)
    agent.target.sync()
    assert torch.equal(target, online)
    assert not target.requires_grad


def test_unsuitable_environments_and_options_get_one_sentence() -> None:
    with pytest.raises(EnvironmentFault, match="needs Discrete"):
        make("dqn", "Reach")
    with pytest.raises(EnvironmentFault, match="needs Box"):
        make("sac", "Identity")
    for toy in ("TwoEyes", "NoEyes", "TwoScreens"):
        with pytest.raises(EnvironmentFault, match="Unsupported observation space"):
            make("ppo", toy)
    with pytest.raises(EnvironmentFault, match="needs Discrete actions; for MultiDiscrete, try"):
        make("dqn", "Chord")
    with pytest.raises(ConfigError, match=r"1,000,000,000,000,000 transitions does not fit into memory"):
        make("dqn", "Identity", buffer_size=10**15)
    with pytest.raises(EnvironmentFault, match="Unsupported action space MultiBinary"):
        make("ppo", "TwoHands")
    with pytest.raises(ConfigError, match="--steps must be at least 1"):
        preset("ppo", "CartPole-v1", steps=0)
    with pytest.raises(ConfigError, match="--gamma must lie between 0 and 1"):
        preset("dqn", "CartPole-v1", gamma=1.5)
    with pytest.raises(ConfigError, match="--updates-per-round must be at least 1"):
        preset("dqn", "CartPole-v1", updates_per_round=0)
    with pytest.raises(ConfigError, match="--averaging must lie between 0 and 1"):
        preset("a2c", "CartPole-v1", averaging=2)
    for algorithm, option, value in (
        ("dqn", "target_every", 0),
        ("dqn", "buffer_size", 0),
        ("dqn", "hidden", (64, 0)),
        ("dqn", "epsilon_end", -0.1),
        ("dqn", "learning_starts", -1),
        ("reinforce", "max_episode_steps", 0),
        ("a2c", "rollout", 0),
        ("a2c", "max_grad_norm", 0.0),
        ("ppo", "learning_rate", math.nan),
        ("ppo", "clip", 0.0),
        ("ppo", "value_clip", -1.0),
        ("sac", "batch_size", 0),
        ("td3", "exploration_noise", -0.1),
    ):
        with pytest.raises(ConfigError, match=f"--{option.replace('_', '-')} must"):
            preset(algorithm, "CartPole-v1", **{option: value})
    with pytest.raises(ConfigError, match="Unknown algorithm 'dpn'"):
        preset("dpn", "CartPole-v1")
    for device in ("gpu7", "meta"):
        with pytest.raises(ConfigError, match=f"Unknown device '{device}'"):
            preset("dqn", "CartPole-v1", device=device).torch_device()


@pytest.mark.parametrize("robot", ["Hopper-v5", "HalfCheetah-v5"])
def test_robots_have_the_usual_defaults(robot: str) -> None:
    ppo: Any = preset("ppo", robot)
    assert (ppo.num_envs, ppo.rollout, ppo.normalize, ppo.gamma) == (1, 2048, True, 0.99)
    for algorithm in ("sac", "td3"):
        other: Any = preset(algorithm, robot)
        assert (other.learning_starts, other.hidden, other.learning_rate) == (10_000, (256, 256), 3e-4)


def test_denormals_are_flushed_inside_and_as_before_outside() -> None:
    smallest = torch.tensor(torch.finfo(torch.float32).tiny)
    with denormals_flushed():
        assert (smallest * 0.5).item() == 0
        with denormals_flushed():
            pass
        assert flushing()
    assert (smallest * 0.5).item() > 0


def test_policy_and_critic_share_nothing() -> None:
    agent: Any = make("a2c", "Identity")
    x = torch.eye(3)
    chosen, value = agent.networks(x)
    torch.testing.assert_close(agent.networks.policy(x).logits, chosen.logits)
    np.testing.assert_allclose(agent.networks.value(x), value.detach().numpy(), rtol=1e-6)
    value.sum().backward()
    assert all(parameter.grad is None for parameter in agent.networks.actor.parameters())
    assert all(parameter.grad is not None for parameter in agent.networks.critic.parameters())


AVERAGED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a2c": ("Identity", "networks", {}),
    "dqn": ("Identity", "q", {"learning_starts": 0}),
    "ppo": ("Identity", "networks", {}),
    "sac": ("Reach", "actor", {"learning_starts": 0}),
    "td3": ("Reach", "actor", {"learning_starts": 0, "policy_delay": 1}),
}


@pytest.mark.parametrize("algorithm", AVERAGED)
def test_greedy_play_takes_the_running_average_of_the_weights(algorithm: str) -> None:
    env, part, options = AVERAGED[algorithm]
    agent: Any = make(algorithm, env, averaging=1.0, **options)
    network, seen = getattr(agent, part), []
    for _ in range(3):
        agent.advance()
        seen.append([weight.detach().clone() for weight in network.parameters()])
    for weight, *past in zip(agent.average.network.parameters(), *seen, strict=True):
        torch.testing.assert_close(weight, torch.stack(past).mean(dim=0))
    everywhere = np.eye(3, dtype=np.float32) if env == "Identity" else np.zeros((3, 1), np.float32)
    before = agent.act(everywhere)
    torch._foreach_neg_([weight.detach() for weight in network.parameters()])
    np.testing.assert_array_equal(agent.act(everywhere), before)


@pytest.mark.parametrize("algorithm", AVERAGED)
def test_an_average_over_nothing_plays_the_latest_weights(algorithm: str) -> None:
    env, part, _ = AVERAGED[algorithm]
    agent: Any = learned(make(algorithm, env, averaging=0.0), steps=200)
    latest, played = (list(net.parameters()) for net in (getattr(agent, part), agent.average.network))
    assert all(torch.equal(one, other) for one, other in zip(latest, played, strict=True))


def test_what_the_agent_acts_with_carries_no_graph() -> None:
    agent: Any = make("ppo", "Reach")
    chosen = agent.networks.policy(torch.zeros(4, 1))
    assert not chosen.log_prob(torch.zeros(4, 1)).requires_grad
    assert not chosen.entropy().requires_grad


def test_running_statistics_agree_with_numpy() -> None:
    from gradsan.rl.normalize import RunningNorm

    rng = np.random.default_rng(0)
    data = rng.normal(3, 2, (100, 2))
    norm = RunningNorm((2,))
    for batch in np.split(data, [10, 11, 60]):
        norm.update(batch)
    # The prior weight of 1e-4 samples is what separates the two.
    np.testing.assert_allclose(norm.mean, data.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(norm.var, data.var(axis=0), rtol=1e-4)
