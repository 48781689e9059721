"""What a check says, in a form that crosses the line between the checking process and the terminal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Note:
    """A gradsan finding, as far as a learner needs it."""

    rule: str
    name: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Grade:
    """Right only where there is no problem and no finding."""

    problems: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    printed: str = ""

    @property
    def right(self) -> bool:
        return not self.problems and not self.notes

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Grade:
        data = json.loads(line)
        return cls(tuple(data["problems"]), tuple(Note(**note) for note in data["notes"]), data["printed"])
