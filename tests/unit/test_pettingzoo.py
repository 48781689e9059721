"""PettingZoo's parallel API, with the library itself: its classes, its wrappers, its conversions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

pettingzoo = pytest.importorskip("pettingzoo")

from feature import run  # noqa: E402
from pettingzoo.utils.conversions import parallel_to_aec  # noqa: E402
from pettingzoo.utils.wrappers import BaseParallelWrapper  # noqa: E402

from gradsan.observe.session import Session  # noqa: E402
from gradsan.observe.worlds.transitions import ENDS  # noqa: E402
from gradsan.record.recorder import Recorder  # noqa: E402
from harness import Events, marked_lines, run_code  # noqa: E402

LEARNING = """
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper

class Tag(ParallelEnv):
    metadata = {"name": "tag"}
    possible_agents = ["hunter", "hare"]

    def observation_space(self, agent):
        return Box(-9.0, 9.0, (3,), np.float32)

    def action_space(self, agent):
        return Discrete(2)

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.place = {a: self.random.normal(size=3).astype("float32") for a in self.agents}
        return {a: self.place[a].copy() for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions):
        acting = list(actions)
        for a in acting:
            self.place[a] = (self.place[a] + self.random.normal(0, 0.5, 3)).astype("float32")
        over = {a: bool(abs(self.place[a]).max() > 2) for a in acting}
        rewards = {a: float(self.place[a][0]) for a in acting}
        self.agents = [a for a in acting if not over[a]]
        seen = {a: self.place[a].copy() for a in acting}
        return seen, rewards, over, {a: False for a in acting}, {a: {} for a in acting}

torch.manual_seed(0)
env = BaseParallelWrapper(Tag())
critic = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
buffer, seed = [], 0
obs, _ = env.reset(seed=seed)
for step in range(400):
    if not env.agents:
        seed += 1
        obs, _ = env.reset(seed=seed)
    following, reward, over, cut, _ = env.step({a: env.action_space(a).sample() for a in env.agents})
    buffer += [(obs[a], reward[a], following[a], float(over[a])) for a in following]
    obs = {a: following[a] for a in env.agents}
    if len(buffer) > 60 and step % 10 == 0:
        rows = [buffer[i] for i in np.random.default_rng(step).integers(len(buffer), size=48)]
        s, r, s2, d = (torch.as_tensor(np.array(part), dtype=torch.float32) for part in zip(*rows))
        with torch.no_grad():
            target = r + 0.95 * MASK critic(s2).squeeze(-1)  # BUG
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
WITHOUT, WITH = LEARNING.replace("MASK ", ""), LEARNING.replace("MASK ", "(1 - d) * ")


def streams_of(play: Any) -> list[Any]:
    events = Events()
    session = Session(Recorder([events]), "light")
    with session:
        play()
        found = list(session._environments._rollouts.streams.values())
    assert not [event for event in events if type(event).__name__ == "Fault"]
    return found


class Race(pettingzoo.ParallelEnv):  # type: ignore[misc]
    """Two runners; the first gives up after two steps and leaves the dictionaries, as the interface wants it."""

    metadata: ClassVar = {"name": "race"}
    possible_agents: ClassVar = ["a", "b"]

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        self.agents, self.now = list(self.possible_agents), 0
        return {a: np.zeros(2) for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.now += 1
        over = {a: a == "a" and self.now == 2 for a in actions}
        late = dict.fromkeys(actions, self.now == 4)
        rewards = {a: float(self.now) for a in actions}
        self.agents = [a for a in actions if not over[a] and not late[a]]
        return {a: np.full(2, self.now) for a in actions}, rewards, over, late, {a: {} for a in actions}


@pytest.mark.parametrize("wrap", [lambda env: env, BaseParallelWrapper], ids=["bare", "wrapped"])
def test_each_agent_has_its_own_stream_until_it_leaves(wrap: Any) -> None:
    def play() -> None:
        env = wrap(Race())
        env.reset(seed=0)
        while env.agents:
            env.step(dict.fromkeys(env.agents, 0))

    found = streams_of(play)
    assert [[ENDS[end] for end in stream.ends] for stream in found] == [
        ["", "terminated"],
        ["", "", "", "truncated"],
    ]
    assert [list(stream.rewards) for stream in found] == [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]


def test_an_environment_of_the_library_in_turns_is_read_through_its_conversion() -> None:
    rps = pytest.importorskip("pettingzoo.classic.rps_v2", exc_type=ImportError)

    def play() -> None:
        env = rps.parallel_env(max_cycles=5)
        env.reset(seed=1)
        while env.agents:
            env.step(dict.fromkeys(env.agents, 0))

    ends = [[ENDS[end] for end in stream.ends] for stream in streams_of(play)]
    assert ends == [["", "", "", "", "truncated"]] * 2


def test_the_conversion_to_turns_works_as_without_us() -> None:
    def play() -> list[float]:
        env = parallel_to_aec(Race())
        env.reset(seed=0)
        heard = []
        for agent in env.agent_iter(40):
            _, reward, over, late, _ = env.last()
            heard.append(reward)
            env.step(None if over or late else 0)
            assert agent in ("a", "b")
        return heard

    bare, seen = play(), []
    streams_of(lambda: seen.extend(play()))
    assert seen == bare


def test_a_target_that_looks_past_the_end_of_an_agent_is_found() -> None:
    found = [(f.rule, f.culprit and f.culprit.line) for f in run_code(WITHOUT, "adaptive").findings]
    assert found == [("GS805", marked_lines(WITHOUT)[0])]


def test_a_masked_target_is_silent_and_learns_the_same_bit_for_bit() -> None:
    bare, _ = run(WITH)
    seen, report = run(WITH, "adaptive")
    assert seen == bare
    assert not report.findings
    assert not report.faults
