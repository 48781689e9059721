"""The worker hook for Ray, without Ray: how it composes with what the script and the user have set themselves."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from gradsan.processes import ray_jobs
from gradsan.processes.orders import FOLLOW, Orders, given

called: list[str] = []


def own_hook() -> None:
    called.append("own")


def users_env_hook(env: Any) -> Any:
    called.append("environment")
    return {**(env or {}), "env_vars": {"MINE": "1"}}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    called.clear()
    for name in (ray_jobs.ASKED, ray_jobs.THEIRS, FOLLOW):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("own", [own_hook, f"{__name__}.own_hook"])
def test_a_hook_of_the_script_is_called_whatever_becomes_of_ours(own: Any) -> None:
    ray_jobs.hook_for("no orders at all", own)()
    assert called == ["own"]


def test_the_hook_needs_nothing_of_the_module_that_made_it() -> None:
    hook = ray_jobs.hook_for("orders", None)
    assert hook.__name__  # Ray shows it
    assert not {"Orders", "attempt", "child", "given"} & set(hook.__code__.co_names)  # type: ignore[attr-defined]


def test_a_hook_for_the_environment_runs_first_and_comes_back_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ray_jobs.ASKED, f"{__name__}.users_env_hook")
    monkeypatch.setenv(FOLLOW, "orders")
    ray_jobs.prepare(os.environ)
    ray_jobs.prepare(os.environ)  # a child of the run prepares once more
    assert os.environ[ray_jobs.ASKED] == "gradsan.processes.ray_jobs.with_hook"
    env = ray_jobs.with_hook({ray_jobs.HOOK: own_hook})
    assert env["env_vars"] == {"MINE": "1"}
    env[ray_jobs.HOOK]()
    assert called == ["environment", "own"]
    ray_jobs.take_back(os.environ)
    assert os.environ[ray_jobs.ASKED] == f"{__name__}.users_env_hook"
    assert ray_jobs.THEIRS not in os.environ


def test_a_hook_that_a_supervisor_has_sent_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLLOW, "orders")
    sent = {"env_vars": {ray_jobs.TAKEN: "key"}}
    assert ray_jobs.with_hook(sent) == sent


def test_what_the_script_gave_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLLOW, "orders")
    theirs = {ray_jobs.HOOK: own_hook}
    assert ray_jobs.with_hook(theirs)[ray_jobs.HOOK] is not own_hook
    assert theirs == {ray_jobs.HOOK: own_hook}


def orders(tmp_path: Path, host: str) -> Orders | None:
    wanted = Orders(str(tmp_path), str(tmp_path / "gone"), "a.py", "deep", "/", live=("GS101",), host=host)
    environment: dict[str, str] = {}
    wanted.give(environment)
    return given(environment)


def test_another_machine_that_shares_the_traces_follows_and_this_one_does_not_after_the_end(
    tmp_path: Path,
) -> None:
    elsewhere = orders(tmp_path, "another-machine")
    assert elsewhere is not None
    assert (elsewhere.scratch, elsewhere.live) == (str(tmp_path), ())
    assert orders(tmp_path, socket.gethostname()) is None
    assert orders(tmp_path / "not-shared", "another-machine") is None
