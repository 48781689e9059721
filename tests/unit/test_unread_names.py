"""Whether a binding is ever read, from the source alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradsan.judge.lines.unread_names import is_unread

UNREAD = {
    "the loop binds it anew": "for p, g in pairs:\n    p = p - g  # HERE",
    "nobody asks": "def f(g):\n    g = g * 2  # HERE",
    "bound anew behind it": "for g in grads:\n    if g.max() > 1:\n        g = g / 2  # HERE\ng = 3\nprint(g)",
    "bound anew in the next round": "while more():\n    g = read()\n    print(g)\n    g = g * 2  # HERE",
    "another function's name": "def f(g):\n    print(g)\nfor g in grads:\n    g = g * 2  # HERE",
}
READ = {
    "behind the loop": "for g in grads:\n    g = g * 2  # HERE\nprint(g)",
    "in the next round": "g = 1\nfor _ in range(3):\n    g = g * 2  # HERE",
    "by the condition": "g = 1\nwhile g < 9:\n    g = 2 * other  # HERE",
    "by an inner function": "def f(g):\n    show = lambda: g\n    g = g * 2  # HERE\n    return show",
    "by a function of the module": "def show():\n    print(g)\nfor x in grads:\n    g = x * 2  # HERE",
    "a global": "def f(x):\n    global g\n    g = x * 2  # HERE",
    "behind a break": "for x in grads:\n    g = x * 2  # HERE\n    if x:\n        break\n    g = 0\nprint(g)",
    "by an exception's handler": "def f(x):\n    try:\n        g = x * 2  # HERE\n    except E:\n        print(g)",
    "by an in-place sum": "g = x * 2  # HERE\ng += 1",
    "an attribute": "self.g = x * 2  # HERE",
    "of a class": "class A:\n    g = x * 2  # HERE",
    "not meant to be read": "_ = x * 2  # HERE",
}


def _judged(tmp_path: Path, source: str) -> bool:
    path = tmp_path / "script.py"
    path.write_text(source)
    return is_unread(str(path), 1 + next(i for i, text in enumerate(source.splitlines()) if "# HERE" in text))


@pytest.mark.parametrize("case", UNREAD)
def test_told_where_nobody_can_read_it(case: str, tmp_path: Path) -> None:
    assert _judged(tmp_path, UNREAD[case])


@pytest.mark.parametrize("case", READ)
def test_silent_where_somebody_may(case: str, tmp_path: Path) -> None:
    assert not _judged(tmp_path, READ[case])
