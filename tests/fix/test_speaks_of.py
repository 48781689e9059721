"""Which parameters a finding speaks of: judged by two runs, and read off the graphs of real code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradsan.fix.trial import ClipSeen, Concerned, ConsumedStep, LossSeen, TrialRun
from gradsan.judge.engine import Engine
from gradsan.runner.consumed import ConsumedSink
from harness import record_code
from test_verdict import found, run, step, verdict

HERE, BACKWARD = "train.py:2", "train.py:3"
FED = {BACKWARD: ("q.weight", "trunk.weight", "pi.weight")}


def leak(rule: str, **concerned: object) -> TrialRun:
    steps = step(q_weight="1", trunk_weight="1", pi_weight="1")
    return run(steps, findings=(found(rule),), lines=FED, concerned=Concerned(**concerned))  # type: ignore[arg-type]


def differs(**taken: str) -> TrialRun:
    return run(step(**{"q_weight": "1", "trunk_weight": "1", "pi_weight": "1"} | taken))


def test_a_leak_into_a_head_goes_on_into_its_trunk_and_into_no_other_head() -> None:
    before = leak("GS303", before={"q.weight": ("trunk.weight", "q.weight")})
    assert verdict(before, differs(q_weight="2", trunk_weight="2")).verified
    refused = verdict(before, differs(q_weight="2", trunk_weight="2", pi_weight="2"))
    assert refused.because == "with it, the gradient of `pi.weight` differs, which GS303 does not speak of"


@pytest.mark.parametrize(("rule", "seen"), [("GS202", "behind"), ("GS601", "meets")])
def test_a_rule_about_a_line_speaks_of_what_that_line_is_made_of(rule: str, seen: str) -> None:
    before = leak(rule, **{seen: {HERE: ("trunk.weight",)}}, losses=(LossSeen(("q.weight",), ()),))
    assert verdict(before, differs(trunk_weight="2")).verified
    assert not verdict(before, differs(trunk_weight="2", pi_weight="2")).verified
    assert verdict(before, differs(trunk_weight="2", q_weight="2")).verified is (rule == "GS202"), "a subject"


def test_where_no_graph_was_seen_the_backward_says_what_may_differ() -> None:
    assert verdict(leak("GS601"), differs(trunk_weight="2", pi_weight="2")).verified


def test_a_target_that_follows_speaks_of_the_losses_that_are_made_of_it() -> None:
    losses = (
        LossSeen(("trunk.weight",), ("q.weight", "trunk.weight")),
        LossSeen(("pi.weight",), ("pi.weight",)),
    )
    before = leak("GS307", losses=losses)
    before = replace(before, steps=before.steps * 2)
    for changed, fine in (({"trunk_weight": "2"}, True), ({"pi_weight": "2"}, False)):
        after = replace(before, findings=(), steps=(before.steps[0], differs(**changed).steps[0]))
        assert verdict(before, after).verified is fine


def test_a_graph_that_is_freed_changes_no_gradient() -> None:
    assert verdict(leak("GS406"), differs()).verified
    assert not verdict(leak("GS406"), differs(q_weight="2")).verified


def with_directions(ran: TrialRun, **directions: tuple[float, ...]) -> TrialRun:
    told = {name.replace("_", "."): way for name, way in directions.items()}
    return replace(
        ran, steps=tuple(ConsumedStep(s.optimizer, s.line, s.taken, s.waiting, told) for s in ran.steps)
    )


def test_what_is_clipped_together_may_get_another_length_but_no_other_direction() -> None:
    clips = (ClipSeen("train.py:4", "norm", ("q.weight", "pi.weight")),)
    before = with_directions(replace(leak("GS303"), clips=clips), q_weight=(0.1,), pi_weight=(0.5,))
    both = differs(q_weight="2", pi_weight="2")
    shorter = verdict(before, with_directions(both, q_weight=(0.9,), pi_weight=(0.5,)))
    assert shorter.verified
    assert shorter.because.endswith(
        "those of `q.weight` differ, first at step 1; those of `pi.weight`, which are clipped together with them, only "
        "in length."
    )
    assert not verdict(before, with_directions(both, q_weight=(0.9,), pi_weight=(0.6,))).verified
    alone = replace(before, clips=())
    assert not verdict(alone, with_directions(both, q_weight=(0.9,), pi_weight=(0.5,))).verified


def test_the_repair_of_a_clip_by_norm_turns_no_gradient() -> None:
    before = replace(leak("GS505"), clips=(ClipSeen(HERE, "norm", ("q.weight",)),))
    before = with_directions(before, q_weight=(0.1,))
    shorter = differs(q_weight="2")
    assert verdict(before, with_directions(shorter, q_weight=(0.1,))).verified
    turned = verdict(before, with_directions(shorter, q_weight=(0.2,)))
    assert (
        turned.because
        == "with it, the gradient of `q.weight` has another direction, and not only another length"
    )


ACTOR_CRITIC = """
import torch
trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
x, returns = torch.randn(5, 3), torch.randn(5)
hidden = trunk(x)
logits = pi(hidden)
values = v(hidden.detach())
error = values - returns[:, None]
weight = error.detach()
policy_loss = -(logits.log_softmax(-1) * weight).mean()
value_loss = error.pow(2).mean()
loss = policy_loss + 0.5 * value_loss
loss.backward()
"""


def concerned(code: str) -> Concerned:
    engine = Engine()
    sink = ConsumedSink(engine.history, lambda: None)
    for event in record_code(code):
        engine.feed(event)
        sink.feed(event)
    seen = sink.as_dict()["concerned"]
    losses = tuple(LossSeen(**loss) for loss in seen["losses"])
    return Concerned(seen["behind"], seen["meets"], seen["before"], losses)


def test_graphs_say_what_a_line_is_made_of_and_what_it_meets() -> None:
    seen = concerned(ACTOR_CRITIC)

    def at(kind: str, line: int) -> set[str]:
        by_line = getattr(seen, kind)
        (names,) = [by_line[where] for where in by_line if where.endswith(f":{line}")]
        return {name.partition(".")[0] for name in names}

    assert at("behind", 7) == {"trunk", "v"}, "a cut is no end of what a value is made of"
    assert at("behind", 6) == {"trunk", "pi"}
    assert at("meets", 6) == {"trunk", "pi", "v"}, "it is multiplied with the advantage"
    assert at("meets", 11) == {"trunk", "v"}, "what is added to it at the end has a gradient of its own"
    assert {name.partition(".")[0] for name in seen.before["pi.weight"]} == {"trunk", "pi"}
    (loss,) = seen.losses
    assert set(loss.feeds) == {f"{net}.{part}" for net in ("trunk", "pi", "v") for part in ("weight", "bias")}
