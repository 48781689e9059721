"""What is older than the watch is judged like what was seen being made."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import gradsan
from gradsan.api.report import WatchReport


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))


def loaded(online: nn.Module) -> nn.Module:
    other = network()
    other.load_state_dict(online.state_dict())
    return other


class Both(nn.Module):
    """Online network and target as parts of one module, as many agents have them."""

    def __init__(self) -> None:
        super().__init__()
        self.online = network()
        self.target = copy.deepcopy(self.online)


def learn(online: nn.Module, target: nn.Module, optimizer: torch.optim.Optimizer, updates: int) -> None:
    for _ in range(updates):
        obs, following, reward = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
        goal = reward + 0.9 * target(following).max(1).values  # the target network is not held still
        loss = (online(obs)[:, 0] - goal).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # the optimizer at work


def found(report: WatchReport) -> list[tuple[str, str, str]]:
    assert not report.faults, report.faults[0]["traceback"]
    places = [f.culprit.code if f.culprit else "nowhere" for f in report.findings]
    return [
        (f.rule, f.severity, place.rpartition("# ")[2])
        for f, place in zip(report.findings, places, strict=True)
    ]


WASTED = [("GS302", "info", "the target network is not held still")]


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize("copied", [copy.deepcopy, loaded])
def test_a_target_network_that_is_older_than_the_watch_is_one(copied, before: int, mode: str) -> None:
    torch.manual_seed(0)
    online = network()
    target = copied(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    learn(online, target, optimizer, before)  # by then it lags behind
    with gradsan.watch(mode) as report:
        learn(online, target, optimizer, 12)
    assert found(report) == WASTED


def test_it_may_be_a_part_of_something_larger() -> None:
    torch.manual_seed(0)
    agent = SimpleNamespace(nets=Both())
    optimizer = torch.optim.Adam(agent.nets.online.parameters())
    with gradsan.watch() as report:
        learn(agent.nets.online, agent.nets.target, optimizer, 12)
    assert found(report) == WASTED


def test_a_network_of_the_same_form_that_was_forgotten_is_no_target() -> None:
    torch.manual_seed(0)
    online, forgotten = network(), network()
    optimizer = torch.optim.Adam(online.parameters())
    with gradsan.watch() as report:
        learn(online, forgotten, optimizer, 12)
    assert found(report) == [("GS205", "error", "the optimizer at work")]


def test_one_of_a_population_that_began_as_a_copy_is_no_target() -> None:
    torch.manual_seed(0)
    players = [network()]
    players.append(copy.deepcopy(players[0]))
    optimizers = [torch.optim.Adam(player.parameters()) for player in players]
    with gradsan.watch() as report:
        for _ in range(12):
            for player, optimizer in zip(players, optimizers, strict=True):
                optimizer.zero_grad()
                (player(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
                optimizer.step()
    assert found(report) == []


def test_a_target_that_is_not_synced_within_the_watch_is_not_called_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradsan.judge.copies.standing_targets.PATIENCE", 8)
    torch.manual_seed(0)
    online = network()
    target = copy.deepcopy(online).requires_grad_(False)
    optimizer = torch.optim.Adam(online.parameters())
    with gradsan.watch() as report:
        learn(online, target, optimizer, 12)
    assert found(report) == []
