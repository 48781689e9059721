"""The tap on environments: what it records of a step, and that nobody notices it."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

np = pytest.importorskip("numpy")
gym = pytest.importorskip("gymnasium")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from gradsan.observe.session import Session  # noqa: E402
from gradsan.observe.worlds.rollouts import Rollouts  # noqa: E402
from gradsan.observe.worlds.transitions import ENDS, GOES_ON, RESET, Index, Stream, digest_of  # noqa: E402
from gradsan.record.recorder import Recorder  # noqa: E402
from harness import Events, run_code  # noqa: E402


class Counter:
    """Counts its steps, and ends after `length`; returns what the older interface (four) or the newer (five) does."""

    def __init__(self, length: int, values: int = 5) -> None:
        self.length, self.values, self.now = length, values, 0

    def reset(self) -> Any:
        self.now = 0
        return np.array([0.0, 0.5]) if self.values == 4 else (np.array([0.0, 0.5]), {})

    def step(self, action: float) -> Any:
        self.now += 1
        done = self.now == self.length
        flags = (done,) if self.values == 4 else (done, False)
        return np.array([self.now, 0.5]), float(action), *flags, {}


class Watched:
    """A session, and the streams of transitions that it has recorded."""

    def __init__(self) -> None:
        self.events = Events()
        self.session = Session(Recorder([self.events]), "light")

    def __enter__(self) -> Watched:
        self.session.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.session.__exit__(*exc)
        assert not [event for event in self.events if type(event).__name__ == "Fault"]

    def follow(self, *kinds: type) -> None:
        for kind in kinds:
            self.session._environments.follow(kind)

    @property
    def streams(self) -> list[Any]:
        self.session._environments._rollouts.look_for(set())
        return list(self.session._environments._rollouts.streams.values())

    def ends(self) -> list[list[str]]:
        return [[ENDS[end] for end in stream.ends] for stream in self.streams]


def test_a_step_through_several_wrappers_is_recorded_once() -> None:
    env = gym.make("CartPole-v1", max_episode_steps=4)  # four classes deep
    with Watched() as watched:
        env.reset(seed=0)
        for _ in range(4):
            env.step(0)
    (stream,) = watched.streams
    assert list(stream.rewards) == [1.0] * 4
    assert watched.ends() == [["", "", "", "truncated"]]
    # Each transition starts where the last one led to.
    assert stream.observed[1:] == stream.led_to[:-1]


def test_what_stands_in_front_of_an_environment_does_not_hide_it() -> None:
    class Front:
        """Returns a record of its own, as many vectorised loops do."""

        def __init__(self) -> None:
            self.env = gym.make("CartPole-v1")

        def reset(self) -> Any:
            return self.env.reset(seed=0)

        def step(self, action: int) -> Any:
            observation, reward, *_ = self.env.step(action)
            return {"observation": observation, "reward": reward}

    own = Front.step
    with Watched() as watched:
        watched.follow(Front)
        front = Front()
        front.reset()
        for _ in range(4):
            front.step(0)
        assert vars(Front)["step"] is own  # and nobody stands around it any more
    (stream,) = watched.streams
    assert list(stream.rewards) == [1.0] * 3  # the first step taught that the front says nothing


def test_an_environment_keeps_its_class_and_its_random_numbers() -> None:
    def run() -> list[float]:
        env = gym.make("CartPole-v1")
        env.reset(seed=3)
        env.action_space.seed(3)
        random.seed(0)
        found = [float(env.step(env.action_space.sample())[0].sum()) for _ in range(8)]
        assert type(env) is gym.wrappers.TimeLimit
        return [*found, random.random(), float(np.random.default_rng(0).random())]

    state = np.random.get_state()[1].copy()
    with Watched():
        watched = run()
    assert watched == run()
    assert (np.random.get_state()[1] == state).all()


def test_every_class_gets_its_own_methods_back() -> None:
    class Own(gym.Env):
        def step(self, action: Any) -> Any:
            return np.zeros(2), 0.0, False, False, {}

    before = [vars(kind).get("step") for kind in (gym.Env, gym.Wrapper, SyncVectorEnv, Own)]
    subclassing = vars(gym.Env).get("__init_subclass__")
    with Watched():
        assert vars(Own)["step"] is not before[3]
    assert [vars(kind).get("step") for kind in (gym.Env, gym.Wrapper, SyncVectorEnv, Own)] == before
    assert vars(gym.Env).get("__init_subclass__") is subclassing


def test_a_class_that_is_made_while_we_watch_is_seen() -> None:
    with Watched() as watched:

        class Late(gym.Env):
            def reset(self, **kwargs: Any) -> Any:
                return np.zeros(2), {}

            def step(self, action: Any) -> Any:
                return np.ones(2), 2.5, True, False, {}

        env = Late()
        env.reset()
        env.step(0)
    assert [list(stream.rewards) for stream in watched.streams] == [[2.5]]
    assert watched.ends() == [["terminated"]]


def test_one_flag_does_not_tell_how_an_episode_ended() -> None:
    with Watched() as watched:
        watched.follow(Counter)
        env = Counter(2, values=4)
        env.reset()
        env.step(1.0)
        env.step(2.0)
    assert watched.ends() == [["", "ended"]]


def test_one_flag_that_the_script_believes_is_an_end_of_known_length() -> None:
    with Watched() as watched:
        watched.follow(Counter)
        env = Counter(2, values=4)
        for _ in range(2):
            env.reset()
            env.step(1.0)
            env.step(2.0)
    assert watched.ends() == [["", "done", "", "ended"]]
    lengths = [watched.streams[0].transition(step).length for step in range(4)]
    assert lengths == [0, 2, 0, 2]


def test_an_episode_given_up_is_not_done_when_reset_comes_twice() -> None:
    with Watched() as watched:
        watched.follow(Counter)
        env = Counter(9, values=4)
        env.reset()
        env.step(1.0)
        env.reset()
        env.reset()
        env.step(1.0)
    assert watched.ends() == [["ended", ""]]


def test_an_episode_that_the_script_gives_up_is_over() -> None:
    with Watched() as watched:
        watched.follow(Counter)
        env = Counter(9)
        env.reset()
        env.step(1.0)
        env.reset()
        env.step(1.0)
    assert watched.ends() == [["ended", ""]]


@pytest.mark.parametrize(
    ("mode", "ends"),
    [
        (AutoresetMode.NEXT_STEP, ["", "truncated", "reset", ""]),
        (AutoresetMode.SAME_STEP, ["", "truncated", "", "truncated"]),
    ],
)
def test_copies_side_by_side_start_anew_as_gymnasium_says(mode: Any, ends: list[str]) -> None:
    with Watched() as watched:
        envs = SyncVectorEnv([lambda: gym.make("CartPole-v1", max_episode_steps=2)] * 2, autoreset_mode=mode)
        envs.reset(seed=0)
        last = [envs.step(np.zeros(2, dtype=int)) for _ in range(4)]
    assert watched.ends() == [ends, ends]
    for stream in watched.streams:
        # Where an episode ended, the transition led to its own last state, not to the first of the next.
        assert stream.led_to[1] != stream.observed[2] or mode is AutoresetMode.NEXT_STEP
    assert len(last) == 4


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_arrays_of_copies_are_recorded_as_lists_of_them_are(mode: Any, precision: Any) -> None:
    """Arrays have a short way, and a shorter one where no episode ends; lists have the general one."""
    chance = np.random.default_rng(0)
    env = type("Copies", (), {"metadata": {"autoreset_mode": mode}})
    as_arrays, as_lists = Rollouts(lambda event: None, lambda: 7), Rollouts(lambda event: None, lambda: 7)
    arrays, lists = env(), env()
    quickly = 0
    for number in range(400):
        observation = chance.normal(size=(3, 4)).astype(np.float32)
        terminated, truncated = chance.random((2, 3)) < (0.1 if number < 60 else 0.003)
        result = (observation, chance.normal(size=3).astype(precision), terminated, truncated)
        final = {"final_obs": list(chance.normal(size=(3, 4)).astype(np.float32))}
        action = chance.normal(size=(3, 2))
        taken = as_arrays.stepped_quickly(arrays, action, (*result, final))
        quickly += taken
        assert taken or as_arrays.stepped(arrays, action, (*result, final))
        assert as_lists.stepped(lists, action.tolist(), (*(part.tolist() for part in result), final))
        if number in (200, 201, 350):  # given up in the middle of an episode
            as_arrays.was_reset(arrays, (observation + 1, {}))
            as_lists.was_reset(lists, ((observation + 1).tolist(), {}))
    as_arrays.look_for(set())
    assert 300 < quickly < 400
    assert len(as_arrays.streams) == 3
    assert as_arrays.teams.streams.keys() == as_lists.teams.streams.keys()
    own, others = ([*r.streams.values(), *r.teams.streams.values()] for r in (as_arrays, as_lists))
    for one, other in zip(own, others, strict=True):
        for name in ("rewards", "ends", "observed", "led_to", "clocks", "current", "acted"):
            assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize(
    ("actions", "kept"),
    [
        ([0, 2, 1], [(0.0,), (2.0,), (1.0,)]),
        ([np.int64(1), np.array(2), True], [(), (), ()]),
        ([np.array([0.5, 2.0], np.float32), [1.0, 3.0], (2.0, 4.0)], [(0.5, 2.0), (1.0, 3.0), (2.0, 4.0)]),
        ([torch.tensor([1.5]), torch.tensor([2.5]), np.array([3.5])], [(1.5,), (2.5,), (3.5,)]),
        ([1, np.zeros(2), 1], [(), (), ()]),
        (["left", "right", None], [(), (), ()]),
        ([np.zeros(17)] * 3, [(), (), ()]),
    ],
    ids=["numbers", "flags", "vectors", "tensors", "of two forms", "words", "too wide"],
)
def test_what_a_step_was_given_is_kept_where_it_is_a_few_numbers(actions: Any, kept: Any) -> None:
    class World:
        def reset(self) -> Any:
            return np.zeros(2), {}

        def step(self, action: Any) -> Any:
            return np.ones(2), 1.0, False, False, {}

    with Watched() as watched:
        watched.follow(World)
        env = World()
        env.reset()
        for action in actions:
            env.step(action)
    (stream,) = watched.streams
    assert [stream.transition(at).action for at in range(3)] == kept


def test_copies_that_do_not_say_how_they_start_anew_led_to_what_they_returned() -> None:
    class Copies:
        def reset(self) -> Any:
            return np.zeros((2, 2)), {}

        def step(self, actions: Any) -> Any:
            return np.eye(2), np.ones(2), np.array([True, False]), np.zeros(2, bool), {}

    with Watched() as watched:
        watched.follow(Copies)
        env = Copies()
        env.reset()
        env.step(None)
    first, second = watched.streams
    assert [first.led_to[0], second.led_to[0]] == [digest_of(row) for row in np.eye(2)]


def test_agents_in_dictionaries_are_streams_of_their_own() -> None:
    class Pair:
        def reset(self) -> Any:
            return {name: np.zeros(2) for name in "ab"}, {}

        def step(self, actions: Any) -> Any:
            over = {"a": True, "b": False}
            return {n: np.ones(2) for n in "ab"}, {"a": 1.0, "b": 2.0}, over, {"a": False, "b": False}, {}

    with Watched() as watched:
        watched.follow(Pair)
        env = Pair()
        env.reset()
        env.step({})
    assert [list(stream.rewards) for stream in watched.streams] == [[1.0], [2.0]]
    assert watched.ends() == [["terminated"], [""]]


@pytest.mark.parametrize(
    "result", [None, 3, (1, 2), ("a", "b", "c", "d"), (np.ones(2), "much", False, False, {})]
)
def test_what_is_no_environment_is_left_alone(result: Any) -> None:
    class Machine:
        def reset(self) -> Any:
            return None

        def step(self) -> Any:
            return result

    with Watched() as watched:
        watched.follow(Machine)
        machine = Machine()
        machine.reset()
        assert machine.step() is result
    assert watched.streams == []


class Refusing:
    """An observation that is nobody's array."""

    def __array__(self, *_: object) -> Any:
        raise RuntimeError("not for you")


