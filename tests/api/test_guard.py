"""`gradsan.guard`: the write is stopped, or does no harm; PyTorch's own error is never hidden."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import gradsan
from gradsan.api import guard as module
from training import code_at


def forward() -> tuple[Tensor, Tensor, Tensor]:
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = w * 2
    y = h.exp()  # kept here
    return w, h, y


WRITES: dict[str, Callable[[Tensor], object]] = {
    "in place": lambda y: y.add_(1),
    "a view": lambda y: y[:1].zero_(),
    "an item": lambda y: y.__setitem__(0, 1.0),
    "detached": lambda y: y.detach().add_(1),
    "through .data": lambda y: y.data.add_(1),
    "out=": lambda y: torch.add(torch.ones(3), 1, out=y.detach()),
    "foreach": lambda y: torch._foreach_mul_([y.detach()], 2.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_raise_stops_the_write_before_it_happens(write: Callable[[Tensor], object]) -> None:
    with gradsan.guard("raise"):
        w, _, y = forward()
        before = y.detach().clone()
        with pytest.raises(gradsan.GuardError, match=r"`y = h.exp\(\)  # kept here`"):
            write(y)
        assert torch.equal(y, before)
        y.sum().backward()
    assert torch.equal(w.grad, 2 * before)


def test_the_error_comes_out_at_the_write_and_carries_the_finding() -> None:
    with gradsan.guard("raise"):
        _, _, y = forward()
        with pytest.raises(gradsan.GuardError) as caught:
            y += 1
    assert code_at(caught.value, __file__) == "y += 1"
    finding = caught.value.finding
    assert (finding.rule, finding.culprit.code) == ("GS101", "y += 1")
    assert [(s.role, s.location.code) for s in finding.sites] == [
        ("saved", "y = h.exp()  # kept here"),
        ("mutation", "y += 1"),
    ]


def test_a_step_between_forward_and_backward_is_gs102() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    opt = torch.optim.Adam(net.parameters())
    with gradsan.guard("raise"):
        first = net(torch.ones(2, 3)).sum()
        second = net(torch.ones(2, 3)).sum()
        first.backward()
        with pytest.raises(gradsan.GuardError) as caught:
            opt.step()
        assert code_at(caught.value, __file__) == "opt.step()"
        assert caught.value.finding.rule == "GS102"
        second.backward()
        opt.step()


def test_raise_leaves_right_training_alone_and_memory_free() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Linear(4, 4))
    opt = torch.optim.Adam(net.parameters())
    before = kept()
    with gradsan.guard("raise"):
        for _ in range(3):
            h = net(torch.randn(8, 3))
            h.mul_(2)
            h[:, 0] = 0.0
            h += 1
            opt.zero_grad()
            h.mean().backward()
            opt.step()
    assert kept() <= before


def kept() -> set[object]:
    return {one for holders in module._kept.values() for one in holders}


def test_what_is_no_longer_kept_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 20)
    with gradsan.guard("raise"):
        for _ in range(100):
            forward()
    assert len(module._kept) < 60


def test_backward_after_the_block_works() -> None:
    with gradsan.guard("raise"):
        w, _, y = forward()
    y.sum().backward()
    assert w.grad is not None


def test_a_write_after_the_block_gets_pytorchs_error_with_the_line_that_kept_the_value() -> None:
    with gradsan.guard("raise"):
        _, _, y = forward()
    y.add_(1)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation.*version 1; expected.*# kept here"
    ):
        y.sum().backward()


def test_an_inner_guard_protects_what_the_outer_one_saw() -> None:
    with gradsan.guard("raise"):
        _, _, y = forward()
        with gradsan.guard("raise"):
            _, _, z = forward()
            with pytest.raises(gradsan.GuardError):
                y.add_(1)
        with pytest.raises(gradsan.GuardError):
            z.add_(1)


def test_copy_gives_backward_the_value_from_before_the_write() -> None:
    expected, _, plain = forward()
    plain.sum().backward()
    with gradsan.guard("copy"):
        w, _, y = forward()
        total = y.sum()
        y.detach().zero_()
        total.backward()
    assert torch.equal(w.grad, expected.grad)
    assert not y.any()


def test_copy_does_what_the_functional_form_would_do() -> None:
    def masked(in_place: bool) -> Tensor:
        w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        q = w.sigmoid()
        if in_place:
            soft = q.exp() * q
            q[0] = -9.0
        else:
            soft = q.exp() * q
            q = q.masked_fill(torch.tensor([True, False, False]), -9.0)
        (soft.sum() + q.max()).backward()
        return w.grad

    with pytest.raises(RuntimeError, match="modified by an inplace"):
        masked(True)
    with gradsan.guard("copy"):
        assert torch.equal(masked(True), masked(False))


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'raise' and 'copy'"), gradsan.guard("warn"):
        pass


@pytest.mark.parametrize("mode", ["raise", "copy"])
def test_guarded_training_can_be_watched(mode: str) -> None:
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with gradsan.watch("deep") as report, gradsan.guard(mode):
        for _ in range(4):
            loss = net(torch.ones(8, 3)).exp().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    assert (report.findings, report.faults) == ([], [])
