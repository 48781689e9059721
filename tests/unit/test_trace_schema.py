"""A trace is data from anywhere: every field is checked against the annotations of the event types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradsan.judge.lines.source import shown_path
from gradsan.record import events
from gradsan.record.events import EVENT_TYPES, Backward, Event, Op, OpFacts, Ops, ParamSeen, SiteSeen, Step
from gradsan.record.schema import Decoder, Malformed, encode
from gradsan.rules import catalogue
from harness import record_code

SITE, PARAM = SiteSeen(1, "train.py", 3, "update"), ParamSeen(1, "parameter", (2, 3), True, 1)
OPTIMIZER = events.OptimizerSeen(1, "Adam", (1,), 1)


def decoder() -> Decoder:
    """One that knows a line, a parameter and an optimizer."""
    known = Decoder()
    for event in (SITE, PARAM, OPTIMIZER):
        known.decode(through_json(event))
    return known


def through_json(event: Event) -> Any:
    return json.loads(json.dumps(encode(event)))


@pytest.mark.parametrize(
    "code", ["GS101", "GS105", "GS202", "GS306", "GS404", "GS503", "GS506", "GS801", "GS803"]
)
def test_what_a_run_records_is_read_back_as_it_was(code: str) -> None:
    recorded, known = record_code(catalogue()[code].bad[0]), Decoder()
    assert recorded
    for event in recorded:
        # NaN is equal to nothing, itself included.
        assert repr(known.decode(through_json(event))) == repr(event)


def test_every_part_of_an_event_is_a_record_of_its_own_type() -> None:
    op = Op(1, "log", 1, (), True, (2,), facts=OpFacts(bad=events.BadValue("log", (0.0,), at=(1,))))
    facts = events.BackwardFacts(norms=(events.GradientNorm(1, 2.0),))
    for event in (
        Ops((op,)),
        Backward(1, 1, "backward", (events.Root(1, (), True),), (1,), (1,), facts=facts),
    ):
        read = decoder().decode(through_json(event))
        assert read == event
        assert repr(read) == repr(event)


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_a_field_of_the_wrong_type_is_refused(kind: str) -> None:
    """Each field of each event in turn: of the wrong things at least those that are no list and no number."""
    fields = EVENT_TYPES[kind]._fields
    for at in range(len(fields)):
        with pytest.raises(Malformed):
            decoder().decode([kind, *[1] * at, {}, *[1] * (len(fields) - at - 1)])


def test_words_that_are_not_in_the_contract_are_refused() -> None:
    for data in (
        ["Nonsense"],
        ["Backward", 1, 1, "sideways", [], [], []],
        ["Attention", True, "because"],
        [],
        "x",
        [3],
    ):
        with pytest.raises(Malformed):
            decoder().decode(data)


def test_what_was_never_introduced_cannot_be_referred_to() -> None:
    assert decoder().decode(through_json(Step(1, 1, (1,)))) == Step(1, 1, (1,))
    for event in (Step(2, 1, (1,)), Step(1, 9, (1,)), Step(1, 1, (5,)), events.ParamNamed(3, "q")):
        with pytest.raises(Malformed):
            decoder().decode(through_json(event))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=12
)


# How long a machine takes to think of examples says nothing about them.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(EVENT_TYPES)), fields=st.lists(JSON, max_size=12))
def test_whatever_stands_there_is_an_event_or_refused(kind: str, fields: list[Any]) -> None:
    try:
        event = decoder().decode([kind, *fields])
    except Malformed:
        return
    assert type(event) is EVENT_TYPES[kind]
    assert decoder().decode(through_json(event)) == event or "nan" in repr(event)


def test_a_damaged_trace_may_have_a_line_without_a_file() -> None:
    assert shown_path("") == ""