@pytest.mark.parametrize(
    "observation",
    [
        [np.ones(2), np.ones(3)],
        (np.ones(4), 1.0),
        [torch.ones(2, requires_grad=True), torch.ones(2)],
        [Refusing(), Refusing()],
        [None, "text"],
        [{"a": 1.0}],
        torch.ones(2, requires_grad=True),
        torch.ones(2).to_sparse(),
        [[1.0, 2.0], [3.0]],
    ],
)
def test_an_observation_of_any_kind_is_no_fault(observation: Any) -> None:
    class World:
        def reset(self) -> Any:
            return observation

        def step(self, action: int) -> Any:
            return observation, 1.0, False, {}

    with Watched() as watched:
        watched.follow(World)
        world = World()
        assert world.reset() is observation
        for _ in range(3):
            assert world.step(0)[0] is observation
        assert [list(stream.rewards) for stream in watched.streams] == [[1.0, 1.0, 1.0]]


def test_what_a_step_raises_is_the_scripts_and_the_next_step_is_seen() -> None:
    class Fragile(Counter):
        def step(self, action: float) -> Any:
            if action < 0:
                raise ValueError("no such action")
            return super().step(action)

    with Watched() as watched:
        watched.follow(Fragile, Counter)
        env = Fragile(9)
        env.reset()
        with pytest.raises(ValueError, match="no such action"):
            env.step(-1.0)
        env.step(1.0)
    assert [list(stream.rewards) for stream in watched.streams] == [[1.0]]


