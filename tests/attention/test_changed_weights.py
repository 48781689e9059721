"""A backward that fails in passing, when nobody has traced its forward: was a weight changed, and by whom?"""

from __future__ import annotations

import pytest

from harness import marked_lines, run_code

ACTOR_AFTER_CRITIC = """
    import torch
    body, pi, q = torch.nn.Linear(4, 16), torch.nn.Linear(16, 2), torch.nn.Linear(16, 1)
    both = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh())
    opt = torch.optim.Adam([*body.parameters(), *both.parameters(), *pi.parameters(), *q.parameters()], lr=1e-3)

    def learn(loss):
        opt.zero_grad()
        loss.backward()
        opt.step()

    for step in range(120):
        scores = torch.distributions.Categorical(logits=pi(both(torch.tanh(body(torch.randn(4))))))
        log_prob = scores.log_prob(scores.sample())
        if step >= 90:
            learn((q(both(torch.tanh(body(torch.randn(8, 4))))) - torch.randn(8, 1)).pow(2).mean())  # BUG
        learn(-log_prob * torch.randn(()))
"""
PLAIN_STEPS = """
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for step in range(100):
        x = torch.randn(6, 3)
        first = policy(x).pow(2).mean()
        second = (policy(x + 1) - 1).pow(2).mean()
        opt.zero_grad()
        if step < 80:
            (first + second).backward()
            opt.step()
            continue
        first.backward()
        opt.step()  # BUG
        second.backward()
        opt.step()
"""
CONVOLUTION = """
    import torch
    eye, head = torch.nn.Conv2d(1, 4, 3), torch.nn.Linear(4 * 36, 2)
    opt = torch.optim.RMSprop([*eye.parameters(), *head.parameters()], lr=1e-3)
    for step in range(70):
        seen = torch.relu(eye(torch.rand(5, 1, 8, 8, requires_grad=True)))
        value = head(seen.flatten(1)).pow(2).mean()
        if step == 60:
            extra = head(torch.randn(5, 4 * 36)).mean() + eye(torch.rand(5, 1, 8, 8)).mean()
            opt.zero_grad()
            extra.backward()
            opt.step()  # BUG
        opt.zero_grad()
        value.backward()
        opt.step()
"""
CLIPPED_WEIGHTS = """
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(90):
        loss = net(torch.randn(6, 3)).pow(2).mean()
        opt.zero_grad()
        if step == 80:
            with torch.no_grad():
                for p in net.parameters():
                    p.clamp_(-0.1, 0.1)
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p in net.parameters():
                p.clamp_(-0.1, 0.1)
"""
ACTIVATION = """
    import torch
    net, out = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.01)
    for step in range(90):
        h = net(torch.randn(6, 3)).exp()
        if step == 80:
            h.mul_(2.0)
        loss = out(h).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize("code", [ACTOR_AFTER_CRITIC, PLAIN_STEPS, CONVOLUTION])
def test_a_step_before_a_backward_is_named_though_its_forward_was_not_traced(code):
    report = run_code(code, "adaptive", may_raise=True)
    assert not report.faults
    found = {(f.rule, f.culprit.line) for f in report.findings if f.culprit}
    assert found == {("GS102", line) for line in marked_lines(code)}


@pytest.mark.parametrize("code", [CLIPPED_WEIGHTS, ACTIVATION])
def test_what_was_written_by_hand_is_no_step(code):
    report = run_code(code, "adaptive", may_raise=True)
    assert not report.faults
    assert {f.rule for f in report.findings} == {"GS101"}
