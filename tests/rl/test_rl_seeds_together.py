"""Seeds that are trained together: each one's update is the one it would make alone, and so are its files."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import Tensor, nn

import gradsan
from gradsan.rl.algorithms import build, preset
from gradsan.rl.config import Sanitize
from gradsan.rl.evaluate import evaluate
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.networks import mlp, seeded
from gradsan.rl.playing import load_agent
from gradsan.rl.ppo_seeds import SeedsPPO
from gradsan.rl.rollout import Samples
from gradsan.rl.runs import Run, read_table
from gradsan.rl.seeds import SeedJob, SeedOutcome, SeedRunner, jobs_for
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.seeds_together import Together, play_together, suits
from gradsan.rl.signals import StopRequest
from gradsan.rl.stacked import StackedPerceptrons, clip_each_norm_
from gradsan.rl.training import train

# Both sides add the same float32 numbers in another order; Adam's first steps are at most the learning rate.
CLOSE = {"rtol": 1e-3, "atol": 2e-5}
SMALL = {"hidden": (16, 16), "num_envs": 4, "rollout": 16, "epochs": 3, "batch_size": 64}
SEEDS = (1, 2, 5)


def agent(env: str, seed: int, **options: Any) -> Any:
    config = preset("ppo", env, **{**SMALL, **options, "seed": seed})
    return build(config, make_envs(env, config.num_envs))


def together(env: str, **options: Any) -> SeedsPPO:
    agents = [agent(env, seed, **options) for seed in SEEDS]
    return SeedsPPO(agents, make_envs(env, agents[0].config.num_envs * len(SEEDS)))


@pytest.mark.parametrize("env", ["CartPole-v1", "toys/Identity-v0", "toys/Reach-v0", "toys/Chord-v0"])
@pytest.mark.parametrize("options", [{}, {"entropy_bonus": 0.01, "value_clip": 0.2, "max_grad_norm": 0.01}])
def test_an_update_is_the_one_that_each_seed_makes_alone(env: str, options: dict[str, Any]) -> None:
    """Also where copies spend steps on resets (CartPole's own vector environment), which must not be learned from."""
    group, alone = together(env, **options), [agent(env, seed, **options) for seed in SEEDS]
    rollouts: list[Any] = []
    update, group.update = group.update, rollouts.append  # type: ignore[method-assign]
    group.advance()
    (samples,) = rollouts
    for index, one in enumerate(alone):
        assert_same_weights(one, group.agents[index], {"rtol": 0.0, "atol": 0.0})  # as if begun alone
        valid = samples.weight[index] > 0
        one.step = group.step
        one.update(Samples(*(field[index][valid] for field in samples[:5])))
    update(samples)
    for one, other in zip(alone, group.agents, strict=True):
        assert_same_weights(one, other, CLOSE)


def assert_same_weights(one: Any, other: Any, within: dict[str, float]) -> None:
    for mine, theirs in ((one.networks, other.networks), (one.average.network, other.average.network)):
        for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(a, b, **within)


def test_gradients_are_clipped_for_each_seed_by_itself() -> None:
    chance = torch.Generator().manual_seed(0)
    shapes = [(3, 8), (3, 4)]
    louder = torch.tensor([[0.01], [1.0], [5.0]])
    gradients = [louder * torch.randn(shape, generator=chance) for shape in shapes]
    parameters: list[Tensor] = [nn.Parameter(torch.zeros(shape)) for shape in shapes]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    clip_each_norm_(parameters, 0.5)
    for seed in range(3):
        own = [nn.Parameter(torch.zeros(shape[1:])) for shape in shapes]
        for parameter, gradient in zip(own, gradients, strict=True):
            parameter.grad = gradient[seed].clone()
        nn.utils.clip_grad_norm_(own, 0.5)
        for parameter, stack in zip(own, parameters, strict=True):
            assert stack.grad is not None
            torch.testing.assert_close(stack.grad[seed], parameter.grad)


@pytest.mark.parametrize("sizes", [(4, 16, 16, 2), (9, 3, 1), (5, 2)])
def test_a_stack_of_perceptrons_gives_what_each_gives_and_the_same_gradient(sizes: tuple[int, ...]) -> None:
    """Two kinds, wide and narrow layers, and inputs so large that tanh is flat: PyTorch's own layers are the judge."""
    chance = torch.Generator().manual_seed(0)
    others = (sizes[0], 6, 3)
    with seeded(0):
        kinds = [[mlp(shape, nn.Tanh) for _ in range(3)] for shape in (sizes, others)]
    alone = copy.deepcopy(kinds)
    stack = StackedPerceptrons(*kinds)
    x = torch.randn(3, 7, sizes[0], generator=chance) * torch.tensor([0.01, 1.0, 30.0]).view(3, 1, 1)
    weights = [torch.randn(3, shape[-1], 7, generator=chance) for shape in (sizes, others)]
    outputs = stack(x)
    sum((output * weight).sum() for output, weight in zip(outputs, weights, strict=True)).backward()
    assert stack.rows.grad is not None
    for kind, output in enumerate(outputs):
        torch.testing.assert_close(stack.constant(x, kind), output.detach(), rtol=0, atol=0)
    for index, group in enumerate(zip(*alone, strict=True)):
        for one, output, weight in zip(group, outputs, weights, strict=True):
            expected = one(x[index]).mT
            torch.testing.assert_close(output[index], expected, rtol=1e-5, atol=1e-6)
            (expected * weight[index]).sum().backward()
        own = [parameter.grad for one in group for parameter in one.parameters()]
        gradient = nn.utils.parameters_to_vector([each for each in own if each is not None])
        torch.testing.assert_close(stack.rows.grad[index], gradient, rtol=1e-4, atol=1e-5)


def test_a_stack_refuses_the_backward_of_what_it_has_written_over() -> None:
    """Hidden layers are computed in the same place each time."""
    with seeded(0):
        stack = StackedPerceptrons([mlp((4, 8, 2), nn.Tanh) for _ in range(3)])
    (first,), (second,) = stack(torch.ones(3, 7, 4)), stack(torch.zeros(3, 7, 4))
    second.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        first.sum().backward()


def test_the_optimizer_of_all_becomes_the_optimizer_of_each() -> None:
    """A seed that is resumed alone takes up where it was: moments lie where its parameters lie in the stack."""
    group = together("toys/Reach-v0")
    group.advance()
    group.hand_over()
    for index, one in enumerate(group.agents):
        moments = {id(parameter): one.optimizer.state[parameter]["exp_avg"] for parameter in one.parameters}
        row = group.optimizer.state[group.networks.stack.rows]["exp_avg"][index]
        networks = (one.networks.actor.net, one.networks.critic)
        own = [moments[id(parameter)] for network in networks for parameter in network.parameters()]
        torch.testing.assert_close(nn.utils.parameters_to_vector(own), row, rtol=0, atol=0)
        assert group.networks.log_std is not None
        deviations = group.optimizer.state[group.networks.log_std]["exp_avg"][index]
        torch.testing.assert_close(moments[id(one.networks.actor.head.log_std)], deviations, rtol=0, atol=0)


def test_what_is_played_together_is_what_each_plays_alone() -> None:
    group = together("CartPole-v1")
    group.advance()
    returns = play_together(group, episodes=3)
    for own, one in zip(returns, group.agents, strict=True):
        with make_env("CartPole-v1") as env:
            np.testing.assert_array_equal(own, evaluate(one, env, 3, one.base.seed))


def test_every_epoch_brings_the_advantages_of_each_seed_to_one_scale() -> None:
    """Over the valid steps of that seed's rollout, as `ppo.scale_advantage` does it for a seed alone."""
    group = together("CartPole-v1", rollout=35, batch_size=32)
    batches: list[Any] = []
    losses = group.losses
    group.losses = lambda batch, *rest, **named: (batches.append(batch), losses(batch, *rest, **named))[1]  # type: ignore[method-assign]
    group.advance()
    assert len(batches) == 3 * 4
    for epoch in (batches[:4], batches[4:8], batches[8:]):
        weight, advantage = (
            torch.cat([getattr(b, f) for b in epoch], dim=1) for f in ("weight", "advantage")
        )
        for seed in range(len(SEEDS)):
            deviation, mean = torch.std_mean(advantage[seed][weight[seed] > 0])
            torch.testing.assert_close(deviation, torch.tensor(1.0), rtol=1e-4, atol=0)
            torch.testing.assert_close(mean, torch.tensor(0.0), rtol=0, atol=1e-5)
    assert any((batch.weight == 0).any() for batch in batches)  # steps that were spent on resets


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_training_together_is_clean_under_the_sanitizer(mode: Sanitize) -> None:
    group = together("toys/Identity-v0", batch_size=32)
    with gradsan.watch(mode) as report:
        for _ in range(4):
            group.advance()
    assert report.findings == []


def run_all(jobs: Sequence[SeedJob], stop: StopRequest | None = None) -> list[SeedOutcome]:
    display = SeedsDisplay("ppo", len(jobs), jobs[0].config.steps, Console(file=io.StringIO()))
    return list(Together(otherwise=refused)(jobs, display, stop or StopRequest()))


def refused(jobs: Sequence[SeedJob], display: SeedsDisplay, stop: StopRequest) -> Iterator[SeedOutcome]:
    raise AssertionError("left to processes")


@pytest.fixture
def _threads_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)


