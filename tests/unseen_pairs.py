"""The pairs of tests/programs/unseen: a program with a bug and its repaired twin, written from reports before
any mend. `# BUG GS301 GS303` marks a line that a person would change, with every code that is a right answer;
the docstring's last line says the class, the one before it in which round the pair was written (the first, where it
says nothing): no rule had been mended with a pair of that round in sight."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

OPENED = 37  # pairs of later rounds are held: who mends a rule does not look at them
FOLDER = Path(__file__).parent / "programs" / "unseen"
MARK = re.compile(r"# BUG((?: GS\d{3})+)$")
CLASSES = (
    "forward errors",
    "gradients by hand",
    "zero in part",
    "axes",
    "stays alive",
    "late and rare",
    "weights",
    "hidden writes",
    "custom functions",
    "magnitude",
    "the line",
    "llm-rl",
    "meaning",
)


@dataclass(frozen=True)
class Pair:
    name: str

    @property
    def bug(self) -> Path:
        return FOLDER / f"{self.name}.py"

    @property
    def twin(self) -> Path:
        return FOLDER / f"{self.name}_fixed.py"

    @property
    def kind(self) -> str:
        """The class that the docstring ends with."""
        docstring = ast.get_docstring(ast.parse(self.bug.read_text(encoding="utf-8"))) or ""
        return docstring.rpartition("Class: ")[2].strip()

    @property
    def round(self) -> int:
        found = re.search(r"^Round (\d+)$", self.bug.read_text(encoding="utf-8"), re.MULTILINE)
        return int(found.group(1)) if found else 1

    @property
    def held(self) -> bool:
        """What is held says how far mends reach; a round is opened when later ones are there to say so."""
        return self.round > OPENED

    def marks(self) -> dict[int, list[str]]:
        """Line number → codes that are right there."""
        lines = self.bug.read_text(encoding="utf-8").splitlines()
        return {n: m.group(1).split() for n, line in enumerate(lines, 1) if (m := MARK.search(line))}


def pairs() -> list[Pair]:
    return [Pair(p.stem) for p in sorted(FOLDER.glob("*.py")) if not p.stem.endswith("_fixed")]
