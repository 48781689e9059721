"""The tap on environments: Gymnasium's, and classes that only look like one.

An environment is known by its methods `step` and `reset`, and by what `step` returns. They are replaced in the classes,
not in the objects: an environment keeps its class and its identity, and what calls the methods of a base class is seen,
too. Environments are wrapped in environments, and only the outermost call counts: it is what the script learns from.
A class whose `step` returns something else (a record of the script's own) only stands in front of one.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.sites import Sites, variables_of
from gradsan.observe.slots import attributes_of, of_class, pairs_of
from gradsan.observe.worlds.rollouts import LIBRARIES, Rollouts

BASES = (
    ("gymnasium", "Env"),
    ("gymnasium.vector", "VectorEnv"),
    ("gym", "Env"),
    ("pettingzoo", "ParallelEnv"),
)
Note = Callable[[Any, Any, Any], Any]
NOTHING = object()
NO_ENVIRONMENTS = (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)


class EnvironmentTap:
    def __init__(self, containment: Containment, sites: Sites, rollouts: Rollouts) -> None:
        self._containment = containment
        self._sites = sites
        self._rollouts = rollouts
        self._inside = _Depth()
        self._met: set[type] = set()
        self._without_code: set[type] = set()  # classes that are not the script's, seen around it
        self._unread: set[type] = set()  # what their `step` returns says nothing: whoever they call is asked
        self._libraries: set[str] = set()
        self._patches: Patches | None = None

    @property
    def parts(self) -> Parts:
        return (self._begin,)

    def _begin(self, patches: Patches) -> None:
        self._patches = patches
        self.look_for_libraries()

    # -- finding them ---------------------------------------------------------------------------------

    def look_for_libraries(self) -> None:
        """Called now and then, because a script imports them while it is watched."""
        for name in LIBRARIES if self._patches is not None else ():
            if name in sys.modules and name not in self._libraries:
                self._containment.contain("environment", self._follow_library, name)

    def _follow_library(self, name: str) -> None:
        bases = [
            getattr(sys.modules.get(module), kind, None)
            for module, kind in BASES
            if module.split(".")[0] == name
        ]
        if not any(bases):  # it is still being imported
            return
        self._libraries.add(name)
        for base in bases:
            if isinstance(base, type):
                self._follow_subclasses(base)

    def _follow_subclasses(self, base: Any) -> None:
        for kind in _family(base):
            self.follow(kind)
        tap, before = self, base.__dict__.get("__init_subclass__")

        def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:
            if before is not None:
                before.__get__(None, cls)(**kwargs)
            else:
                super(base, cls).__init_subclass__(**kwargs)
            tap._containment.contain("environment", tap.follow, cls)

        assert self._patches is not None
        self._patches.set(base, "__init_subclass__", classmethod(__init_subclass__))

    def look_around(self, frame: FrameType | None) -> None:
        """For environments of the script's own making, in the variables of the functions that are running."""
        self.look_for_libraries()
        seen: set[int] = set()
        while frame is not None:
            if self._sites.is_user(frame.f_code):
                if id(frame.f_globals) not in seen:
                    seen.add(id(frame.f_globals))
                    self._look_at(list(frame.f_globals.values()))
                if frame.f_code.co_name != "<module>":
                    self._look_at(list(variables_of(frame).values()))
            frame = frame.f_back

    def _look_at(self, values: list[Any]) -> None:
        for value in values:
            kind = value if issubclass(type(value), type) else type(value)
            if self._looks_like_one(kind):
                for base in kind.__mro__:
                    self.follow(base)
            elif kind is not value and self._has_code(kind):  # an agent, with one inside
                self._look_at([v for _, v in pairs_of(attributes_of(value)) if self._looks_like_one(type(v))])

    def _has_code(self, kind: type) -> bool:
        if kind in self._without_code:
            return False
        functions = [value for value in vars(kind).values() if isinstance(value, types.FunctionType)]
        found = any(self._sites.is_user(function.__code__) for function in functions)
        if not found:
            self._without_code.add(kind)
        return found

    def _looks_like_one(self, kind: type) -> bool:
        return (
            type(of_class(kind, "step")) in METHODS
            and type(of_class(kind, "reset")) in METHODS
            and not issubclass(kind, NO_ENVIRONMENTS)
        )

    def follow(self, kind: type) -> None:
        """Replace the methods that this very class defines."""
        if kind in self._met or self._patches is None:
            return
        self._met.add(kind)
        rollouts = self._rollouts
        for name, note, quickly in (
            ("step", self._stepped, rollouts.stepped_quickly),
            ("reset", self._was_reset, None),
        ):
            original = vars(kind).get(name)
            if type(original) is types.FunctionType:
                replacement = self._wrapped(original, note, quickly)
                # A class of the script's own may be pickled by value; a library's never is.
                by_value = self._sites.is_user(original.__code__)
                self._patches.set(kind, name, _Method(original, replacement) if by_value else replacement)

    # -- what they say ----------------------------------------------------------------------------------

    def _stepped(self, env: Any, action: Any, result: Any) -> None:
        if not self._rollouts.stepped(env, None if action is NOTHING else action, result):
            self._unread.add(type(env))
            self._let_go(type(env))

    def _let_go(self, kind: type) -> None:
        """Every step of the script goes through its methods: nobody stands around them for nothing."""
        for name in ("step", "reset"):
            if self._patches is not None and name in vars(kind):
                self._patches.give_back(kind, name)

    def _was_reset(self, env: Any, _: Any, result: Any) -> None:
        self._rollouts.was_reset(env, result)

    def _wrapped(self, original: Any, note: Note, quickly: Note | None) -> Any:
        inside, containment, unread = self._inside, self._containment, self._unread

        # Wrappers lie around wrappers: what this costs is paid for each of them. The usual call, with one argument, is
        # handed on as it is: several times cheaper than as a list of arguments.
        @functools.wraps(original)
        def method(env: Any, action: Any = NOTHING, /, *args: Any, **kwargs: Any) -> Any:
            alone = not args and not kwargs and action is not NOTHING
            if not alone and action is not NOTHING:
                args = (action, *args)
            if inside.depth or type(env) in unread:
                return original(env, action) if alone else original(env, *args, **kwargs)
            inside.depth = 1
            try:
                result = original(env, action) if alone else original(env, *args, **kwargs)
            finally:
                inside.depth = 0
            if quickly is None or "environment" in containment.quiet or not quickly(env, action, result):
                containment.contain("environment", note, env, action, result)
            return result

        return method


class _Depth(threading.local):
    depth = 0


class _Method:
    """A method of a class, which binds like one. Where the class is pickled by value, the script's own goes along."""

    __slots__ = ("_original", "_replacement")

    def __init__(self, original: Any, replacement: Any) -> None:
        self._original, self._replacement = original, replacement

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._replacement if instance is None else types.MethodType(self._replacement, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._replacement(*args, **kwargs)

    def __reduce__(self) -> Any:
        return max, ((self._original,),)  # that is: the original; whoever unpickles it need not know gradsan

    @property
    def __isabstractmethod__(self) -> bool:
        return getattr(self._original, "__isabstractmethod__", False)


# One that a class inherits may have been replaced in its base already.
METHODS = (types.FunctionType, _Method)


def _family(base: Any) -> Iterator[type]:
    yield base
    for kind in base.__subclasses__():
        yield from _family(kind)
