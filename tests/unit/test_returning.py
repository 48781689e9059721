"""When a loss that comes every so many iterations is expected back."""

from __future__ import annotations

from gradsan.observe.focus.returning import NEVER, TRIES, WANTED, Returning


def test_the_first_time_a_loss_is_expected_after_as_many_iterations_again():
    returning = Returning(often=4)
    returning.seen("loss", 50, traced=False)
    assert returning.next == 97
    assert returning.length(97) == 7


def test_the_distance_between_two_times_says_more_than_the_first():
    returning = Returning(often=4)
    returning.seen("loss", 30, traced=False)
    returning.seen("loss", 71, traced=False)
    assert returning.next == 111
    assert returning.length(111) == 3


def test_what_comes_all_the_time_is_not_waited_for():
    returning = Returning(often=4)
    for iteration in range(40):
        returning.seen("loss", iteration, traced=False)
    assert returning.next == NEVER


def test_what_was_traced_often_enough_is_not_waited_for():
    returning = Returning(often=4)
    for time in range(1, WANTED + 1):
        returning.seen("loss", 50 * time, traced=True)
    assert returning.next == NEVER


def test_what_is_never_traced_is_given_up():
    returning = Returning(often=4)
    for time in range(1, TRIES + 2):
        returning.seen("loss", 50 * time, traced=False)
    assert returning.next == NEVER
