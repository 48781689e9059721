"""What a flow says, and which changes of a program it tells from those that change nothing."""

from __future__ import annotations

import pytest
from flows import changes, findings, flow_of, unstable, with_other_names

from gradsan.rules import catalogue
from harness import marked_lines

RULE = catalogue()["GS901"]

ACTOR_CRITIC = """
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
target = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).requires_grad_(False)
target.load_state_dict(critic.state_dict())
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(5):
    obs, following, rewards = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32)
    values = critic(obs).squeeze(1)
    with torch.no_grad():
        wanted = rewards + 0.9 * target(following).squeeze(1)
    critic_loss = (values - wanted).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    critic_opt.step()
    dist = torch.distributions.Categorical(logits=actor(obs))
    advantage = (wanted - values).detach()
    actor_loss = -(dist.log_prob(dist.sample()) * advantage).mean() - 0.01 * dist.entropy().mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    target.load_state_dict(critic.state_dict())
"""


@pytest.fixture(scope="module")
def locked():
    return flow_of(ACTOR_CRITIC)


def loss(flow, of):
    return next(loss for loss in flow.losses if loss.name == of)


def test_a_loss_says_whom_it_trains_by_which_way_and_who_applies_it(locked):
    critic, actor = loss(locked, "critic_loss"), loss(locked, "actor_loss")
    assert critic.facts == {"trains `critic`", "feeds Adam of `critic`", "clips `critic` by norm to 1"}
    assert {
        "reaches `critic`, fitted",
        "takes `target` as constant by frozen",
        "joins [B] and [B]",
    } <= critic.deep
    assert actor.facts == {"trains `actor`", "feeds Adam of `actor`"}
    assert {"reaches `actor` by log_prob, raised", "reaches `actor` by entropy, raised"} <= actor.deep
    assert "takes `critic` as constant by detach" in actor.deep


def test_a_network_says_whose_it_is_and_whom_it_follows(locked):
    facts = {network.label: network.facts for network in locked.networks}
    assert facts == {
        "actor": {"belongs to Adam"},
        "critic": {"belongs to Adam"},
        "target": {"began as `critic`", "follows `critic`", "is frozen"},
    }


def test_the_same_program_has_the_same_lock_however_it_runs_and_is_written(locked):
    assert not unstable(ACTOR_CRITIC, locked)


def test_in_light_mode_only_what_was_looked_at_is_compared(locked):
    assert not changes(locked, flow_of(ACTOR_CRITIC, "light"))


def test_a_wider_network_and_another_batch_size_are_no_change_of_the_flow(locked):
    assert not changes(locked, flow_of(ACTOR_CRITIC.replace("8", "16").replace("32", "24")))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (".detach()\n", "\n", "reaches `critic`, lowered"),
        ("mean() - 0.01", "mean() + 0.01", "now also reaches `actor` by entropy, lowered"),
        (
            "    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)\n",
            "",
            "no longer clips `critic` by norm to 1",
        ),
        ("    critic_opt.zero_grad()\n", "", "now also adds up several backwards"),
        ("critic(obs).squeeze(1)", "critic(obs)", "now also joins [B, 1] and [B]"),
        ("Adam(critic.parameters()", "Adam([*critic.parameters(), *actor.parameters()]", "`actor`, `critic`"),
        ("    target.load_state_dict(critic.state_dict())\n", "", "`target` no longer follows `critic`"),
        ("target(following)", "critic(following)", "no longer takes `target` as constant"),
        ("    actor_opt.step()\n", "", "`actor_loss` now also leaves gradient on `actor`"),
    ],
)
def test_a_changed_flow_is_told_in_words(locked, old, new, said):
    assert old in ACTOR_CRITIC
    told = changes(locked, flow_of(ACTOR_CRITIC.replace(old, new)))
    assert any(said in sentence for sentence in told), told


def test_the_finding_names_the_line_of_the_loss():
    locked = flow_of(RULE.good[0])
    (finding,) = findings(RULE.bad[0], locked)
    assert finding.culprit is not None
    assert [finding.culprit.line] == marked_lines(RULE.bad[0])
    assert finding.message.startswith("`actor_loss` now also trains `critic`")
    assert finding.severity == "error"


def test_what_is_locked_is_silent():
    for code in (*RULE.bad, *RULE.good):
        assert not findings(code, flow_of(code))
        assert not findings(with_other_names(code), flow_of(code))


def test_a_program_that_broke_off_has_lost_nothing():
    locked = flow_of(ACTOR_CRITIC)
    assert not findings(ACTOR_CRITIC.replace("    dist = ", "    raise ValueError\n    dist = "), locked)


def test_what_a_network_began_as_is_recognised_under_another_name():
    code = """
    import copy, torch
    best = torch.nn.Linear(3, 1)
    net = copy.deepcopy(best)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    assert not unstable(code, variants=("other names and lines",))


def test_a_head_that_is_used_late_is_in_the_lock():
    code = """
    import torch
    torch.manual_seed(0)
    heads = torch.nn.ModuleDict({name: torch.nn.Linear(3, 1) for name in "abcd"})
    opt = torch.optim.SGD(heads.parameters(), lr=0.1)
    for update in range(24):
        name = "abc"[int(torch.randint(3, ()))] if update < 20 else "d"
        loss = heads[name](torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    (loss,) = flow_of(code).losses
    assert "reaches `heads.d`, fitted" in loss.deep
