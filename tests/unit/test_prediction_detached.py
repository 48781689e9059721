"""A cut is told though the loss still feeds somebody: a target network, which nobody trains."""

from __future__ import annotations

import pytest

from harness import run_code

CODE = """
# The prediction is the constant, and the target network, which nobody trains, gets the gradient.
import torch
actor, critic, target = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
target.load_state_dict(critic.state_dict())
actor_opt = torch.optim.Adam(actor.parameters(), lr=0.01)
critic_opt = torch.optim.Adam(critic.parameters(), lr=0.01)
for _ in range(12):
    s, a, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1), torch.randn(8, 3)
    with torch.no_grad():
        a2 = actor(s2)
    y = r + 0.9 * target(torch.cat([s2, a2], -1))
    q = critic(torch.cat([s, a], -1))
    loss = torch.nn.functional.mse_loss(q.detach(), y)  # BUG
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()
    actor_opt.zero_grad()
    (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
    actor_opt.step()
    with torch.no_grad():
        for t, p in zip(target.parameters(), critic.parameters()):
            t.lerp_(p, 0.01)
"""


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_the_detached_prediction_is_named(mode: str) -> None:
    line = next(n for n, text in enumerate(CODE.splitlines(), 1) if "# BUG" in text)
    told = {(f.rule, f.culprit.line) for f in run_code(CODE, mode).findings if f.culprit}
    assert ("GS202", line) in told
    assert "GS404" not in {rule for rule, _ in told}  # the step does come after its backward


def test_nothing_is_cut_where_the_target_is_the_constant() -> None:
    right = CODE.replace("q.detach(), y", "q, y.detach()")
    assert "GS202" not in {f.rule for f in run_code(right, "adaptive").findings}


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_one_network_and_its_target_are_not_taken_for_an_optimizer_of_the_wrong_one(mode: str) -> None:
    code = """
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=0.01)
    for _ in range(12):
        s, a, r = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        chosen = q(s).gather(1, a).squeeze(1).detach()
        loss = torch.nn.functional.mse_loss(chosen, r + 0.9 * target(s).max(1)[0])
        opt.zero_grad()
        loss.backward()
        opt.step()
        target.load_state_dict(q.state_dict())
    """
    told = {(f.rule, f.culprit.line) for f in run_code(code, mode).findings if f.culprit}
    assert ("GS202", 9) in told
    assert "GS206" not in {rule for rule, _ in told}


def test_a_target_that_is_told_not_to_require_grad_is_named_and_breaks_nothing() -> None:
    code = """
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.1)
    for _ in range(3):
        target = torch.randn(8, 1) + 0.9 * v(torch.randn(8, 3))
        target.requires_grad_(False)
        loss = (v(torch.randn(8, 3)) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    report = run_code(code, "adaptive", may_raise=True)
    assert not report.faults
    assert ("GS301", 7) in {(f.rule, f.culprit.line) for f in report.findings if f.culprit}
