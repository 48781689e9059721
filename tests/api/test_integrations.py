"""The callbacks, in the real libraries; and a plain loop."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from stable_baselines3 import DQN
from torch import nn

import gradsan
from gradsan.integrations.lightning import GradsanCallback as LightningCallback
from gradsan.integrations.loop import watched
from gradsan.integrations.stable_baselines3 import GradsanCallback as Sb3Callback
from gradsan.observe.session import Session
from training import net

# -- a plain loop ----------------------------------------------------------------------------------


def stale_turns(loop: watched[int], until: int = 99) -> None:
    model = net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for turn in loop:
        if turn == until:
            break
        model(torch.ones(2, 3)).pow(2).mean().backward()
        opt.step()  # stale


def test_a_loop_is_watched_and_what_was_found_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    loop = watched(range(4))
    stale_turns(loop)
    assert [f.rule for f in loop.report.findings] == ["GS401"]
    assert "opt.step()  # stale" in capsys.readouterr().err


def test_a_loop_that_is_left_early_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    loop = watched(range(100), quiet=True)
    stale_turns(loop, until=3)
    assert loop.report.finished
    assert loop.report.iterations == 3
    assert capsys.readouterr().err == ""


def test_a_loop_whose_body_raises_is_closed() -> None:
    loop = watched(range(10), raise_on="error", quiet=True)
    with pytest.raises(gradsan.GradientError):
        stale_turns(loop)
    assert loop.report.finished


def test_a_loop_that_could_not_be_watched_says_so_though_it_is_to_be_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    stale_turns(watched(range(4), quiet=True))
    assert "gradsan: nothing was watched" in capsys.readouterr().err


def untappable(session: Session) -> Session:
    raise AttributeError("no tap fits")


# -- Stable-Baselines3 -----------------------------------------------------------------------------


@pytest.fixture
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def sb3(kind: str = "clean") -> DQN:
    class Stale(DQN):
        def train(self, gradient_steps: int, batch_size: int = 8) -> None:
            for _ in range(gradient_steps):
                data = self.replay_buffer.sample(batch_size)
                values = self.q_net(data.observations).gather(1, data.actions)
                (values - data.rewards).pow(2).mean().backward()
                self.policy.optimizer.step()  # stale

    class Failing(DQN):
        def train(self, gradient_steps: int, batch_size: int = 8) -> None:
            values = self.q_net(self.replay_buffer.sample(batch_size).observations).exp()
            values += 1  # changed
            values.mean().backward()

    class Wasteful(DQN):
        def train(self, gradient_steps: int, batch_size: int = 8) -> None:
            for _ in range(gradient_steps):
                data = self.replay_buffer.sample(batch_size)
                following = (
                    self.q_net_target(data.next_observations).max(1, keepdim=True).values
                )  # not held still
                goal = data.rewards + 0.9 * following
                values = self.q_net(data.observations).gather(1, data.actions)
                self.policy.optimizer.zero_grad()
                (values - goal).pow(2).mean().backward()
                self.policy.optimizer.step()

    made = {"clean": DQN, "stale": Stale, "failing": Failing, "wasteful": Wasteful}[kind]
    return made(
        "MlpPolicy", "CartPole-v1", learning_starts=20, target_update_interval=20, seed=0, device="cpu"
    )


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_a_target_network_is_known_though_it_is_older_than_the_watch() -> None:
    callback = Sb3Callback()
    model = sb3("wasteful")
    model.target_update_interval = 10_000
    model.learn(120, callback=callback)
    assert not callback.report.faults
    assert [(f.rule, f.severity) for f in callback.report.findings] == [("GS302", "info")]


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_clean_agents_are_clean_and_logged() -> None:
    callback = Sb3Callback()
    model = sb3()
    model.learn(80, callback=callback)
    assert (callback.report.findings, callback.report.faults) == ([], [])
    assert callback.report.finished
    assert callback.report.iterations > 10
    assert model.logger.name_to_value["gradsan/errors"] == 0
    assert model.logger.name_to_value["gradsan/watched"] == 1


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_a_bug_in_a_subclass_is_found_at_its_line() -> None:
    callback = Sb3Callback(select="GS401")
    model = sb3("stale")
    model.learn(60, callback=callback)
    assert [f.culprit.code for f in callback.report.findings] == ["self.policy.optimizer.step()  # stale"]
    assert model.logger.name_to_value["gradsan/errors"] == 1
    with pytest.raises(gradsan.GradientError, match="GS401"), Sb3Callback(raise_on="error") as strict:
        sb3("stale").learn(60, callback=strict)


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_an_error_inside_learn_closes_the_watch_and_is_explained() -> None:
    with pytest.raises(RuntimeError, match="modified by an inplace"), Sb3Callback() as callback:
        sb3("failing").learn(60, callback=callback)
    assert [f.culprit.code for f in callback.report.findings] == ["values += 1  # changed"]


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_without_the_with_the_next_learn_closes_what_the_last_left_open() -> None:
    callback = Sb3Callback()
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        sb3("failing").learn(60, callback=callback)
    sb3().learn(40, callback=callback)
    assert callback.report.finished
    assert callback.report.findings == []


@pytest.mark.usefixtures("one_thread")
def test_stable_baselines3_that_nothing_could_be_watched_is_logged_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    model = sb3("stale")
    model.learn(60, callback=Sb3Callback())
    assert model.logger.name_to_value["gradsan/watched"] == 0
    assert "gradsan: nothing was watched" in capsys.readouterr().err


# -- Lightning -------------------------------------------------------------------------------------


@pytest.fixture
def fit(tmp_path, monkeypatch: pytest.MonkeyPatch):
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    monkeypatch.chdir(tmp_path)

    def fit(module: object, *callbacks: object, epochs: int = 2) -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer = Trainer(
                max_epochs=epochs, accelerator="cpu", callbacks=list(callbacks), logger=False,
                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            )  # fmt: skip
            trainer.fit(module, torch.utils.data.DataLoader(torch.ones(24, 3), batch_size=4))
        return trainer

    return fit


def lightning_module(kind: str):
    class Agent(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(3, 1)
            self.spare = nn.Linear(3, 1) if kind == "unused" else None
            self.automatic_optimization = kind not in ("stale", "failing")

        def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor | None:
            loss = self.net(batch).exp()
            if self.automatic_optimization:
                return loss.mean()
            if kind == "failing":
                loss += 1  # changed
            self.manual_backward(loss.mean())
            self.optimizers().step()  # stale
            return None

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.01)  # optimizer

    return Agent()


def test_lightning_automatic_optimization_is_clean_and_logged(fit) -> None:
    callback = LightningCallback()
    trainer = fit(lightning_module("clean"), callback)
    assert (callback.report.findings, callback.report.faults) == ([], [])
    assert callback.report.iterations == 12
    assert trainer.callback_metrics["gradsan/errors"] == 0
    assert trainer.callback_metrics["gradsan/watched"] == 1


def test_lightning_that_nothing_could_be_watched_is_logged_and_said(fit, monkeypatch, capsys) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    trainer = fit(lightning_module("stale"), LightningCallback(quiet=True))
    assert trainer.callback_metrics["gradsan/watched"] == 0
    assert "gradsan: nothing was watched" in capsys.readouterr().err


def test_lightning_manual_optimization_bugs_are_found_at_their_line(fit, capsys) -> None:
    callback = LightningCallback()
    trainer = fit(lightning_module("stale"), callback)
    assert [f.culprit.code for f in callback.report.findings] == ["self.optimizers().step()  # stale"]
    assert trainer.callback_metrics["gradsan/errors"] == 1
    assert "GS401" in capsys.readouterr().err


def test_lightning_the_line_that_made_the_optimizer_is_known(fit) -> None:
    callback = LightningCallback(quiet=True)
    fit(lightning_module("unused"), callback)
    codes = [(f.rule, f.culprit.code) for f in callback.report.findings]
    assert codes == [("GS204", "return torch.optim.SGD(self.parameters(), lr=0.01)  # optimizer")]


def test_lightning_an_error_closes_the_watch_and_is_explained(fit) -> None:
    callback = LightningCallback(quiet=True)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        fit(lightning_module("failing"), callback)
    assert [f.culprit.code for f in callback.report.findings] == ["loss += 1  # changed"]
