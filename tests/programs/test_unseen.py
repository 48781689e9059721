"""The pairs that `make unseen` measures: marked as they should be. What gradsan says about them is not asserted here,
so that the first try stays a measurement; that they run and that the bugs are real, `make unseen-check` asks."""

from __future__ import annotations

from pathlib import Path

from unseen_pairs import CLASSES, FOLDER, MARK, pairs

PAIRS = pairs()


def test_marks_are_well_formed() -> None:
    for pair in PAIRS:
        spoken_of = [line for line in pair.bug.read_text(encoding="utf-8").splitlines() if "BUG" in line]
        assert spoken_of, pair.name
        assert all(MARK.search(line) for line in spoken_of), pair.name
        assert "BUG" not in pair.twin.read_text(encoding="utf-8"), pair.name
        assert pair.kind in CLASSES, pair.name


def test_twins_differ_in_more_than_their_marks() -> None:
    def code(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8").partition("Class: ")[2]
        return [MARK.sub("", line).rstrip() for line in text.splitlines()]

    assert not [pair.name for pair in PAIRS if code(pair.bug) == code(pair.twin)]


def test_every_file_belongs_to_a_pair():
    expected = {path for pair in PAIRS for path in (pair.bug, pair.twin)}
    assert set(FOLDER.glob("*.py")) == expected
