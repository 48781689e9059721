"""Events as JSON and back. What is read is checked field by field against the annotations of the event types, and so
that it refers only to lines, parameters and optimizers that the trace has introduced before."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Literal, NewType, get_args, get_origin, get_type_hints

from gradsan.record.events import (
    DIRECT,
    EVENT_TYPES,
    NO_OPTIMIZER,
    NOBODY,
    NOWHERE,
    Chain,
    ChainSeen,
    Event,
    OptimizerId,
    OptimizerSeen,
    ParamId,
    ParamSeen,
    Site,
    SiteSeen,
)


class Malformed(Exception):
    """This is not what an event looks like."""


def encode(event: Event) -> list[Any]:
    return [type(event).__name__, *_compact(event)]


def _compact(value: Any) -> Any:
    """Without the last fields, where they are as they would be anyway: most facts are about few things."""
    if not isinstance(value, tuple):
        return value
    if not hasattr(value, "_fields"):
        return [_compact(item) for item in value]
    defaults = type(value)._field_defaults  # type: ignore[attr-defined]
    names, kept = value._fields, len(value)
    while kept and names[kept - 1] in defaults and defaults[names[kept - 1]] == value[kept - 1]:
        kept -= 1
    return [_compact(item) for item in value[:kept]]


class Decoder:
    """For the events of one trace, in their order."""

    def __init__(self) -> None:
        self._known: dict[Any, set[int]] = {
            Site: {NOWHERE}, Chain: {DIRECT}, ParamId: {NOBODY}, OptimizerId: {NO_OPTIMIZER},
        }  # fmt: skip

    def decode(self, data: Any) -> Event:
        if not isinstance(data, list) or not data or not isinstance(data[0], str):
            raise Malformed("an event is a list that begins with its type")
        kind = EVENT_TYPES.get(data[0])
        if kind is None:
            raise Malformed(f"there is no event {data[0]!r}")
        if kind in _INTRODUCES and len(data) > 1 and type(data[1]) is int:
            self._known[_INTRODUCES[kind]].add(data[1])
        checked: Check = _record(kind)  # type: ignore[arg-type]
        event: Event = checked(data[1:], self._known)
        return event


_INTRODUCES: dict[Any, Any] = {
    SiteSeen: Site, ChainSeen: Chain, ParamSeen: ParamId, OptimizerSeen: OptimizerId,
}  # fmt: skip
Check = Callable[[Any, dict[Any, set[int]]], Any]


@functools.cache
def _record(kind: Any) -> Check:
    hints = get_type_hints(kind)
    checks = [_check(hints[name]) for name in kind._fields]
    required = len(checks) - len(kind._field_defaults)

    def check(data: Any, known: dict[Any, set[int]]) -> Any:
        if not isinstance(data, list) or not required <= len(data) <= len(checks):
            raise Malformed(f"{kind.__name__} has {required} to {len(checks)} fields")
        return kind(*[check(value, known) for check, value in zip(checks, data, strict=False)])

    return check


@functools.cache
def _check(hint: Any) -> Check:
    if isinstance(hint, NewType):
        return functools.partial(_id, hint)
    if get_origin(hint) is Literal:
        return functools.partial(_one_of, get_args(hint))
    if get_origin(hint) is tuple:
        return functools.partial(_all, _check(get_args(hint)[0]))
    if isinstance(hint, types.UnionType):
        return functools.partial(_optional, _check(get_args(hint)[0]))
    if hasattr(hint, "_fields"):
        return _record(hint)
    return functools.partial(_plain, (int, float) if hint is float else (hint,))


def _id(kind: Any, data: Any, known: dict[Any, set[int]]) -> int:
    if type(data) is not int or data not in known.get(kind, {data}):
        raise Malformed(f"there is no {kind.__name__} {data!r}")
    return data


def _one_of(words: tuple[Any, ...], data: Any, known: dict[Any, set[int]]) -> Any:
    if data not in words:
        raise Malformed(f"{data!r} is none of {words}")
    return data


def _all(check: Check, data: Any, known: dict[Any, set[int]]) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise Malformed("a list is wanted")
    return tuple([check(item, known) for item in data])


def _optional(check: Check, data: Any, known: dict[Any, set[int]]) -> Any:
    return None if data is None else check(data, known)


def _plain(kinds: tuple[type, ...], data: Any, known: dict[Any, set[int]]) -> Any:
    if type(data) not in kinds:
        raise Malformed(f"{data!r} is no {kinds[-1].__name__}")
    return data
