from __future__ import annotations

import pytest

from gradsan.lock.model import Flow, Loss, Network, renamed
from gradsan.lock.text import LockError, parsed, plain, written


def example() -> Flow:
    loss = Loss(
        "agent.py", "Agent.update", "F.mse_loss(q, target)", {"trains `critic`"}, {"reaches `critic`, fitted"}
    )
    networks = [Network("critic", 4, 97, {"belongs to Adam"}), Network("target", 1, 1, {"follows `critic`"})]
    return Flow(networks, [loss], "--env 'Cart Pole'")


def test_what_is_written_is_read_back():
    read = parsed(written({"program train.py": example(), "test t.py::test_a": Flow()}))
    flow = read["program train.py"]
    assert list(read) == ["program train.py", "test t.py::test_a"]
    assert flow.networks == example().networks
    assert flow.arguments == "--env 'Cart Pole'"
    assert flow.losses[0].traced
    assert (flow.losses[0].facts, flow.losses[0].deep) == (
        example().losses[0].facts,
        example().losses[0].deep,
    )
    assert (flow.losses[0].place, flow.losses[0].expression) == (
        ("agent.py", "Agent.update"),
        "F.mse_loss(q, target)",
    )


def test_the_same_flow_is_the_same_text_in_whatever_order_it_was_found():
    one = example()
    one.losses.insert(0, Loss("b.py", "f", "x", {"trains `b`", "trains `a`"}))
    other = example()
    other.losses.append(Loss("b.py", "f", "x", {"trains `a`", "trains `b`"}))
    assert written({"program b": one, "program a": other}) == written({"program a": other, "program b": one})
    assert written({"program a": one}) == written({"program a": other})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no gradsan lock"),
        ("{}", "no gradsan lock"),
        ("version 9\n", "reads 1"),
        ("version 1\nloss of f in a.py: x\n", "damaged at line 2"),
        ("version 1\nprogram a\nnetwork `a`: many tensors, 1 number\n", "damaged at line 3"),
        ("version 1\nprogram a\n  trains `a`\n", "damaged at line 3"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(text, said):
    with pytest.raises(LockError, match=said):
        parsed(text)


def test_names_cannot_break_the_format():
    assert plain("a`b`\n  trains\x1b[0m c") == "a'b' trains [0m c"


def test_listed_networks_are_in_the_order_of_their_new_names():
    assert renamed("feeds Adam of `a`, `b`", {"a": "z", "b": "y"}) == "feeds Adam of `y`, `z`"
