"""What a leak does to the gradient: measured in the user's own backward, and right to the last digit shown."""

from __future__ import annotations

import pytest
import torch

from gradsan.judge.report.findings import Finding, Share
from harness import run_code

SETUP = """
import torch
torch.manual_seed(3)
q = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(q.parameters(), lr=0.01)
s, s2, r = torch.randn(16, 3), torch.randn(16, 3), torch.randn(16)
"""
LIVE_TARGET = (
    SETUP
    + """
for _ in range(6):
    loss = (q(s)[:, 0] - (r + 0.9 * q(s2).max(1).values)).pow(2).mean()  # BUG
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)


def finding(code: str, rule: str, mode: str = "deep") -> Finding:
    report = run_code(code, mode)
    assert not report.faults
    return next(f for f in report.findings if f.rule == rule)


def share(code: str, rule: str) -> Share:
    effect = finding(code, rule).effect
    assert effect is not None
    assert not effect.not_measured
    assert len(effect.shares) == 1
    return effect.shares[0]


def flat(gradients: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return torch.cat([g.flatten() for g in gradients]).double()


def expected(leak: torch.Tensor, rest: torch.Tensor) -> tuple[float, float]:
    size, other = float(leak.norm()), float(rest.norm())
    return size / (size + other), float(leak @ rest) / (size * other)


def test_share_of_a_live_target_is_that_of_its_own_backward() -> None:
    found = share(LIVE_TARGET, "GS301")
    scope: dict[str, object] = {}
    torch.manual_seed(0)
    exec(SETUP, scope)
    q, s, s2, r = (scope[name] for name in ("q", "s", "s2", "r"))
    params = list(q.parameters())  # type: ignore[attr-defined]

    def gradient(of_target: bool) -> torch.Tensor:
        value, following = q(s)[:, 0], q(s2).max(1).values  # type: ignore[operator]
        value, following = (value.detach(), following) if of_target else (value, following.detach())
        return flat(torch.autograd.grad((value - (r + 0.9 * following)).pow(2).mean(), params))  # type: ignore[operator]

    wanted = expected(gradient(of_target=True), gradient(of_target=False))
    # Shown with four and three digits; a product is kept with six.
    assert found.share == pytest.approx(wanted[0], abs=1e-4)
    assert found.cosine == pytest.approx(wanted[1], abs=1e-3)
    assert found.parameters == 4


def test_share_of_another_loss_is_the_difference_that_its_backward_makes() -> None:
    code = """
    import torch
    critic, actor = torch.nn.Linear(2, 1), torch.nn.Linear(3, 2)
    with torch.no_grad():
        critic.weight.copy_(torch.tensor([[3.0, 4.0]])), critic.bias.zero_()
        actor.weight.zero_(), actor.bias.copy_(torch.tensor([1.0, 0.0]))
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.0)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.0)
    for _ in range(6):
        actor_loss = -critic(actor(torch.zeros(1, 3))).sum()  # d critic = (-1, 0), -1
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        critic_loss = critic(torch.tensor([[0.0, 1.0]])).sum()  # d critic = (0, 1), 1
        critic_loss.backward()
        critic_opt.step()
        critic_opt.zero_grad()
    """
    found = share(code, "GS304")
    assert found.share == 0.5
    assert found.cosine == -0.5  # (-1, 0, -1) and (0, 1, 1)


def test_a_stale_gradient_is_compared_with_the_new_one() -> None:
    code = """
    import torch
    net = torch.nn.Linear(1, 1, bias=False)
    opt = torch.optim.SGD(net.parameters(), lr=0.0)
    for _ in range(6):
        net(torch.ones(1, 1)).sum().backward()
        opt.step()
    """
    found = share(code, "GS401")
    assert (found.share, found.cosine) == (0.5, 1.0)  # one old and one new, the first time it is told


def test_where_one_pass_serves_both_the_value_is_told() -> None:
    code = """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(6):
        s, a, r = torch.randn(16, 3), torch.randint(2, (16,)), torch.randn(16)
        value = critic(s).squeeze(-1)
        log_prob = torch.distributions.Categorical(logits=actor(s)).log_prob(a)
        loss = -(log_prob * (r - value)).mean() + (r - value).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    found = share(code, "GS303")
    assert found.of.startswith("what arrives at `value` (line 7)")
    assert 0.0 < found.share < 1.0


def test_what_needs_the_right_loss_is_not_measured() -> None:
    code = """
    import torch
    net = torch.nn.Linear(3, 1)
    for _ in range(3):
        (net(torch.randn(8, 3)) - torch.randn(8)).pow(2).mean().backward()
    """
    effect = finding(code, "GS601").effect
    assert effect is not None
    assert not effect.shares
    assert "never computed" in effect.not_measured
    assert str(effect).startswith("not measured: ")


def test_a_way_that_no_gradient_takes_is_an_info() -> None:
    assert finding(LIVE_TARGET, "GS301").severity == "error"
    switched_off = LIVE_TARGET.replace("0.9 * q(s2)", "torch.zeros(16) * q(s2)")
    told = finding(switched_off, "GS301")
    assert told.effect is not None
    assert told.effect.is_nothing
    assert told.severity == "info"


def test_measuring_changes_no_weight_and_calls_no_hook_twice() -> None:
    code = (
        LIVE_TARGET.replace("for _ in", "calls = []\nq[0].weight.register_hook(calls.append)\nfor _ in")
        + "\nstate = [p.detach().clone() for p in q.parameters()], len(calls), torch.get_rng_state()\n"
        + "import builtins\nbuiltins.left_by_the_program = state\n"
    )
    import builtins

    states = []
    for watched in (False, True):
        torch.manual_seed(0)
        if watched:
            run_code(code, "deep")
        else:
            exec(code, {})
        states.append(vars(builtins).pop("left_by_the_program"))
    (weights, calls, random), (others, other_calls, other_random) = states
    assert all(torch.equal(one, other) for one, other in zip(weights, others, strict=True))
    assert calls == other_calls == 6
    assert torch.equal(random, other_random)


@pytest.mark.parametrize(
    ("cosine", "said"),
    [
        (None, "43% of the gradient of `q`"),
        (0.7, "43% of the gradient of `q`, the same way as the rest (cosine 0.70)"),
        (-0.3, "43% of the gradient of `q`, nearly at right angles to the rest (cosine −0.30)"),
        (-0.81, "43% of the gradient of `q`, against the rest (cosine −0.81)"),
    ],
)
def test_the_direction_is_said_in_words(cosine: float | None, said: str) -> None:
    assert str(Share("`q`", 4, 0.43, cosine)) == said
