"""The user's objects are looked into without running a line of the user's code."""

from __future__ import annotations

from typing import Any

import torch

from gradsan.observe import slots
from gradsan.observe.unseen import is_readable, is_traced, unseen


class Forbidden(Exception):
    pass


def refuse(*_: Any, **__: Any) -> Any:
    raise Forbidden


class List(list[int]):
    __iter__ = __len__ = __getitem__ = refuse


class Dict(dict[str, int]):
    __iter__ = __len__ = __getitem__ = items = keys = values = refuse


class Proxy:
    __getattr__ = __getattribute__ = __eq__ = __bool__ = __repr__ = refuse
    __hash__ = None  # type: ignore[assignment]
    __class__ = __dict__ = property(refuse)  # type: ignore[assignment]


class Net(torch.nn.Linear):
    parameters = named_parameters = modules = named_modules = _named_members = children = refuse


def test_containers_are_read_through_the_slots_of_the_built_in_types() -> None:
    assert list(slots.items_of(List([1, 2]))) == [1, 2]
    assert slots.size_of(List([1, 2])) == 2
    assert slots.pairs_of(Dict(a=1)) == [("a", 1)]
    assert slots.size_of(Dict(a=1)) == 1


def test_a_proxy_is_not_asked_for_anything() -> None:
    assert slots.attributes_of(Proxy()) == {}
    assert slots.module_of(Proxy) == __name__
    assert slots.shown_key(Proxy()) == "…"


def test_attributes_of_a_plain_object_are_found() -> None:
    class Plain:
        def __init__(self) -> None:
            self.net = 1

    assert slots.attributes_of(Plain()) == {"net": 1}
    assert slots.attributes_of(object()) == {}


def test_parameters_are_those_that_pytorch_would_name() -> None:
    shared = torch.nn.Linear(2, 2)
    net = torch.nn.Sequential(shared, torch.nn.Sequential(torch.nn.ReLU(), shared))
    expected = [name for name, _ in net.named_parameters(remove_duplicate=False)]
    assert [name for name, _ in slots.named_parameters_of(net)] == expected
    assert len(slots.parameters_of(net)) == 2
    assert len(slots.parameters_of(Net(2, 2))) == 2


class Counting(torch.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls += 1
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapper(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise Forbidden


class Shaped(torch.Tensor):
    shape = property(refuse)  # type: ignore[assignment]


def test_a_subclass_is_read_without_being_called() -> None:
    tensor = torch.ones(3).as_subclass(Counting)
    Counting.calls = 0
    assert is_readable(tensor)
    assert unseen(lambda: float(tensor.sum())) == 3.0
    assert Counting.calls == 0


def test_what_only_its_own_class_can_read_is_not_read() -> None:
    assert not is_readable(torch.ones(3).as_subclass(Wrapper))
    assert not is_readable(torch.ones(3).as_subclass(Shaped))


def test_nobody_looks_while_pytorch_traces() -> None:
    seen = []
    torch.jit.trace(lambda x: (seen.append(is_traced()), x + 1)[1], torch.ones(1), check_trace=False)
    torch.func.vmap(lambda x: (seen.append(is_traced()), x)[1])(torch.ones(1))
    assert seen
    assert all(seen)
    assert not is_traced()