def test_a_class_that_is_pickled_by_value_takes_the_scripts_own_method_along() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")  # what vector environments send their copies with

    class Sent:
        def reset(self) -> Any:
            return np.zeros(2), {}

        def step(self, action: float) -> Any:
            return np.zeros(2), 7.0, False, False, {}

    with Watched() as watched:
        watched.follow(Sent)
        copied = pickle.loads(cloudpickle.dumps(Sent))
        assert copied().step(0.0)[1] == 7.0
    assert watched.streams == []
    assert type(vars(copied)["step"]) is type(test_old_transitions_are_forgotten)


def test_old_transitions_are_forgotten() -> None:
    from gradsan.observe.worlds.transitions import KEPT, Stream

    stream = Stream(1)
    for number in range(5 * KEPT):
        stream.step(float(number), 0, number + 1, 0)
    assert len(stream.ends) < 2 * KEPT
    newest = 5 * KEPT - 1
    assert stream.transition(newest).reward == newest


LEARNING = Path(__file__).parents[1] / "programs" / "bugs" / "dqn_target_without_done_fixed.py"


PLACES = [1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4]


def in_a_grid(*walks: list[int]) -> Index:
    """An index of copies of an environment that were in these places, one after the other."""
    streams = {number: Stream(number) for number in range(len(walks))}
    for number, walk in enumerate(walks):
        streams[number].was_reset(walk[0])
        for place in [*walk[1:], 99]:
            streams[number].step(0.0, GOES_ON, place, 0)
    index = Index(streams)
    index.look_for(set(range(100)))
    return index


