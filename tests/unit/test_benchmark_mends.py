"""Mechanisms that the benchmark's development half asked for: the mistake, and the nearest program that is right."""

from __future__ import annotations

import pytest

from harness import run_code

SURROGATE = """
import torch
policy = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(4):
    s, a, old, advantage = torch.randn(8, 3), torch.randint(2, (8,)), -torch.rand(8), torch.randn(8)
    ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
    clipped = ratio.clamp(0.8, 1.2)
    loss = {loss}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_surrogate_whose_sides_have_opposite_signs() -> None:
    right = "torch.max(-ratio * advantage, -clipped * advantage).mean()"
    assert not run_code(SURROGATE.format(loss=right)).findings
    wrong = "torch.max(-ratio * advantage, clipped * advantage).mean()"
    (finding,) = run_code(SURROGATE.format(loss=wrong)).findings
    assert (finding.rule, finding.culprit.line) == ("GS801", 9)


@pytest.mark.parametrize(
    ("bound", "taken_on", "line"),
    [
        ("torch.min(ratio * advantage, clipped * advantage)", "bound.mean()", 10),
        ("torch.min(-ratio * advantage, -clipped * advantage)", "bound.mean()", 9),
        ("torch.min(ratio * advantage, clipped * advantage)", "-bound.mean()", 0),
    ],
)
def test_the_minus_of_a_surrogate_is_missed_where_it_belongs(bound: str, taken_on: str, line: int) -> None:
    code = SURROGATE.replace("loss = {loss}", f"bound = {bound}\n    loss = {taken_on}")
    assert [f.culprit.line for f in run_code(code).findings] == [line][: bool(line)]


@pytest.mark.parametrize(
    ("loss", "rules"),
    [
        ("-torch.minimum(ratio * advantage, clipped.unsqueeze(-1) * advantage).mean()", ["GS601"]),
        ("-torch.minimum(ratio * advantage, clipped * advantage).mean()", []),
        # Every ratio with every advantage on both sides: each is praised for the mean of all, as in one pair.
        ("-torch.minimum(ratio[:, None] * advantage, clipped[:, None] * advantage).mean()", ["GS601"]),
    ],
)
def test_a_column_beside_the_same_product_row_by_row(loss: str, rules: list[str]) -> None:
    assert [f.rule for f in run_code(SURROGATE.format(loss=loss)).findings] == rules


TWINS = """
import torch
actor, q1, q2 = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD(actor.parameters(), lr=0.1)
for _ in range(4):
    s = torch.randn(8, 3)
    pair = torch.cat([s, actor(s)], 1)
    loss = -{value}.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("torch.minimum(q1(pair), q2(pair).data)", ["GS202"]),
        ("torch.minimum(q1(pair), q2(pair))", []),
        # A bound that the action has no part in, and the value itself as its own bound.
        ("torch.minimum(q1(pair), q2(torch.cat([s, actor(s).detach()], 1)))", []),
        ("torch.minimum(q1(pair), q1(pair).detach() + 1.0)", []),
    ],
)
def test_one_of_two_critics_of_an_action_is_taken_out_of_its_graph(value: str, rules: list[str]) -> None:
    assert [f.rule for f in run_code(TWINS.format(value=value)).findings] == rules


BROADCAST = """
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def values(s):
    return net(s)
for _ in range(4):
    s, returns = torch.randn(8, 3), torch.randn(8)
    value = values(s)
    loss = (value - returns).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_broadcast_names_the_lines_that_made_the_column_and_the_row() -> None:
    (finding,) = run_code(BROADCAST).findings
    made = [(site.role, site.location.line) for site in finding.sites if site.role in ("made", "other side")]
    assert (finding.rule, finding.culprit.line) == ("GS601", 10)
    assert made == [("made", 6), ("made", 9), ("other side", 8)]


BONUSES = """
import torch
net, novelty = torch.nn.Linear(3, 1), torch.nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def bonus(s):
    return novelty(s).pow(2).mean(-1, keepdim=True)
for _ in range(4):
    rows = torch.randn(8, 3)
    paid = [1.0 + bonus(row).detach() for row in rows]
    returns = torch.stack(paid)
    loss = (net(rows).squeeze(-1) - returns).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_broadcast_names_the_line_that_made_the_rows_of_a_column_one_by_one() -> None:
    (finding,) = run_code(BONUSES).findings
    made = [site.location.line for site in finding.sites if site.role == "made"]
    assert (finding.rule, finding.culprit.line) == ("GS601", 11)
    assert {6, 9, 10} <= set(made)


