"""Tokens that come back from Python as lists are recognised by what they follow."""

from __future__ import annotations

import math

import torch

from gradsan.observe.ops.answers import UNKNOWN, Answers, padding_of
from gradsan.record.events import ValueId

PROMPT, ANSWER = [7, 3, 9], [5, 6, 1]


def said(odds: list[float]) -> str:
    return "".join("-" if math.isnan(odd) else "?" if odd == UNKNOWN else "d" for odd in odds)


def drawn(prompt: list[int], answer: list[int], pad_in_front: int = 0) -> Answers:
    answers = Answers()
    for at, token in enumerate(answer):
        answers.fed(torch.tensor([[0] * pad_in_front + prompt + answer[:at]]))
        answers.drawn(torch.tensor([[token]]), torch.tensor([[-1.0]]), ValueId(at + 1), False)
    return answers


def look(answers: Answers, row: list[int], pad: int | None = 0) -> str:
    found = answers.of(row, pad)
    return "" if found is None else said(found[0])


def test_an_answer_is_recognised_behind_its_prompt_and_padding_around_both_is_not_drawn() -> None:
    assert look(drawn(PROMPT, ANSWER), [*PROMPT, *ANSWER, 0, 0]) == "---ddd--"
    assert look(drawn(PROMPT, ANSWER), [0, 0, *PROMPT, *ANSWER]) == "-----ddd"
    assert look(drawn(PROMPT, ANSWER, pad_in_front=2), [*PROMPT, *ANSWER, 0]) == "---ddd-"


def test_an_answer_is_recognised_without_its_prompt() -> None:
    assert look(drawn(PROMPT, ANSWER), [*ANSWER, 0, 0]) == "ddd--"


def test_what_follows_something_else_is_unknown() -> None:
    assert look(drawn(PROMPT, ANSWER), [8, 8, 2, *ANSWER]) == ""
    assert look(drawn(PROMPT, ANSWER), [*PROMPT, 5, 2, 2, 4]) == "---d???"


def test_one_more_token_may_be_an_end_that_was_put_there() -> None:
    assert look(drawn(PROMPT, ANSWER), [*PROMPT, *ANSWER, 4], pad=None) == "---ddd?"


def test_with_a_state_only_the_last_token_is_read_again() -> None:
    answers = Answers()
    for fed, token in zip([PROMPT, [5], [6]], ANSWER, strict=True):
        answers.fed(torch.tensor([fed]))
        answers.drawn(torch.tensor([token]), torch.tensor([-1.0]), ValueId(1), False)
    assert look(answers, [*PROMPT, *ANSWER, 0, 0]) == "---ddd--"


def test_what_was_written_over_a_draw_ends_the_answer() -> None:
    answers = Answers()
    for rows, tokens in (
        ([[7, 3], [8, 4]], [5, 1]),
        ([[7, 3, 5], [8, 4, 1]], [6, 9]),
        ([[7, 3, 5, 6], [8, 4, 1, 0]], [1, 9]),
    ):
        answers.fed(torch.tensor(rows))
        answers.drawn(torch.tensor(tokens), torch.tensor([-1.0, -1.0]), ValueId(1), False)
    assert look(answers, [7, 3, 5, 6, 1]) == "--ddd"
    assert look(answers, [8, 4, 1, 0, 9]) == "--d??"


def test_the_second_answer_of_a_conversation_follows_the_first() -> None:
    answers = drawn(PROMPT, [5, 6])
    for at, token in enumerate([8, 1]):
        answers.fed(torch.tensor([[*PROMPT, 5, 6, 2, 2, *[8, 1][:at]]]))
        answers.drawn(torch.tensor([token]), torch.tensor([-1.0]), ValueId(9), False)
    assert look(answers, [*PROMPT, 5, 6, 2, 2, 8, 1]) == "---dd--dd"


def test_padding_is_what_rows_end_with_more_than_once() -> None:
    assert padding_of([[1, 2, 0, 0], [1, 2, 3, 4]]) == 0
    assert padding_of([[1, 2, 0, 0]]) is None