@pytest.mark.usefixtures("_threads_as_before")
def test_each_seed_leaves_a_run_of_its_own_that_can_be_played_and_resumed(tmp_path: Path) -> None:
    config = preset("ppo", "CartPole-v1", **SMALL, steps=300, eval_every=150, eval_episodes=2)
    ended = run_all(jobs_for(config, SEEDS, tmp_path))
    assert [one.finished for one in ended] == [True] * 3
    for one in ended:
        assert one.training is not None
        assert one.training.step >= 300
        assert len(read_table(Run(one.job.folder).evaluations)) == 2
        loaded = load_agent(Run(one.job.folder))
        with make_env("CartPole-v1") as env:
            np.testing.assert_array_equal(evaluate(loaded, env, 2, one.job.seed), one.training.returns)
    further = preset("ppo", "CartPole-v1", **SMALL, steps=500, seed=SEEDS[1], eval_every=0, eval_episodes=1)
    resumed = train(further, resume=ended[1].job.folder, console=Console(file=io.StringIO()))
    assert resumed.finished


@pytest.mark.usefixtures("_threads_as_before")
def test_the_command_finds_nothing_in_seeds_that_are_trained_together(tmp_path: Path) -> None:
    config = preset("ppo", "CartPole-v1", steps=600, eval_every=0, eval_episodes=1)
    for one in run_all(jobs_for(config, SEEDS, tmp_path)):
        assert one.training is not None
        assert one.training.findings == []


