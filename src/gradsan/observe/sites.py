"""Which line of the user's own code is running: one walk up the stack, everything else cached."""

from __future__ import annotations

import dis
import functools
import inspect
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from gradsan.record.events import DIRECT, NOWHERE, Chain, ChainSeen, Site, SiteSeen, Tag

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The agents are training code like any user's; the rest of gradsan is machinery.
OWN_TRAINING_CODE = tuple(PACKAGE + part + os.sep for part in ("rl",))
STDLIB = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
DISTRIBUTION_METHODS: dict[str, Tag] = {
    "log_prob": "log_prob", "entropy": "entropy", "sample": "sample", "rsample": "rsample",
    "kl_divergence": "kl_divergence", "cdf": "cdf", "icdf": "icdf",
}  # fmt: skip
LAUNCHERS = ("gradsan", "gradsan-script.py")  # the installed command: it stands below every script
# Every operation passes through these, the user's own ones too: the line that counts is below them.
INTERCEPTORS = ("__torch_function__", "__torch_dispatch__")
LIBRARY, USER = 0, 1
CALLERS = 3  # user frames above the innermost one: who calls a helper is rarely further away


class Place(NamedTuple):
    """Where an operation was called from, and the library functions it went through on the way."""

    site: Site
    tags: tuple[Tag, ...] = ()
    chain: Chain = DIRECT


