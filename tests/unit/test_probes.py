"""Probes read what flows into a value in the user's own backward, and change nothing about it."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from feature import run
from torch import nn
from torch.distributions import Categorical

from gradsan.observe.ops.meaning import EVERY, FIRST, Marks
from gradsan.observe.session import Session
from gradsan.record.events import Backward, Ops, Probe, ProbePair
from gradsan.record.recorder import Recorder
from harness import Events, record_code

HEAD = """
import torch
from torch.distributions import Categorical, Normal
from torch.utils.checkpoint import checkpoint
body, pi, v = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3), torch.nn.Linear(8, 1)
parameters = [*body.parameters(), *pi.parameters(), *v.parameters()]
opt = torch.optim.Adam(parameters, lr=1e-2)
seen = []
for _ in range(8):
    s, r, s2 = torch.randn(16, 4), torch.randn(16), torch.randn(16, 4)
"""
POLICY = """
    hidden = body(s).tanh()
    dist, value = Categorical(logits=pi(hidden)), v(hidden).squeeze(-1)
    with torch.no_grad():
        target = r + 0.9 * v(body(s2).tanh()).squeeze(-1)
    log_prob, entropy = dist.log_prob(dist.sample()), dist.entropy()
    loss = -(log_prob * (target - value.detach())).mean() + (value - target).pow(2).mean() - 0.01 * entropy.mean()
    opt.zero_grad()
"""
STEP = """
    loss.backward()
    opt.step()
"""
IN_PLACE = "a value that is written in place"
PROGRAMS = {
    "plain": HEAD + POLICY + STEP,
    "the user's own hooks": HEAD
    + POLICY
    + """
    entropy.register_hook(lambda g: 2 * g)
    log_prob.register_hook(lambda g: seen.append(float(g.sum())))
    log_prob.grad_fn.register_prehook(lambda gs: tuple(3 * g for g in gs))
    entropy.retain_grad()
"""
    + STEP
    + "    seen.append(float(entropy.grad.sum()))\n",
    "double backward": HEAD
    + POLICY
    + """
    (slope,) = torch.autograd.grad(log_prob.sum(), [pi.weight], create_graph=True)
    loss = loss + 0.1 * slope.pow(2).sum()
    loss.backward(create_graph=True)
    opt.step()
    opt.zero_grad()
""",
    "a graph that is kept": HEAD + POLICY + "    loss.backward(retain_graph=True)\n" + STEP,
    "checkpointing": HEAD
    + """
    hidden = checkpoint(lambda x: body(x).tanh(), s, use_reentrant=False)
    dist = Categorical(logits=checkpoint(pi, hidden, use_reentrant=True))
    loss = -(dist.log_prob(dist.sample()) * r).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
"""
    + STEP,
    "mixed precision": HEAD
    + """
    with torch.autocast("cpu", dtype=torch.bfloat16):
        log_p = pi(body(s).tanh()).log_softmax(-1)
        entropy = -(log_p.exp() * log_p).sum(-1)
        loss = -(log_p.gather(1, torch.randint(3, (16, 1))).squeeze(-1) * r).mean() - 0.01 * entropy.mean()
    opt.zero_grad()
"""
    + STEP
    + "del log_p, entropy, loss\n",  # there is no NumPy array of them
    "a scaled loss": HEAD.replace(
        "seen = []", "seen, scaler = [], torch.amp.GradScaler('cpu', init_scale=256.0)"
    )
    + POLICY
    + """
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    scaler.step(opt)
    scaler.update()
""",
    IN_PLACE: HEAD
    + """
    dist = Categorical(logits=pi(body(s).tanh()))
    score = dist.log_prob(dist.sample())
    score.mul_(r)
    loss = -score.mean() - 0.01 * dist.entropy().mul_(2.0).mean()
    opt.zero_grad()
    seen.append(score._version)
"""
    + STEP,
}


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_probed_program_computes_what_it_computed_before(name: str, mode: str) -> None:
    expected, _ = run(PROGRAMS[name])
    found, report = run(PROGRAMS[name], mode)
    assert found == expected
    assert not report.faults, report.faults[0]["traceback"]


def probes(code: str) -> tuple[list[Probe], list[ProbePair]]:
    events = [e for e in record_code(code) if isinstance(e, Backward)]
    return [p for e in events for p in e.facts.probes], [p for e in events for p in e.facts.probe_pairs]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("mixed precision", IN_PLACE)])
def test_entropies_are_seen_to_rise_and_scores_to_be_weighed(name: str) -> None:
    found, _ = probes(PROGRAMS[name])
    entropies = [p for p in found if p.kind == "entropy"]
    scores = [p for p in found if p.kind == "log-prob"]
    assert entropies
    assert all((p.positive, p.negative) == (0, p.samples) for p in entropies)
    assert scores
    assert all(p.positive and p.negative for p in scores)


def test_p_log_p_in_low_precision_is_an_entropy_with_the_sign_turned() -> None:
    found, _ = probes(PROGRAMS["mixed precision"])
    by_hand = [p for p in found if p.kind == "negative entropy"]
    assert by_hand
    assert all((p.positive, p.negative) == (p.samples, 0) for p in by_hand)


def test_a_score_and_the_prediction_beside_it_go_together() -> None:
    _, pairs = probes(PROGRAMS["plain"])
    assert len(pairs) == 8
    assert all(pair.samples == 16 and pair.agreement > 0.99 for pair in pairs)


def test_a_score_and_a_prediction_with_backwards_of_their_own_go_together() -> None:
    apart = PROGRAMS["plain"].replace(
        "loss = -(log_prob * (target - value.detach())).mean() + (value - target).pow(2).mean()",
        "fit = (value - target).pow(2).mean()\n    loss = -(log_prob * (target - value.detach())).mean()",
    )
    apart = apart.replace("    loss.backward()", "    loss.backward(retain_graph=True)\n    fit.backward()")
    _, pairs = probes(apart)
    assert pairs
    assert all(pair.agreement > 0.99 for pair in pairs)


def test_how_far_log_probabilities_lie_apart_is_measured_when_they_meet() -> None:
    code = """
    import torch
    logits = torch.zeros(2, 2, requires_grad=True)
    old = torch.tensor([0.5, 0.25]).log()
    (logits.log_softmax(-1)[:, 0] + 0.0).sum().backward()
    ((logits.log_softmax(-1).gather(1, torch.zeros(2, 1).long()).squeeze(1) - old).exp()).sum().backward()
    """
    ops = [op for e in record_code(code) if isinstance(e, Ops) for op in e.ops if op.facts.apart]
    (low, high, mean) = ops[0].facts.apart
    assert (len(ops), round(low, 5), round(high, 5), round(mean, 5)) == (1, 0.0, 0.69315, 0.34657)


def test_after_the_first_iterations_every_eighth_is_looked_at() -> None:
    marks, looks = Marks(), []
    for _ in range(FIRST + 3 * EVERY):
        looks.append(marks.active)
        marks.end_of_iteration()
    assert looks == [True] * FIRST + ([True] + [False] * (EVERY - 1)) * 3


def test_a_probed_value_gets_no_hook_and_lives_no_longer() -> None:
    net = nn.Linear(4, 3)
    with Session(Recorder([Events()]), "deep"):
        dist = Categorical(logits=net(torch.randn(8, 4)))
        entropy = dist.entropy()
        (-entropy.mean()).backward()
        assert entropy._backward_hooks is None
        gone = weakref.ref(entropy)
        del dist, entropy
        gc.collect()
        assert gone() is None
