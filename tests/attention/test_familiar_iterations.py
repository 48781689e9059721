"""Iterations that only repeat are counted, not judged again, whatever numbers run through them."""

from __future__ import annotations

import pytest
import torch

import gradsan
from gradsan.record.recorder import JUDGED_OFTEN_ENOUGH, Recorder


def _ppo(updates: int) -> None:
    policy, value = torch.nn.Linear(8, 4), torch.nn.Linear(8, 1)
    params = [*policy.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(params, lr=1e-3)
    s, a, advantage, target = torch.randn(32, 8), torch.randint(4, (32,)), torch.randn(32), torch.randn(32)
    old = torch.full((32,), -1.4)
    for _ in range(updates):
        dist = torch.distributions.Categorical(logits=policy(s))
        ratio = (dist.log_prob(a) - old).exp()
        surrogate = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = surrogate + (value(s).squeeze(-1) - target).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()


def test_ppo_is_familiar_in_deep_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, familiar, updates = Recorder._end_iteration, list[bool](), 8 * JUDGED_OFTEN_ENOUGH

    def end(recorder: Recorder) -> None:
        ended(recorder)
        familiar.append(recorder.familiar)

    monkeypatch.setattr(Recorder, "_end_iteration", end)
    with gradsan.watch(mode="deep"):
        _ppo(updates)
    assert len(familiar) == updates
    assert all(familiar[updates // 2 :])
