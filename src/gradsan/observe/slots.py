"""Into the user's objects without running the user's code.

A container may be a subclass that draws random numbers when it is iterated, an object a proxy that loads something
when it is asked for its class or its attributes. So: built-in types are read through their own slots, whatever a
subclass puts over them; everything else is looked at only where its attributes really lie in a dictionary.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import GetSetDescriptorType
from typing import Any

import torch

SEQUENCES = (list, tuple)
_PLAIN_KEYS = (str, int, float, bool, bytes, type(None))
_dict_of_type = type.__dict__["__dict__"].__get__
_bases_of_type = type.__dict__["__mro__"].__get__


def items_of(sequence: Any) -> Iterator[Any]:
    """Of a list, a tuple or a subclass of theirs, as it is in memory."""
    return list.__iter__(sequence) if issubclass(type(sequence), list) else tuple.__iter__(sequence)


def size_of(container: Any) -> int:
    kind = next(base for base in (list, tuple, dict) if issubclass(type(container), base))
    return int(kind.__len__(container))


def pairs_of(mapping: Any) -> list[tuple[Any, Any]]:
    """At once: another thread may be changing it."""
    return list(dict.items(mapping))


def shown_key(key: Any) -> str:
    """As in `path[key]`; showing a stranger's key would run its `__repr__`."""
    return repr(key) if type(key) in _PLAIN_KEYS else "…"


def of_class(kind: type, name: str) -> Any:
    """What a class or the first of its bases has under this name, as it is stored; None where there is nothing."""
    for base in _bases_of_type(kind):
        found = _dict_of_type(base)
        if name in found:
            return found[name]
    return None


def attributes_of(value: Any) -> dict[str, Any]:
    """Those that lie in the object's own dictionary; none where its class has put something in that one's place."""
    where = of_class(type(value), "__dict__")
    found = where.__get__(value) if type(where) is GetSetDescriptorType else None
    return found if type(found) is dict else {}


_MODULE = type.__dict__["__module__"].__get__


def module_of(kind: type) -> str:
    found = _MODULE(kind)  # a class that is written in C has none in its own dictionary
    return found if type(found) is str else ""


# -- networks -----------------------------------------------------------------------------------------------


def parts_of(network: torch.nn.Module, path: str = "") -> Iterator[tuple[str, torch.nn.Module]]:
    """The network and all in it, by every name: what `named_modules(remove_duplicate=False)` yields, if nobody
    has overridden it."""
    yield from _parts(network, path, ())


def _parts(
    network: torch.nn.Module, path: str, above: tuple[int, ...]
) -> Iterator[tuple[str, torch.nn.Module]]:
    yield path, network
    for name, part in _stored(network, "_modules"):
        if issubclass(type(part), torch.nn.Module) and id(part) not in above:
            yield from _parts(part, f"{path}.{name}" if path else name, (*above, id(network)))


def named_parameters_of(network: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """By every name that they have."""
    for path, part in parts_of(network):
        for name, param in _stored(part, "_parameters"):
            if issubclass(type(param), torch.Tensor):
                yield (f"{path}.{name}" if path else name), param


def answers_for(network: torch.nn.Module) -> str:
    """The name of the one part that a network consists of, where its class has a `__getattr__` of its own: whoever
    wraps a network so hands on what it is asked for, and nobody writes that word."""
    if of_class(type(network), "__getattr__") is _plain_getattr or _stored(network, "_parameters"):
        return ""
    parts = [name for name, part in _stored(network, "_modules") if issubclass(type(part), torch.nn.Module)]
    return parts[0] if len(parts) == 1 else ""


_plain_getattr = torch.nn.Module.__dict__["__getattr__"]


def items_of_list(network: torch.nn.Module) -> list[torch.nn.Module]:
    """Those of a `ModuleList`; none of any other."""
    if not issubclass(type(network), torch.nn.ModuleList):
        return []
    return [part for _, part in _stored(network, "_modules")]


def parameters_of(network: torch.nn.Module) -> list[torch.Tensor]:
    """Each once."""
    return list({id(param): param for _, param in named_parameters_of(network)}.values())


def _stored(network: torch.nn.Module, table: str) -> list[tuple[str, Any]]:
    found = attributes_of(network).get(table)
    return pairs_of(found) if issubclass(type(found), dict) else []


# -- NumPy --------------------------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), numpy.ndarray)


def is_plain_of_numpy(value: Any) -> bool:
    """An array or a number of NumPy's own classes: nobody has overridden how it is read."""
    kind = type(value)
    return module_of(kind) == "numpy" and (is_array(value) or issubclass(kind, sys.modules["numpy"].generic))


def is_float_of_numpy(value: Any) -> bool:
    """`numpy.float64` is a float, too."""
    return issubclass(type(value), float) and module_of(type(value)) == "numpy"


def memory_of(array: Any) -> int:
    """Where its numbers lie."""
    return int(sys.modules["numpy"].ndarray.__array_interface__.__get__(array)["data"][0])
