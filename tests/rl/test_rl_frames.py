"""Images in the replay: every frame is kept once, and what comes out is what went in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gradsan.rl.envs import EnvStep
from gradsan.rl.replay import Replay
from gradsan.rl.spaces import Observations

CPU = torch.device("cpu")
STACKED = Observations((4, 5, 6), np.dtype(np.uint8))


def episode(rng: np.random.Generator, length: int) -> np.ndarray:
    """Stacks of four, [length + 1, 4, 5, 6], padded with the first frame, as Gymnasium stacks them."""
    frames = rng.integers(256, size=(length + 1, 5, 6), dtype=np.uint8)
    padded = np.concatenate([frames[:1]] * 3 + [frames])
    return np.stack([padded[t : t + 4] for t in range(length + 1)])


def feed(replay: Replay, episodes: list[np.ndarray], truth: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """One environment per episode, all of the same length; the last step truncates."""
    length = len(episodes[0]) - 1
    for t in range(length):
        obs, following = (np.stack([seen[at] for seen in episodes]) for at in (t, t + 1))
        no = np.zeros(len(episodes), bool)
        reward = np.full(len(episodes), float(len(truth)), np.float32)
        step = EnvStep(following, reward, no, no | (t == length - 1), ~no)
        replay.add(obs, np.zeros(len(episodes), np.int64), step)
        truth.extend(zip(obs, following, strict=True))


@pytest.mark.parametrize("shape", [(4, 5, 6), (6, 5, 1), (3, 5, 6)])
@pytest.mark.parametrize("capacity", [1, 2, 7, 40])
def test_what_comes_out_is_what_went_in(shape: tuple[int, ...], capacity: int) -> None:
    """Stacks, single images with channels last, and channels that are no stack."""
    rng = np.random.default_rng(0)
    replay = Replay(capacity, Observations(shape, np.dtype(np.uint8)), np.zeros((), np.int64), 0.9)
    truth: list[tuple[np.ndarray, np.ndarray]] = []
    for length in (1, 2, 9, 5):
        if shape[0] == 4:
            seen = [episode(rng, length) for _ in range(2)]
        else:
            seen = list(rng.integers(256, size=(2, length + 1, *shape), dtype=np.uint8))
        feed(replay, seen, truth)
        batch = replay.sample(1_000, rng, CPU)
        newest = {(obs.tobytes(), following.tobytes()) for obs, following in truth[-capacity:]}
        pairs = zip(batch.obs.numpy(), batch.next_obs.numpy(), strict=True)
        drawn = {(obs.tobytes(), following.tobytes()) for obs, following in pairs}
        assert drawn == newest


def test_a_stack_costs_one_frame_per_step_and_old_frames_make_room() -> None:
    rng = np.random.default_rng(0)
    replay = Replay(50, STACKED, np.zeros((), np.int64), 0.9)
    for _ in range(30):
        feed(replay, [episode(rng, 20)], [])
    assert replay.frames is not None
    # 50 transitions, one more frame for each of the up to four episodes they lie in, and the stack before the oldest.
    assert 50 < replay.frames.used <= 50 + 4 + 3
    assert replay.frames.touched <= 50 + 4 + 3 + 4


@pytest.mark.parametrize("capacity", [3, 40])
def test_n_steps_keep_their_frames_while_they_wait(capacity: int) -> None:
    rng = np.random.default_rng(1)
    replay = Replay(capacity, STACKED, np.zeros((), np.int64), 1.0, n_step=5)
    seen = episode(rng, 12)
    feed(replay, [seen], [])
    batch = replay.sample(100, rng, CPU)
    known = {stack.tobytes(): t for t, stack in enumerate(seen)}
    for obs, following in zip(batch.obs.numpy(), batch.next_obs.numpy(), strict=True):
        start, end = known[obs.tobytes()], known[following.tobytes()]
        assert end == min(start + 5, 12)


@pytest.mark.parametrize("larger", [20, 60])
def test_state_comes_back_and_goes_on(larger: int) -> None:
    rng = np.random.default_rng(2)
    one = Replay(20, STACKED, np.zeros((), np.int64), 0.9, n_step=2)
    feed(one, [episode(rng, 30)], [])
    state = one.state_dict()
    saved = {name: field.clone() for name, field in state["frames"].items()}
    two = Replay(larger, STACKED, np.zeros((), np.int64), 0.9, n_step=2)
    two.load_state_dict(state)
    more = episode(rng, 25)
    for replay in (one, two):
        feed(replay, [more], [])
    assert saved.keys() == state["frames"].keys()
    known = {stack.tobytes() for stack in more}
    drawn = [replay.sample(64, np.random.default_rng(3), CPU) for replay in (one, two)]
    if larger == 20:
        assert torch.equal(drawn[0].obs, drawn[1].obs)
        assert torch.equal(drawn[0].next_obs, drawn[1].next_obs)
    assert all(stack.numpy().tobytes() in known for stack in drawn[0].obs)