TARGET_PREDICTS = """
import copy, torch
q = torch.nn.Linear(3, 2)
slow = copy.deepcopy(q)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(6):
    s, s2 = torch.randn(8, 3), torch.randn(8, 3)
    with torch.no_grad():
        y = 1.0 + 0.9 * slow(s2).amax(1)
    first, second = q(s)[:, 0], slow(s)[:, 0]
    loss = (first - y).pow(2).mean() + (second - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    slow.load_state_dict(q.state_dict())
"""


def test_a_target_that_is_trained_is_named_where_it_predicts() -> None:
    (finding,) = [f for f in run_code(TARGET_PREDICTS).findings if f.rule == "GS302"]
    assert finding.culprit.line == 10


SHARED = """
import torch
shared, local = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
opt = torch.optim.SGD(shared.parameters(), lr=0.1)
for _ in range(6):
    {sync}
    local.zero_grad()
    (local(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
    for theirs, ours in zip(shared.parameters(), local.parameters()):
        theirs.grad = ours.grad.clone()
    opt.step()
"""


def test_a_worker_that_overwrites_what_it_is_to_follow() -> None:
    assert not run_code(SHARED.format(sync="local.load_state_dict(shared.state_dict())")).findings
    found = run_code(SHARED.format(sync="shared.load_state_dict(local.state_dict())")).findings
    assert ("GS809", 6) in [(finding.rule, finding.culprit.line) for finding in found]


LATE = """
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    opt.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
with torch.no_grad(): value = net(torch.randn(8, 3))
loss = value.pow(2).mean()
loss.backward()
"""


def test_a_switch_on_one_line_is_read_from_the_source() -> None:
    (finding,) = run_code(LATE, mode="light", may_raise=True).findings
    assert (finding.rule, finding.culprit.line) == ("GS201", 9)


ROLLOUT = """
import torch
policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
state = torch.randn(8, 3)
for _ in range(4):
    log_probs, values, rewards = [], [], []
    for _ in range(6):
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(critic(state).squeeze(-1))
        state = (0.9 * state + 0.1 * action[:, None]).detach()
        rewards.append(state.sum(1))
    following, advantage, advantages = critic(state).squeeze(-1).detach(), 0.0, []
    for t in {order}:
        value = values[t].detach()
        advantage = rewards[t] + 0.9 * following - value + 0.8 * advantage
        {keep}
        following = value
    advantages = torch.stack(advantages)
    loss = -(torch.stack({scores}) * advantages).mean()
    loss = loss + (torch.stack(values) - torch.stack(rewards)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
BACK, AHEAD = "reversed(range(6))", "range(6)"
IN_FRONT, AT_THE_END = "advantages.insert(0, advantage)", "advantages.append(advantage)"


@pytest.mark.parametrize(
    ("order", "keep", "scores", "rules"),
    [
        (BACK, IN_FRONT, "log_probs", []),
        (BACK, AT_THE_END, "log_probs", ["GS806"]),
        (AHEAD, IN_FRONT, "log_probs", ["GS806"]),
        (AHEAD, AT_THE_END, "log_probs", ["GS806"]),
        (BACK, AT_THE_END, "log_probs[::-1]", []),
    ],
)
def test_the_order_of_returns_that_a_loop_computed(
    order: str, keep: str, scores: str, rules: list[str]
) -> None:
    found = run_code(ROLLOUT.format(order=order, keep=keep, scores=scores)).findings
    assert [f.rule for f in found] == rules
    assert [f.culprit.line for f in found] in ([], [21])


STRETCHED = """
import torch
q = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(4):
    s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
    loss = torch.nn.functional.smooth_l1_loss({shapes})
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize(
    ("shapes", "rules"),
    [
        ("q(s).gather(1, a), (target.unsqueeze(-1) + target).unsqueeze(1)", ["GS601"]),
        ("q(s).gather(1, a), target.unsqueeze(-1)", []),
        ("q(s)[:, None, :].expand(8, 2, 2), q(s).detach()[:, :, None].expand(8, 2, 2)", []),
        ("q(s)[:, None, :], q(s).detach()[:, :, None]", []),  # quantiles, pair by pair
    ],
)
def test_a_loss_of_the_library_that_spreads_both_sides(shapes: str, rules: list[str]) -> None:
    assert [f.rule for f in run_code(STRETCHED.format(shapes=shapes)).findings] == rules


