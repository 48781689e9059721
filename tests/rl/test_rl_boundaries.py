"""Our agents pass no tap by: each boundary of an update is in the trace, in the right order, at its own line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradsan.observe.session import Session
from gradsan.record.events import Backward, Clip, SiteSeen, Step, ZeroGrad
from gradsan.record.recorder import Recorder
from gradsan.rl.algorithms import ALGORITHMS, build, preset
from gradsan.rl.make import make_envs
from harness import Events

BOUNDARIES = {ZeroGrad: "clear", Backward: "backward", Clip: "clip", Step: "step"}
CLIPPED, UNCLIPPED = ["clear", "backward", "clip", "step"], ["clear", "backward", "step"]
SMALL = {"hidden": (8,), "learning_starts": 20, "batch_size": 8, "buffer_size": 100, "num_envs": 2}
# One round of updates of each: what it must leave in the trace.
UPDATES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "dqn": ({"train_every": 20, "updates_per_round": 2, "learning_starts": 10}, 2 * CLIPPED),
    "reinforce": ({"baseline_updates": 3}, CLIPPED + 3 * UNCLIPPED),
    "a2c": ({}, CLIPPED),
    "ppo": ({"rollout": 8, "epochs": 2}, 4 * CLIPPED),
    "sac": ({}, 3 * UNCLIPPED),
    "td3": ({"policy_delay": 1}, 2 * UNCLIPPED),
}


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_every_boundary_of_an_update_is_in_the_trace(algorithm: str, mode: str) -> None:
    own, expected = UPDATES[algorithm]
    env = "toys/Reach-v0" if algorithm in ("sac", "td3") else "toys/Identity-v0"
    kind = ALGORITHMS[algorithm].config
    options = {name: value for name, value in (SMALL | own).items() if hasattr(kind, name)}
    config = preset(algorithm, env, **options)
    agent, events = build(config, make_envs(env, config.num_envs)), Events()
    with Session(Recorder([events]), mode):
        while not agent.updates:
            agent.advance()
    seen = [event for event in events if type(event) in BOUNDARIES]
    assert [BOUNDARIES[type(event)] for event in seen] == expected
    files = {event.site: Path(event.file).name for event in events if isinstance(event, SiteSeen)}
    assert {files[event.site] for event in seen} == {f"{algorithm}.py"}