def test_places_that_recur_are_told_apart_by_the_order_of_a_whole_rollout() -> None:
    index = in_a_grid([7, *PLACES])
    assert index.find(PLACES, False) == [(0, step) for step in range(1, 17)]
    assert index.find(PLACES[1:], True)[0] is None  # not what was seen last
    assert index.find([*PLACES[1:], 99], True) == [(0, step) for step in range(1, 17)]


def test_places_of_several_copies_are_told_apart_in_either_order() -> None:
    other = PLACES[::-1]
    index = in_a_grid(PLACES, other)
    by_step = [place for both in zip(PLACES, other, strict=True) for place in both]
    assert index.find(by_step, False) == [(copy, step) for step in range(16) for copy in range(2)]
    assert index.find(PLACES + other, False) == [(copy, step) for copy in range(2) for step in range(16)]


def test_places_that_recur_in_another_order_are_nobodys() -> None:
    index = in_a_grid([7, *PLACES])
    assert index.find(sorted(PLACES), False)[:3] == [None, None, None]


def test_a_place_that_comes_again_after_a_look_is_nobodys() -> None:
    stream = Stream(0)
    index = Index({0: stream})
    for place in (1, 2, 3):  # where it began is not known
        stream.step(0.0, GOES_ON, place, 0)
    index.look_for({0, 1, 2})
    assert index.find([0, 1, 2], False) == [None, (0, 1), (0, 2)]
    for place in (4, 2, 5):
        stream.step(0.0, GOES_ON, place, 0)
    stream.step(0.0, RESET, 6, 0)
    index.look_for({1, 2, 3, 4, 5, 6})
    assert index.find([1, 2, 3, 4, 5], False) == [(0, 1), None, (0, 3), (0, 4), (0, 6)]
    assert index.find([3, 2, 5, 6], True) == [
        (0, 2),
        None,
        (0, 5),
        None,
    ]  # nothing leads to where a reset does


