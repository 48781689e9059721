"""`gradsan.explain`: PyTorch's autograd errors as findings, with and without a watch."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable

import pytest
import torch

import gradsan
from training import mutated

LEAF = torch.ones(3, requires_grad=True)


def changed() -> None:
    y = (LEAF * 2).exp()
    y.add_(1)  # changed
    y.sum().backward()  # changed backward


def stepped() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    first, second = net(torch.ones(3)), net(torch.ones(3))
    first.backward()
    opt.step()  # stepped
    second.backward()  # stepped backward


def leaf() -> None:
    LEAF.add_(1)  # leaf


def copied() -> None:
    copy.deepcopy(LEAF * 2)  # copied


def graphless() -> None:
    loss = (LEAF.detach() * 2).sum()  # graphless
    loss.backward()  # graphless backward


def twice() -> None:
    loss = LEAF.exp().sum()
    loss.backward()
    loss.backward()  # twice


def many() -> None:
    loss = LEAF * 2  # many
    loss.backward()  # many backward


CASES = [
    (changed, "GS101", "# changed", "# changed backward"),
    (stepped, "GS102", "# stepped", "# stepped backward"),
    (leaf, "GS103", "# leaf", "# leaf"),
    (copied, "GS105", "# copied", "# copied"),
    (graphless, "GS201", "# graphless", "# graphless backward"),
    (twice, "GS402", "# twice", "# twice"),
    (many, "GS403", "# many", "# many backward"),
]
IDS = [rule for _, rule, _, _ in CASES]


def caught(case: Callable[[], None]) -> RuntimeError:
    with pytest.raises(RuntimeError) as info:
        case()
    LEAF.grad = None
    return info.value


@pytest.mark.parametrize(("case", "rule", "culprit", "raised"), CASES, ids=IDS)
def test_inside_a_watch_the_finding_names_the_line_to_change(
    case: Callable[[], None], rule: str, culprit: str, raised: str
) -> None:
    with gradsan.watch("deep") as report:
        finding = gradsan.explain(caught(case))
    assert finding.rule == rule
    assert finding.culprit.code.endswith(culprit)
    assert finding in report.findings


@pytest.mark.parametrize(("case", "rule", "culprit", "raised"), CASES, ids=IDS)
def test_without_a_watch_it_tells_what_message_and_traceback_tell(
    case: Callable[[], None], rule: str, culprit: str, raised: str
) -> None:
    finding = gradsan.explain(caught(case))
    assert finding.rule == {"GS102": "GS101"}.get(rule, rule)
    # A cut can be read from the source; what was written in between cannot.
    assert finding.culprit.code.endswith(culprit if rule == "GS201" else raised)
    assert finding.fix


def test_what_pytorch_says_of_the_tensor_is_kept() -> None:
    finding = gradsan.explain(caught(changed))
    assert "(a tensor of shape [3], the result of `exp`)" in finding.message
    assert "--mode deep" in finding.message


def test_the_shape_of_a_loss_that_is_not_a_number_is_told() -> None:
    assert "has shape [3]" in gradsan.explain(caught(many)).message


def test_the_error_of_this_line_is_explained_not_an_earlier_one() -> None:
    with gradsan.watch("deep"):
        gradsan.explain(caught(changed))
        finding = gradsan.explain(caught(mutated))
        assert finding.culprit.code == "h += 1.0  # BUG"
        assert gradsan.explain(caught(changed)).culprit.code.endswith("# changed")


def test_a_cause_is_looked_for_in_the_chain() -> None:
    wrapper = KeyError("update failed")
    wrapper.__cause__ = caught(changed)
    assert gradsan.explain(wrapper).rule == "GS101"


def test_an_error_of_gradsan_carries_its_finding() -> None:
    with pytest.raises(gradsan.GuardError) as info, gradsan.guard("raise"):
        changed()
    assert gradsan.explain(info.value) is info.value.finding


def test_other_errors_are_not_explained() -> None:
    assert gradsan.explain(ValueError("backward through the graph a second time")) is None
    with contextlib.suppress(ZeroDivisionError):
        1 / 0  # noqa: B018
    assert gradsan.explain(ZeroDivisionError()) is None


def numpy() -> None:
    (LEAF * 2).numpy()  # numpy


def pieces() -> None:
    first, _, _ = (LEAF * 2).split(1)
    first.add_(1)  # pieces


@pytest.mark.parametrize("watched", [False, True])
def test_an_error_that_no_rule_is_about_is_explained_all_the_same(watched: bool) -> None:
    with gradsan.watch("deep") if watched else contextlib.nullcontext():
        finding = gradsan.explain(caught(numpy))
    assert finding.rule == ""
    assert finding.message.startswith("a NumPy array has no graph")
    assert ".detach().numpy()" in finding.fix
    assert finding.culprit.code.endswith("# numpy")


@pytest.mark.parametrize("watched", [False, True])
def test_a_write_to_one_of_several_views_is_a_finding(watched: bool) -> None:
    with gradsan.watch("deep") if watched else contextlib.nullcontext():
        finding = gradsan.explain(caught(pieces))
    assert finding.rule == "GS101"
    assert finding.culprit.code.endswith("# pieces")
