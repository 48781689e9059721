"""Taps on process groups: which rank this is, which networks are wrapped, what the script exchanges by itself, and
digests of what a step consumes. Nothing is exchanged here: ranks are compared afterwards, by what each has recorded."""

from __future__ import annotations

import functools
import math
import os
import re
import sys
import weakref
from types import FrameType
from typing import Any

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from gradsan.observe.containment import Containment
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known, storage_of
from gradsan.observe.training.magnitudes import has_dense_gradient, norms_of
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import (
    NOWHERE,
    Collective,
    Digest,
    Group,
    OptimizerId,
    ParamId,
    Passes,
    RankStep,
    Site,
    Unreduced,
    Wrapped,
)

LOOKS = 4_096  # at what the script exchanges
EXCHANGES = {"all_reduce": "weight", "broadcast": "copy"}
UNUSED = re.compile(r"did not receive grad for rank \d+: ([\d ]+)")


class _Wrapper:
    """A wrapped network, and how often it was called since its last step."""

    def __init__(self, network: Any, number: int) -> None:
        self.network, self.number = weakref.ref(network), number
        self.averaged = self.local = 0
        self.told: Wrapped | None = None


class RankTap:
    def __init__(self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing) -> None:
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves, self._optimizers = known
        self._tracing = tracing
        self._group: Group | None = None
        self._wrappers: dict[int, _Wrapper] = {}  # by the id of the wrapping module
        self._told: set[tuple[str, ParamId]] = set()
        self._looks = 0
        self._stepped: dict[OptimizerId, weakref.ref[Any]] = {}

    @property
    def parts(self) -> Parts:
        if not distributed.is_available():
            return ()
        return self._patch_joining, self._patch_wrapping, self._patch_exchanges

    def _patch_joining(self, patches: Patches) -> None:
        original = distributed.init_process_group

        @functools.wraps(original)
        def init_process_group(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            self._contain("ranks", self.is_among_others)
            return result

        patches.set(distributed, "init_process_group", init_process_group)

    def is_among_others(self) -> bool:
        """Whether this process trains together with others; told as soon as it is known."""
        if self._group is None and distributed.is_available() and distributed.is_initialized():
            local = os.environ.get("LOCAL_RANK", "")
            group = Group(
                distributed.get_rank(), distributed.get_world_size(),
                int(local) if local.isdigit() else -1, str(distributed.get_backend()),
            )  # fmt: skip
            self._group = group
            if group.world > 1:
                self._emit(group)
        return self._group is not None and self._group.world > 1

    # -- wrapped networks ---------------------------------------------------------------------------

    def _patch_wrapping(self, patches: Patches) -> None:
        contain, wrappers = self._contain, self._wrappers
        init: Any = DistributedDataParallel.__init__
        pre_forward: Any = DistributedDataParallel._pre_forward

        @functools.wraps(init)
        def __init__(network: Any, *args: Any, **kwargs: Any) -> None:
            init(network, *args, **kwargs)
            contain("wrapper", self._wrapped, network, sys._getframe(1))

        @functools.wraps(pre_forward)
        def _pre_forward(network: Any, *args: Any, **kwargs: Any) -> Any:
            wrapper = wrappers.get(id(network))
            try:
                result = pre_forward(network, *args, **kwargs)
            except RuntimeError as error:
                contain("wrapper", self._refused, network, str(error), sys._getframe(1))
                raise
            if wrapper is not None and torch.is_grad_enabled():
                if network.require_backward_grad_sync:
                    wrapper.averaged += 1
                else:
                    wrapper.local += 1
            return result

        patches.set(DistributedDataParallel, "__init__", __init__)
        patches.set(DistributedDataParallel, "_pre_forward", _pre_forward)

    def _wrapped(self, network: Any, frame: FrameType) -> None:
        self.is_among_others()
        wrapper = self._wrappers[id(network)] = _Wrapper(network, len(self._wrappers) + 1)
        place = self._sites.place(frame)
        self._tell(wrapper, place.site)

    def _tell(self, wrapper: _Wrapper, site: Site = NOWHERE) -> None:
        """Once, and again when a function of the script's own does the averaging."""
        network = wrapper.network()
        if network is None:
            return
        hooks = network.__dict__.get("_comm_hooks") or ()
        name = ".".join((hooks[-1][0].__module__, hooks[-1][0].__qualname__)) if hooks else ""
        if wrapper.told is not None:
            if wrapper.told.hook == name:
                return
            told = wrapper.told._replace(hook=name)
        else:
            pids = self._leaves.pids(_trained(network))
            members, unused = network.process_group.size(), bool(network.find_unused_parameters)
            told = Wrapped(wrapper.number, site, pids, members, unused, name)
        wrapper.told = told
        self._emit(told)

    def _refused(self, network: Any, message: str, frame: FrameType) -> None:
        """The reducer waits for parameters that the last backward gave no gradient to."""
        found, wrapper = UNUSED.search(message), self._wrappers.get(id(network))
        if found is None or wrapper is None:
            return
        params = _trained(network)
        unused = [params[int(index)] for index in found[1].split() if int(index) < len(params)]
        site = self._sites.place(frame).site
        self._emit(Unreduced(site, wrapper.number, self._leaves.pids(unused)))

    # -- what the script exchanges by itself --------------------------------------------------------

    def _patch_exchanges(self, patches: Patches) -> None:
        for name in EXCHANGES:
            patches.set(distributed, name, self._exchange(name, getattr(distributed, name)))

    def _exchange(self, name: str, original: Any) -> Any:
        contain, tracing = self._contain, self._tracing

        @functools.wraps(original)
        def exchange(*args: Any, **kwargs: Any) -> Any:
            if tracing.tap is not None or self._looks < LOOKS:
                tensor = args[0] if args else kwargs.get("tensor")
                contain("exchange", self._exchanged, tensor, name, sys._getframe(1))
            return original(*args, **kwargs)

        return exchange

    def _exchanged(self, tensor: Any, name: str, frame: FrameType) -> None:
        self._looks += 1
        if not issubclass(type(tensor), torch.Tensor) or not is_readable(tensor) or not is_dense(tensor):
            return
        if not self.is_among_others():
            return
        memory, of = storage_of(tensor), EXCHANGES[name]
        pid = self._leaves.peek_storage(memory)
        if pid is None:
            of, pid = "gradient", self._owner_of_gradient(memory)
        if pid is not None and (of, pid) not in self._told:
            self._told.add((of, pid))
            self._emit(Collective(self._sites.place(frame).site, of, (pid,)))  # type: ignore[arg-type]

    def _owner_of_gradient(self, memory: int) -> ParamId | None:
        for pid, param in self._leaves.parameters():
            grad = param.grad
            if grad is not None and is_readable(grad) and is_dense(grad) and storage_of(grad) == memory:
                return pid
        return None

    # -- steps --------------------------------------------------------------------------------------

    def before_step(
        self, oid: OptimizerId, opt: Any, params: list[Any], site: Site, now: int, due: bool
    ) -> None:
        """What other ranks will be compared with."""
        if not self.is_among_others():
            return
        self._stepped[oid] = weakref.ref(opt)
        owned = {id(param) for param in params}
        wrappers = [w for w in self._wrappers.values() if _holds_any(w, owned)]
        if due or self._tracing.tap is not None:
            for wrapper in wrappers:
                self._tell(wrapper)
            passes = tuple(Passes(w.number, w.averaged, w.local) for w in wrappers)
            held = [param for param in params if has_dense_gradient(param)]
            self._emit(RankStep(now, oid, site, self._digests(held), passes))
        for wrapper in wrappers:
            wrapper.averaged = wrapper.local = 0

    def at_end(self, now: int) -> None:
        """How the weights have come out of it."""
        for oid, ref in self._stepped.items():
            if (opt := ref()) is not None:
                params = [p for p in self._optimizers.readable(opt) if is_dense(p)]
                self._emit(RankStep(now, oid, NOWHERE, self._digests(params), (), True))

    def _digests(self, params: list[torch.Tensor]) -> tuple[Digest, ...]:
        grads = [p.grad if has_dense_gradient(p) else None for p in params]
        rows = zip(
            self._leaves.pids(params), norms_of(grads), map(_sum, grads), norms_of(list(params)),
            map(_sum, params), strict=True,
        )  # fmt: skip
        return tuple(Digest(pid, *(_digits(number) for number in numbers)) for pid, *numbers in rows)


def _trained(network: Any) -> list[torch.nn.Parameter]:
    """In the order in which the reducer counts them."""
    ignored = getattr(network, "parameters_to_ignore", ())
    named = network.module.named_parameters()
    return [param for name, param in named if param.requires_grad and name not in ignored]


def _holds_any(wrapper: _Wrapper, owned: set[int]) -> bool:
    network = wrapper.network()
    return network is not None and any(id(param) in owned for param in network.module.parameters())


def _sum(tensor: torch.Tensor | None) -> float:
    if tensor is None or tensor.is_sparse or not tensor.numel() or tensor.is_complex():
        return 0.0
    return float(tensor.detach().sum(dtype=torch.float64))


def _digits(number: float) -> float:
    return float(f"{number:.9g}") if math.isfinite(number) else number
