"""A constant turns bad long after anybody looked: GS503 names the line that makes it, not the one that takes it."""

from __future__ import annotations

import pytest

from harness import marked_lines, run_code

START = """
    import torch
    torch.manual_seed(0)
    policy, judge = torch.nn.Linear(2, 3), torch.nn.Linear(2, 1)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for i in range(100):
        s = torch.randn(16, 2)
        log_prob = policy(s).log_softmax(-1)[:, 0]
"""
END = """
        loss = -(log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FORMS = {
    "logarithm of what rounds to nothing": (
        """
        with torch.no_grad():
            chance = torch.sigmoid((1 + i) * judge(s)).squeeze(-1)
            reward = torch.log(1 - chance)  # BUG
        gain = (reward - reward.mean()) / (reward.std() + 1e-6)
        """,
        """
        with torch.no_grad():
            chance = torch.sigmoid((1 + i) * judge(s)).squeeze(-1)
            reward = torch.log(1 - chance.clamp(max=0.999))
        gain = (reward - reward.mean()) / (reward.std() + 1e-6)
        """,
    ),
    "rewards that are all equal": (
        """
        reward = torch.rand(16) if i < 80 else torch.ones(16)
        gain = (reward - reward.mean()) / reward.std()  # BUG
        """,
        """
        reward = torch.rand(16) if i < 80 else torch.ones(16)
        gain = (reward - reward.mean()) / (reward.std() + 1e-6)
        """,
    ),
    "a state that nobody has counted": (
        """
        times = torch.ones(16) if i < 80 else torch.arange(16.0)
        bonus = times.rsqrt()  # BUG
        gain = 1.0 + 0.1 * bonus
        """,
        """
        times = torch.ones(16) if i < 80 else torch.arange(16.0)
        bonus = (times + 1.0).rsqrt()
        gain = 1.0 + 0.1 * bonus
        """,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_line_that_makes_the_bad_constant_is_named(form):
    code = START + FORMS[form][0] + END
    report = run_code(code, "adaptive", may_raise=True)
    assert [(f.rule, f.culprit.line) for f in report.findings] == [("GS503", marked_lines(code)[0])]


@pytest.mark.parametrize("form", FORMS)
def test_constant_that_stays_finite_is_silent(form):
    # All rewards are equal at the end of one form, and by right: no gain then has any gradient.
    found = run_code(START + FORMS[form][1] + END, "adaptive").findings
    assert [f.rule for f in found if f.rule == "GS503"] == []
