"""Replacing a class method, whichever way it was written."""

from __future__ import annotations

from typing import Any

import pytest

from gradsan.observe.patches import Patches, class_function, stands_for


class Plain:
    @classmethod
    def make(cls, value: int) -> tuple[type, int]:
        return cls, value


class Heir(Plain): ...


class Keys(dict[str, int]): ...


@pytest.mark.parametrize(
    ("owner", "name", "on", "args", "expected"),
    [
        (Plain, "make", Heir, (3,), (Heir, 3)),  # a function of Python's, as `Function.apply` was up to 2.13
        (Heir, "make", Heir, (3,), (Heir, 3)),  # inherited
        (dict, "fromkeys", Keys, (["a"], 1), Keys(a=1)),  # a method of C's, as it is from PyTorch 2.14 on
        (Keys, "fromkeys", Keys, (["a"], 1), Keys(a=1)),
    ],
)
def test_the_function_behind_a_class_method_takes_the_class(
    owner: type, name: str, on: type, args: Any, expected: Any
) -> None:
    found = class_function(owner, name)(on, *args)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("owner", "name"), [(Plain, "make"), (Keys, "fromkeys"), (dict, "fromkeys")])
def test_what_stands_for_a_class_method_has_the_names_that_a_caller_sees(owner: type, name: str) -> None:
    @stands_for(owner, name)
    def ours(cls: type, *args: Any) -> Any: ...

    seen = getattr(owner, name)
    for word in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(ours, word) == getattr(seen, word)


def test_an_inherited_attribute_is_inherited_again_though_its_replacement_rests() -> None:
    patches = Patches()
    patches.set(Heir, "make", staticmethod(lambda value: value), rests=True)
    patches.rest()
    assert "make" not in vars(Heir)
    patches.restore()
    assert Heir.make(3) == (Heir, 3)
