"""Numbers worked out by hand, and PyTorch's own distributions as a second opinion."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor, tensor

from gradsan.rl import losses
from gradsan.rl.errors import GraphError, ShapeError


def close(actual: Tensor, expected: float | list[float]) -> None:
    torch.testing.assert_close(actual, tensor(expected))


REWARD = tensor([1.0, 2.0])
ENDED = tensor([False, True])


def test_q_learning_bootstraps_with_the_largest_next_value_unless_terminated() -> None:
    next_q = tensor([[3.0, 4.0], [9.0, 9.0]])
    close(losses.q_learning_target(REWARD, ENDED, next_q, 0.5), [1 + 0.5 * 4, 2.0])


def test_double_q_values_the_online_choice_with_the_target_network() -> None:
    online, target = tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([[3.0, 4.0], [5.0, 6.0]])
    none_ended = tensor([False, False])
    close(losses.double_q_target(REWARD, none_ended, online, target, 0.5), [1 + 0.5 * 3, 2 + 0.5 * 6])


def test_n_step_target_takes_a_discount_per_sample() -> None:
    close(
        losses.td_target(REWARD, tensor([False, False]), tensor([10.0, 10.0]), tensor([0.81, 0.9])),
        [9.1, 11.0],
    )


def test_an_infinite_value_behind_termination_does_not_poison_the_target() -> None:
    close(losses.td_target(REWARD, ENDED, tensor([0.0, math.inf]), 0.9), [1.0, 2.0])


def test_td_losses_differ_only_beyond_the_threshold() -> None:
    q, action = tensor([[0.0, 7.0], [7.0, 0.0]]), tensor([0, 1])
    target = tensor([0.5, 3.0])
    close(losses.squared_td_loss(q, action, target), (0.5 * 0.25 + 0.5 * 9) / 2)
    close(losses.huber_td_loss(q, action, target), (0.5 * 0.25 + (3 - 0.5)) / 2)


def test_reinforce_weighs_log_prob_by_return_above_baseline() -> None:
    log_prob = tensor([-1.0, -2.0])
    close(losses.reinforce_loss(log_prob, tensor([3.0, 1.0]), tensor([1.0, 2.0])), -(-1 * 2 + -2 * -1) / 2)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected", "moves"),
    [
        (1.5, 1.0, -1.2, False),  # already too likely: clipped, no gradient
        (0.5, 1.0, -0.5, True),  # too unlikely for a good action: pulled back, unclipped
        (1.5, -1.0, 1.5, True),  # too likely for a bad action
        (0.5, -1.0, 0.8, False),
    ],
)
def test_ppo_clips_only_what_would_move_further_away(
    ratio: float, advantage: float, expected: float, moves: bool
) -> None:
    log_prob = tensor([math.log(ratio)], requires_grad=True)
    loss = losses.ppo_clip_loss(log_prob, tensor([0.0]), tensor([advantage]), 0.2)
    close(loss.detach(), expected)
    loss.backward()
    assert log_prob.grad is not None
    assert bool(log_prob.grad.abs() > 0) is moves


def test_ppo_value_loss_takes_the_worse_of_clipped_and_unclipped() -> None:
    value, old, returns = tensor([2.0, 0.1]), tensor([0.0, 0.0]), tensor([2.0, 1.0])
    close(losses.ppo_value_loss(value, old, returns, 0.5), 0.5 * (1.5**2 + 0.9**2) / 2)


def test_distributions_agree_with_pytorch() -> None:
    generator = torch.Generator().manual_seed(1)
    logits, mean, log_std = (torch.randn(6, 4, generator=generator) for _ in range(3))
    action = tensor([0, 1, 2, 3, 0, 1])
    categorical = torch.distributions.Categorical(logits=logits)
    torch.testing.assert_close(losses.categorical_log_prob(logits, action), categorical.log_prob(action))
    torch.testing.assert_close(losses.categorical_entropy(logits), categorical.entropy())
    normal = torch.distributions.Independent(torch.distributions.Normal(mean, log_std.exp()), 1)
    torch.testing.assert_close(losses.gaussian_log_prob(mean, log_std, logits), normal.log_prob(logits))
    torch.testing.assert_close(losses.gaussian_entropy(log_std), normal.entropy())


def test_squashed_density_agrees_with_pytorch_and_stays_finite_at_saturation() -> None:
    generator = torch.Generator().manual_seed(1)
    mean, log_std, noise = (torch.randn(6, 2, generator=generator) for _ in range(3))
    action, log_prob = losses.tanh_gaussian_sample(mean, log_std, noise)
    squashed = torch.distributions.TransformedDistribution(
        torch.distributions.Normal(mean.double(), log_std.double().exp()),
        torch.distributions.TanhTransform(cache_size=1),
    )
    raw = mean.double() + log_std.double().exp() * noise.double()
    expected = squashed.log_prob(torch.tanh(raw)).sum(1)
    torch.testing.assert_close(log_prob.double(), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(action.double(), torch.tanh(raw), rtol=1e-5, atol=1e-6)
    _, saturated = losses.tanh_gaussian_sample(tensor([[50.0]]), tensor([[0.0]]), tensor([[1.0]]))
    assert saturated.isfinite().all()


def test_sac_by_hand() -> None:
    next_q = (tensor([5.0, 5.0]), tensor([4.0, 6.0]))
    target = losses.sac_target(REWARD, ENDED, next_q, tensor([-2.0, -2.0]), tensor(0.5), 0.9)
    close(target, [1 + 0.9 * (4 + 0.5 * 2), 2.0])
    close(losses.sac_actor_loss(tensor([-2.0, 0.0]), next_q, tensor(0.5)), (-1 - 4 + 0 - 5) / 2)
    close(losses.twin_critic_loss((tensor([1.0]), tensor([3.0])), tensor([2.0])), 1.0)


def test_temperature_rises_while_entropy_is_below_target() -> None:
    log_temperature = tensor(0.0, requires_grad=True)
    # log-prob 3 means entropy −3, below the target of −1: descent must raise log α.
    losses.sac_temperature_loss(log_temperature, tensor([3.0]), -1.0).backward()
    assert log_temperature.grad is not None
    assert log_temperature.grad.item() == -2.0


def test_td3_by_hand() -> None:
    close(losses.smoothed_action(tensor([[0.9, 0.0]]), tensor([[0.4, -3.0]]), 0.5)[0], [1.0, -0.5])
    next_q = (tensor([5.0, 5.0]), tensor([4.0, 6.0]))
    close(losses.td3_target(REWARD, ENDED, next_q, 0.5), [3.0, 2.0])
    close(losses.td3_actor_loss(tensor([1.0, 3.0])), -2.0)


def column(*values: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


def test_gae_by_hand_cuts_at_the_end_and_bootstraps_only_at_truncation() -> None:
    reward, value, next_value = column(1, 1, 1), column(0, 0, 0), column(10, 20, 30)
    none = np.zeros((3, 1), dtype=bool)
    second = np.array([[False], [True], [False]])
    free = losses.gae(reward, value, next_value, none, none, 0.5, 0.5)
    np.testing.assert_allclose(free[:, 0], [6 + 0.25 * 15, 11 + 0.25 * 16, 16])
    ended = losses.gae(reward, value, next_value, second, none, 0.5, 0.5)
    np.testing.assert_allclose(ended[:, 0], [6 + 0.25 * 1, 1, 16])
    cut = losses.gae(reward, value, next_value, none, second, 0.5, 0.5)
    np.testing.assert_allclose(cut[:, 0], [6 + 0.25 * 11, 11, 16])


def test_n_step_returns_by_hand_and_as_gae_with_full_trace() -> None:
    rng = np.random.default_rng(3)
    reward, value, next_value = rng.normal(size=(3, 12, 2))
    terminated, truncated = rng.random((2, 12, 2)) < 0.2
    next_value[:-1] = np.where(terminated | truncated, next_value, np.roll(value, -1, axis=0))[:-1]
    returns = losses.n_step_returns(reward, next_value, terminated, truncated, 0.9)
    advantage = losses.gae(reward, value, next_value, terminated, truncated, 0.9, 1.0)
    np.testing.assert_allclose(returns, advantage + value, rtol=1e-5, atol=1e-6)
    tail = np.array([[True]])
    np.testing.assert_allclose(losses.n_step_returns(column(1), column(8), ~tail, tail, 0.5), [[5.0]])
    np.testing.assert_allclose(losses.n_step_returns(column(1), column(8), tail, ~tail, 0.5), [[1.0]])


def test_the_broadcast_slip_is_named_with_its_cure() -> None:
    with pytest.raises(
        ShapeError, match=r"target has shape \[2, 1\], expected \[B=2\]; write target.squeeze"
    ):
        losses.squared_td_loss(torch.zeros(2, 3), tensor([0, 1]), torch.zeros(2, 1))


def test_float_actions_and_ragged_rollouts_are_refused() -> None:
    with pytest.raises(ShapeError, match="action must hold integers"):
        losses.squared_td_loss(torch.zeros(2, 3), tensor([0.0, 1.0]), torch.zeros(2))
    with pytest.raises(ShapeError, match="one shape"):
        losses.gae(*(np.zeros((3, 1)),) * 2, np.zeros((2, 1)), *(np.zeros((3, 1), dtype=bool),) * 2, 0.9, 0.9)


def test_a_temperature_per_sample_is_refused() -> None:
    log_prob, q, column = torch.zeros(2), (torch.zeros(2),) * 2, torch.zeros(2, 1)
    with pytest.raises(
        ShapeError, match=r"sac_actor_loss: temperature has shape \[2, 1\], expected a scalar"
    ):
        losses.sac_actor_loss(log_prob, q, column)
    with pytest.raises(ShapeError, match=r"sac_temperature_loss: log_temperature has shape \[2, 1\]"):
        losses.sac_temperature_loss(column, log_prob, -1.0)
    with pytest.raises(ShapeError, match=r"sac_target: temperature has shape \[2, 1\]"):
        losses.sac_target(REWARD, ENDED, q, log_prob, column, 0.9)
    close(losses.sac_actor_loss(log_prob - 1, q, torch.ones(1)), -1.0)  # as many people keep it


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
def test_actions_may_be_integers_of_any_size(dtype: torch.dtype) -> None:
    values, action = tensor([[0.0, 1.0], [2.0, 3.0]]), tensor([1, 0], dtype=dtype)
    close(losses.squared_td_loss(values, action, tensor([1.0, 2.0])), 0.0)
    close(losses.categorical_log_prob(values, action), values.log_softmax(1)[[0, 1], [1, 0]].tolist())


def test_there_is_no_action_that_counts_for_nothing() -> None:
    with pytest.raises(ShapeError, match="action must hold integers"):
        losses.categorical_log_prob(torch.zeros(2, 2), tensor([True, False]))
    with pytest.raises(IndexError):  # as PyTorch's cross entropy does by default for -100
        losses.categorical_log_prob(torch.zeros(2, 2), tensor([0, -100]))


def test_an_action_that_is_impossible_leaves_the_entropy_finite() -> None:
    logits = tensor([[0.0, 0.0, -math.inf]], requires_grad=True)
    entropy = losses.categorical_entropy(logits)
    close(entropy.detach(), [math.log(2)])
    entropy.sum().backward()
    close(logits.grad, [[0.0, 0.0, 0.0]])


def test_an_empty_batch_is_refused() -> None:
    none = torch.zeros(0)
    for loss, arguments in (
        (losses.a2c_loss, (none, none)),
        (losses.value_loss, (none, none)),
        (losses.td3_actor_loss, (none,)),
        (losses.squared_td_loss, (torch.zeros(0, 2), none.long(), none)),
    ):
        with pytest.raises(ShapeError, match="empty"):
            loss(*arguments)


def test_returns_are_made_of_numpy_arrays() -> None:
    flags = np.zeros((3, 1), dtype=bool)
    with pytest.raises(ShapeError, match="gae: takes NumPy arrays, not Tensor"):
        losses.gae(torch.zeros(3, 1), torch.zeros(3, 1), torch.zeros(3, 1), flags, flags, 0.9, 0.9)
    with pytest.raises(GraphError, match="n_step_returns: value must be a constant"):
        losses.n_step_returns(np.zeros((3, 1)), torch.zeros(3, 1, requires_grad=True), flags, flags, 0.9)


def test_every_loss_says_where_it_comes_from() -> None:
    for name in losses.__all__:
        assert re.search(
            r"[A-Z][a-z]+(\s+et al\.| & [A-Z][a-z]+)?\s+(19|20)\d\d", getattr(losses, name).__doc__
        ), name
