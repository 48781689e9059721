"""Zero times infinity behind a mask: GS503 names the operation that was not masked, not the mask."""

from __future__ import annotations

import pytest

from harness import marked_lines, run_code

START = """
    import torch
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 6)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(6):
        x = torch.randn(8, 4)
        mask = torch.ones(8, 6)
        mask[:, 4:] = 0.0
"""
END = """
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FORMS = {
    "logarithm of a masked probability": (
        """
        probs = net(x).softmax(-1) * mask
        entropy = -(probs * probs.log() * mask).sum(-1)  # BUG
        loss = -entropy.mean()
        """,
        """
        probs = net(x).softmax(-1) * mask
        entropy = -(probs * probs.clamp(min=1e-8).log() * mask).sum(-1)
        loss = -entropy.mean()
        """,
    ),
    "root that a where leaves out": (
        """
        distance = (net(x) * mask).pow(2)
        loss = torch.where(mask > 0, distance.sqrt(), 0.0).mean()  # BUG
        """,
        """
        distance = (net(x) * mask).pow(2)
        loss = torch.where(mask > 0, distance.clamp(min=1e-8).sqrt(), 0.0).mean()
        """,
    ),
    "exponential of what was never played": (
        """
        old = torch.where(mask > 0, torch.zeros(8, 6), torch.full((8, 6), -200.0))
        ratio = (net(x) - old).exp()  # BUG
        loss = (ratio * mask).sum() / mask.sum()
        """,
        """
        old = torch.where(mask > 0, torch.zeros(8, 6), torch.full((8, 6), -200.0))
        ratio = ((net(x) - old) * mask).exp()
        loss = (ratio * mask).sum() / mask.sum()
        """,
    ),
    "quotient by the length of an empty row": (
        """
        mask[2] = 0.0
        means = (net(x) * mask).sum(-1) / mask.sum(-1)  # BUG
        loss = (means * (mask.sum(-1) > 0)).mean()
        """,
        """
        mask[2] = 0.0
        means = (net(x) * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)
        loss = (means * (mask.sum(-1) > 0)).mean()
        """,
    ),
}


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize("form", FORMS)
def test_the_operation_that_was_not_masked_is_named(form: str, mode: str) -> None:
    code = START + FORMS[form][0] + END
    found = [(f.rule, f.culprit and f.culprit.line) for f in run_code(code, mode).findings]
    assert found == [("GS503", marked_lines(code)[0])]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_masked_before_is_silent(form: str) -> None:
    assert not run_code(START + FORMS[form][1] + END).findings