def test_learning_from_an_environment_stays_the_same_bit_for_bit() -> None:
    told = "\nimport hashlib, sys\nweights = [p.detach().numpy().tobytes() for p in q_net.parameters()]\n"
    told += "sys.learned = hashlib.sha256(b''.join([*weights, torch.get_rng_state().numpy().tobytes()])).hexdigest()"
    code, learned = LEARNING.read_text(encoding="utf-8") + told, []
    for mode in ("", "adaptive", "deep"):
        if mode:
            run_code(code, mode)
        else:
            exec(compile(code, "<bare>", "exec"), {"__name__": "__main__"})
        learned.append(sys.__dict__.pop("learned"))
    assert len(set(learned)) == 1


def test_an_environment_whose_observations_are_changed_on_the_way_is_not_evaluated() -> None:
    report = run_code(
        LEARNING.read_text(encoding="utf-8").replace("torch.from_numpy(batch[0])", "torch.randn(48, 4)")
    )
    assert not report.not_evaluated  # the next observations are still met again
    changed = LEARNING.read_text(encoding="utf-8").replace(
        "memory.append((obs, action, reward, next_obs",
        ("memory.append((obs + 1e-3, action, reward, next_obs + 1e-3"),
    )
    assert {note["rule"] for note in run_code(changed).not_evaluated} == {"GS805"}


def test_where_nothing_is_bootstrapped_there_is_nothing_to_evaluate() -> None:
    """REINFORCE, step by step: no batch of observations is ever made."""
    folder = LEARNING.parent
    assert not run_code(
        (folder / "returns_left_in_reverse_order_fixed.py").read_text(encoding="utf-8")
    ).not_evaluated


class Pair:
    """Two agents side by side, each with a number of its own."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def reset(self) -> Any:
        return self.random.normal(size=(2, 3)).astype("float32")

    def step(self, action: float) -> Any:
        seen = self.random.normal(size=(2, 3)).astype("float32")
        return seen, np.ones(2), np.zeros(2, bool), {}


def test_what_all_agents_see_is_found_for_each_of_them_and_forgotten_with_them() -> None:
    with Watched() as watched:
        watched.follow(Pair)
        env, rollouts = Pair(0), watched.session._environments._rollouts
        env.reset()
        env.step(0.0)
        joint = env.step(0.0)[0]
        teams = rollouts.teams
        digest = digest_of(joint.reshape(-1))
        teams.index.look_for({digest})
        (place,) = teams.index.find([digest], True)
        assert [teams.place_of_member(place, at) for at in range(3)] == [(1, 1), (2, 1), None]
        del env
        rollouts._forget_dead()
        assert not teams.streams
        assert not teams.members
        teams.index.look_for({digest})
        assert teams.index.find([digest], True) == [None]