TWICE = """
import torch
actor, q1, q2 = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
both = torch.optim.SGD([*q1.parameters(), *q2.parameters()], lr=0.1)
opt = torch.optim.SGD(actor.parameters(), lr=0.1)
for _ in range(6):
    s = torch.randn(8, 3)
    data = torch.cat([s, torch.randn(8, 1)], 1)
    both.zero_grad()
    ((q1(data) - 1.0).pow(2).mean() + (q2(data) - 1.0).pow(2).mean()).backward()
    both.step()
    pair = torch.cat([s, actor(s)], 1)
    first = q1(pair)
    second = q1(pair)
    loss = -torch.minimum(first, second).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_critic_that_is_asked_twice_is_named_where_it_is_asked_again() -> None:
    (finding,) = run_code(TWICE).findings
    assert (finding.rule, finding.culprit.line) == ("GS606", 14)
    assert {13, 15} <= {site.location.line for site in finding.sites}


def test_a_helper_that_asks_one_critic_twice_is_named_and_not_its_callers() -> None:
    helper = "def critics(pair):\n    return q1(pair), q1(pair)\nfor _ in range(6):\n"
    code = TWICE.replace("for _ in range(6):\n", helper).replace(
        "    first = q1(pair)\n    second = q1(pair)\n", "    first, second = critics(pair)\n"
    )
    (finding,) = run_code(code).findings
    assert (finding.rule, finding.culprit.line) == ("GS606", 7)


CLONING = """
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    s, a = torch.randn(8, 3), torch.randint(2, (8,))
    score = {score}
    loss = -score.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("score", "rules"),
    [
        ("net(s).log_softmax(1)[:, a]", ["GS601"]),
        ("net(s).log_softmax(1)[torch.arange(8), a]", []),
        # Columns that were picked, and pairs that are told apart later.
        ("net(s).log_softmax(1)[:, [1, 0]]", []),
        ("net(s).log_softmax(1)[:, a].diagonal()", []),
        ("net(s).log_softmax(1)[:, a].logsumexp(1)", []),
    ],
)
def test_the_choices_of_all_rows_are_averaged_in_every_row(score: str, rules: list[str]) -> None:
    assert [f.rule for f in run_code(CLONING.format(score=score)).findings] == rules


ATTRIBUTE = """
import torch
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.scale = {scale}
    def forward(self, x):
        return self.layer(x) * self.scale
net = Scaled()
weights = [p for p in net.parameters() if p.requires_grad]
opt = torch.optim.SGD({given}, lr=0.1)
for _ in range(6):
    loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("scale", "given", "lines"),
    [
        ("torch.ones(1).requires_grad_()", "weights", [7]),
        ("torch.ones(1, requires_grad=True)", "[*weights, net.scale]", []),
        ("torch.nn.Parameter(torch.ones(1))", "weights[1:]", [12]),
    ],
)
def test_a_plain_tensor_of_a_module_is_named_where_it_is_made(
    scale: str, given: str, lines: list[int]
) -> None:
    found = run_code(ATTRIBUTE.format(scale=scale, given=given)).findings
    assert [(f.rule, f.culprit.line) for f in found] == [("GS205", line) for line in lines]


PER_ROW = """
import torch
net = torch.nn.Linear(3, 2)
def error(x):
    return net(x).pow(2).mean(-1)
bonus = {bonus}
loss = error(torch.randn(8, 3))
loss.backward()
"""


@pytest.mark.parametrize(("bonus", "line"), [("error(torch.randn(4, 3)).detach()", 7), ("0.0", 5)])
def test_a_loss_of_many_numbers_is_named_where_it_is_asked_for_if_others_ask_too(
    bonus: str, line: int
) -> None:
    (finding,) = run_code(PER_ROW.format(bonus=bonus), may_raise=True).findings
    assert (finding.rule, finding.culprit.line) == ("GS403", line)


LEFT_OUT = """
import torch
actor, q1, q2 = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
leads = torch.optim.SGD(actor.parameters(), lr=0.1)
fits = torch.optim.SGD(q1.parameters(), lr=0.1)
for _ in range(6):
    s = torch.randn(8, 3)
    pair = torch.cat([s, actor(s)], 1)
    leads.zero_grad()
    (-torch.minimum(q1(pair), q2(pair)) + 0.1 * pair.pow(2).mean(1, keepdim=True)).mean().backward()
    leads.step()
    pair = torch.cat([s, torch.randn(8, 1)], 1)
    fits.zero_grad()
    ((q1(pair) - 1.0).pow(2).mean() + (q2(pair) - 1.0).pow(2).mean()).backward()
    fits.step()
"""


def test_a_critic_that_nobody_steps_is_missing_in_the_optimizer_of_the_other() -> None:
    (finding,) = [f for f in run_code(LEFT_OUT).findings if f.rule == "GS205"]
    assert finding.culprit.line == 5
