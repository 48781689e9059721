"""Images for the replay. Observations that follow each other share most of their frames: each is kept once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gradsan.rl.spaces import Observations

Array = NDArray[Any]
Places = NDArray[np.int64]
NOWHERE = -1


class Frames:
    """Frames, and how often each is referred to. One that nobody refers to makes room for the next.

    An observation becomes the places of its frames. What is new is found by comparing with the latest observation of
    the same environment, so it need not be said whether images are stacks, nor where episodes begin.
    """

    def __init__(self, observations: Observations, room: int) -> None:
        """`room` is how many frames are expected at once; memory is taken as they come, and more if need be."""
        self.stack = observations.frames
        shape = observations.shape[1:] if self.stack > 1 else observations.shape
        self._images = np.zeros((room, *shape), observations.dtype)
        self._holders = np.zeros(room, np.int32)
        self._free: list[int] = []
        self._latest: dict[int, Places] = {}
        self.touched = 0

    @property
    def used(self) -> int:
        return self.touched - len(self._free)

    def places(self, env: int, observation: Array) -> Places:
        """Where the frames of this environment's next observation lie, put there as far as they are new."""
        frames = observation if self.stack > 1 else observation[None]
        latest = self._latest.get(env)
        if latest is not None and self._same(latest, frames):
            return latest
        if latest is not None and self._same(latest[1:], frames[:-1]):
            found = np.append(latest[1:], self._put(frames[-1]))
        else:
            found = self._all_new(frames)
        self.hold(found)
        if latest is not None:
            self.release(latest)
        self._latest[env] = found
        return found

    def hold(self, places: Places) -> None:
        np.add.at(self._holders, places, 1)

    def release(self, places: Places) -> None:
        held = places[places != NOWHERE]
        np.subtract.at(self._holders, held, 1)
        self._free += [int(place) for place in np.unique(held) if not self._holders[place]]

    def take(self, places: Places) -> Array:
        """The observations again, as copies."""
        images = self._images.take(places, axis=0)
        return images if self.stack > 1 else images[:, 0]

    def _same(self, places: Places, frames: Array) -> bool:
        return bool(len(places)) and np.array_equal(self._images[places], frames)

    def _all_new(self, frames: Array) -> Places:
        found: list[int] = []
        for index, frame in enumerate(frames):
            again = index and np.array_equal(frame, frames[index - 1])  # the padding of a first stack
            found.append(found[-1] if again else self._put(frame))
        return np.array(found, np.int64)

    def _put(self, frame: Array) -> int:
        if self._free:
            place = self._free.pop()
        else:
            place, self.touched = self.touched, self.touched + 1
            self._make_room(self.touched)
        self._images[place] = frame
        return place

    def _make_room(self, count: int) -> None:
        if count > len(self._holders):
            more = max(count, len(self._holders) * 3 // 2) - len(self._holders)
            shape, dtype = self._images.shape[1:], self._images.dtype
            self._images = np.concatenate([self._images, np.zeros((more, *shape), dtype)])
            self._holders = np.concatenate([self._holders, np.zeros(more, np.int32)])

    def state_dict(self) -> dict[str, Any]:
        latest = {str(env): torch.from_numpy(places.copy()) for env, places in self._latest.items()}
        return {"images": torch.from_numpy(self._images[: self.touched].copy()), **latest}

    def load_state_dict(self, state: dict[str, Any], held: Iterable[Places]) -> None:
        """`held` are the places that others refer to: who holds what is counted anew."""
        images = state["images"].numpy()
        self.touched = len(images)
        self._make_room(self.touched)
        self._images[: self.touched] = images
        self._latest = {int(env): places.numpy().copy() for env, places in state.items() if env != "images"}
        self._holders[:] = 0
        for places in (*held, *self._latest.values()):
            self.hold(places[places != NOWHERE])
        self._free = [int(place) for place in np.flatnonzero(self._holders[: self.touched] == 0)]