@pytest.mark.usefixtures("_threads_as_before")
def test_a_request_to_stop_saves_all_seeds(tmp_path: Path) -> None:
    stop, config = StopRequest(), preset("ppo", "CartPole-v1", **SMALL, steps=10**6, sanitize="off")
    advance = SeedsPPO.advance

    def once(group: SeedsPPO) -> None:
        advance(group)
        stop.requested = True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SeedsPPO, "advance", once)
        ended = run_all(jobs_for(config, SEEDS, tmp_path), stop)
    assert [one.finished for one in ended] == [False] * 3
    assert all(one.job.saved for one in ended)


@pytest.mark.parametrize(
    ("algorithm", "env", "options"),
    [
        ("dqn", "CartPole-v1", {}),
        ("ppo", "CartPole-v1", {"hidden": (256, 256)}),
        ("ppo", "CartPole-v1", {"normalize": True}),
        ("ppo", "CartPole-v1", {"vectorization": "async"}),
        ("ppo", "toys/Halves-v0", {}),
        ("ppo", "nowhere-v0", {}),
    ],
)
def test_what_cannot_be_trained_together_is_left_to_others(
    algorithm: str, env: str, options: dict[str, Any], tmp_path: Path
) -> None:
    config = preset(algorithm, env, **options)
    assert not suits(config)
    left: list[SeedJob] = []
    others: SeedRunner = lambda jobs, *_: iter(left.extend(jobs) or ())  # noqa: E731
    jobs = jobs_for(config, SEEDS, tmp_path)
    display = SeedsDisplay("", 3, 1, Console(file=io.StringIO()))
    assert list(Together(others)(jobs, display, StopRequest())) == []
    assert left == jobs
