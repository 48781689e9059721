"""What is carried from one iteration into the next, with threads that train side by side."""

from __future__ import annotations

import threading

from gradsan.observe.ops.values import Values
from gradsan.observe.registry import Leaves
from gradsan.record.events import ValueId


def values() -> Values:
    return Values(Leaves(lambda event: None, lambda pids: None), lambda op: None)


def test_a_value_of_the_iteration_before_is_carried() -> None:
    known = values()
    known.carried(ValueId(1), ())
    known.end_of_iteration()
    known._born[ValueId(1)] = (0, 0)  # somebody still holds it
    assert known.carried(ValueId(2), (ValueId(1),)) == 1


def test_an_iteration_that_another_thread_has_ended_carries_nothing() -> None:
    known = values()
    other = threading.Thread(target=known.carried, args=(ValueId(1), ()))
    other.start()
    other.join()
    known.carried(ValueId(2), ())
    known.end_of_iteration()
    known._born[ValueId(2)] = (0, 0)
    assert known.carried(ValueId(3), (ValueId(2),)) == 0