class Sites:
    """Interns source lines as small numbers; tells user code from library code once per code object."""

    def __init__(self, emit: Callable[[SiteSeen | ChainSeen], None], include: tuple[str, ...] = ()) -> None:
        self._emit = emit
        # A package is a folder, a module a file: `a.b` is found as `/a/b/` and as `/a/b.py`.
        parts = [os.sep + name.replace(".", os.sep) for name in include]
        self._include = tuple(part + end for part in parts for end in (os.sep, ".py"))
        # By identity: equal code in two files compares equal. The code is kept, so that its id stays its own.
        self._met: dict[int, CodeType] = {}
        self.users: set[int] = set()
        self._tags: dict[int, Tag] = {}  # of library code whose meaning matters to a rule
        self.libraries: set[int] = set()  # all other library code
        self._ids: dict[tuple[int, int], Site] = {}
        self._places: dict[
            tuple[int | str, ...], Place
        ] = {}  # by codes and offsets: lines are looked up late
        self._by_place: dict[tuple[str, int], Site] = {}
        self._by_sites: dict[tuple[Site, ...], Chain] = {}

    def here(self, frame: FrameType | None) -> Site:
        """The innermost user line at or above `frame`."""
        while frame is not None:
            code = frame.f_code
            if id(code) in self.users or self.is_user(code):
                return self._intern(code, frame.f_lineno)
            frame = frame.f_back
        return NOWHERE

    def place(self, frame: FrameType | None) -> Place:
        """The innermost user line at or above `frame`, and who called it. A known way costs a look at each frame and
        one at a table."""
        users, plain, is_user = self.users, self.libraries, self.is_user
        tags: tuple[Tag, ...] = ()
        innermost = frame
        way: list[int] = []
        while frame is not None:
            code = frame.f_code
            key = id(code)
            if key not in plain:
                if key in users or is_user(code):
                    if not way:
                        innermost = frame
                    way += (key, frame.f_lasti)  # not the line, which Python has to count out
                    # What runs the script is below its module.
                    if len(way) > 2 * CALLERS or code.co_name == "<module>":
                        break
                elif not way and (tag := self._tags.get(key)):
                    tags += (tag,)
            frame = frame.f_back
        if innermost is None or not way:
            return Place(NOWHERE, tags)
        known = self._places.get((*way, *tags))
        if known is None:
            site = self._intern(innermost.f_code, innermost.f_lineno)
            known = self._places[*way, *tags] = Place(site, tags, self._chain(innermost))
        return known

    def place_in(self, trace: list[tuple[str, int, str]]) -> Place:
        """The same of frames that are gone: file, line and function of each, the innermost one last."""
        tags, way = list[Tag](), list[Site]()
        for file, number, function in reversed(trace):
            kind, tag = self._classify_file(file, function)
            if kind == USER:
                way.append(self.at(file, number, function))
            elif tag and not way:
                tags.append(tag)
        if not way:
            return Place(NOWHERE, tuple(tags))
        return Place(way[0], tuple(tags), self._way(way[0], way[1 : CALLERS + 1]))

    def _chain(self, frame: FrameType) -> Chain:
        sites = [self._intern(f.f_code, f.f_lineno) for f in self._callers(frame)]
        return self._way(self._intern(frame.f_code, frame.f_lineno), sites)

    def _way(self, own: Site, sites: list[Site]) -> Chain:
        # A comprehension is a frame on the same line.
        way = tuple(dict.fromkeys(site for site in sites if site != own))
        if not way:
            return DIRECT
        chain = self._by_sites.get(way)
        if chain is None:
            chain = self._by_sites[way] = Chain(len(self._by_sites) + 1)
            self._emit(ChainSeen(chain, way))
        return chain

    def _callers(self, frame: FrameType) -> Iterator[FrameType]:
        for _ in range(CALLERS):
            if frame.f_code.co_name == "<module>" or (up := self.user_frame(frame.f_back)) is None:
                return
            yield up
            frame = up

    def user_frame(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None and not self.is_user(frame.f_code):
            frame = frame.f_back
        return frame

    def is_user(self, code: CodeType) -> bool:
        key = id(code)
        if key not in self._met:
            self._met[key] = code
            kind, tag = self._classify(code)
            if kind == USER:
                self.users.add(key)
            elif tag:
                self._tags[key] = tag
            else:
                self.libraries.add(key)
        return key in self.users

    def at(self, file: str, line: int, function: str) -> Site:
        """A site that was not reached by a frame: a decorator, an assignment found in the source."""
        key = (file, line)
        known = self._by_place.get(key)
        if known is None:
            known = self._by_place[key] = Site(len(self._by_place) + 1)
            self._emit(SiteSeen(known, file, line, function))
        return known

    def _intern(self, code: CodeType, line: int) -> Site:
        site = self._ids.get((id(code), line))
        if site is None:
            site = self._ids[id(code), line] = self.at(code.co_filename, line, code.co_name)
        return site

    def user_files(self) -> set[str]:
        return {code.co_filename for key, code in self._met.items() if key in self.users}

    def is_user_file(self, file: str) -> bool:
        return self._classify_file(file, "")[0] == USER

    def _classify(self, code: CodeType) -> tuple[int, Tag | None]:
        if code.co_name in INTERCEPTORS:
            return LIBRARY, None
        kind, tag = self._classify_file(code.co_filename, code.co_name)
        return kind, "decorated" if kind == LIBRARY and is_context_decorator(code) else tag

    def _classify_file(self, file: str, function: str) -> tuple[int, Tag | None]:
        if file.startswith("<"):
            # Code from a string has a source only where somebody registered it: `-c`, a notebook cell. What
            # dataclasses and the like generate has none, and is nobody's to change.
            return (USER if linecache.getline(file, 1) or file == "<stdin>" else LIBRARY), None
        path = _real(file)
        if os.path.basename(path) in LAUNCHERS:
            return LIBRARY, None
        if any(part in path for part in self._include):
            return USER, None
        if path.startswith(PACKAGE):
            return (USER if path.startswith(OWN_TRAINING_CODE) else LIBRARY), None
        if any(part in path for part in INSTALLED) or path.startswith(STDLIB):
            return LIBRARY, _tag(path, function)
        return USER, None


@functools.lru_cache(maxsize=1024)
def _real(file: str) -> str:
    """Asked once for each file, not for each of its functions."""
    return os.path.realpath(file)


def _tag(path: str, function: str) -> Tag | None:
    """A name for the library functions whose meaning matters to a rule."""
    if f"{os.sep}torch{os.sep}distributions{os.sep}" in path:
        return DISTRIBUTION_METHODS.get(function, "distribution")
    if function == "clip_grads_with_norm_" or (function.startswith("clip_grad") and "clip_grad" in path):
        return "clip"
    return None


def is_context_decorator(code: CodeType) -> bool:
    """What `@torch.no_grad()` and its like put around a function. Known by what it holds: from PyTorch 2.15 on
    it goes by the name of the context."""
    return {"ctx_factory", "func"} <= set(code.co_freevars) and code.co_filename.endswith("_contextlib.py")


def variables_of(frame: FrameType) -> dict[str, Any]:
    """A copy of the frame's variables. Up to Python 3.12 a function's `f_locals` is a snapshot that the frame
    holds until it ends, and every tensor in it; so the snapshot is emptied again, unless it is somebody
    else's, too (the script has called `locals()`)."""
    scope = frame.f_locals
    if (
        not frame.f_code.co_flags & inspect.CO_OPTIMIZED
    ):  # a module's or a class's: perhaps a mapping of its own
        return dict.copy(scope) if issubclass(type(scope), dict) else {}
    found = dict(scope)
    if type(scope) is dict and sys.getrefcount(scope) <= 3:
        scope.clear()
    return found


@functools.lru_cache(maxsize=1024)
def _dropped_at(code: Any, offset: int) -> bool:
    # `offset` may lie on the call or on one of its inline cache entries, which `dis` does not list.
    following = (i for i in dis.get_instructions(code) if i.offset > offset)
    return next((i.opname == "POP_TOP" for i in following), False)


def result_is_dropped(frame: FrameType) -> bool:
    """Whether the call that `frame` is in the middle of throws its result away."""
    return _dropped_at(frame.f_code, frame.f_lasti)
