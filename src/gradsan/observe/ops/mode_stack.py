"""A place on PyTorch's stack of function modes, which user code and PyTorch itself rearrange."""

from __future__ import annotations

import threading

import torch
from torch.nn.modules import module as modules
from torch.overrides import TorchFunctionMode

from gradsan.observe.last_resort import attempt


class StackedMode(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self._pauses = threading.local()

    @property
    def is_active(self) -> bool:
        """Whether it is meant to be on the stack."""
        raise NotImplementedError

    def has_entered(self) -> None:
        """For whoever has something to do on coming back."""

    # -- coming and going ---------------------------------------------------------------------------

    def enter(self) -> None:
        """Trace this thread; every thread has a stack of modes of its own.

        Our place is below the user's modes: a `with torch.device(…)` that ends takes away whatever is on
        top. Only a default device, which looks for itself at the very bottom, lies still deeper."""
        if getattr(self._pauses, "leaving", None) is not None:
            self._stay()
        elif not self._is_on_stack():
            self._go_below_the_users_modes()
            self._pauses.depth = 0
        else:
            return
        self.has_entered()

    def _go_below_the_users_modes(self) -> None:
        """`with torch.device(…)` ends by popping the top of the stack: were that us, the device would stay.
        Only the default device insists on being the lowest."""
        above = []
        while torch._C._len_torch_function_stack():
            above.append(torch._C._pop_torch_function_stack())
        lowest = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
        if above and above[-1] is lowest:
            torch._C._push_on_torch_function_stack(above.pop())
        for mode in (self, *reversed(above)):
            torch._C._push_on_torch_function_stack(mode)

    def _is_on_stack(self) -> bool:
        height = torch._C._len_torch_function_stack()
        return any(torch._C._get_function_stack_at(i) is self for i in range(height))

    def leave(self) -> None:
        """Take ourselves out, wherever in the stack we are: user code may have put modes on top, and
        after an exception inside a pause (a step that failed, Ctrl-C) we are not on it at all."""
        if self._take_out():
            self._stay()
        elif not self._depth() and self.is_active:
            self._leave_later()
        self._pauses.depth = 0

    def leave_for_good(self) -> None:
        """This thread ends. Whatever is still on its stack PyTorch would let go after the thread's last line
        of Python, taking the GIL for it; should the interpreter be ending just then, the process aborts."""
        self._take_out()
        self._stay()

    def _take_out(self) -> bool:
        above, found = [], False
        while torch._C._len_torch_function_stack() and not found:
            mode = torch._C._pop_torch_function_stack()
            found = mode is self
            if not found:
                above.append(mode)
        for mode in reversed(above):
            torch._C._push_on_torch_function_stack(mode)
        return found

    def _leave_later(self) -> None:
        """PyTorch has taken us off the stack for the length of one call (`loss.backward()`) and will put us
        back: we go when the next network is called. Until then there is nothing for us to note."""
        if getattr(self._pauses, "leaving", None) is None:
            self._pauses.leaving = modules.register_module_forward_pre_hook(
                lambda *_: attempt("operations", self._leave_now)
            )

    def _leave_now(self) -> None:
        if getattr(self._pauses, "leaving", None) is not None:
            self.leave()

    def _stay(self) -> None:
        """Neither on the way out nor expected to be."""
        if (hook := getattr(self._pauses, "leaving", None)) is not None:
            hook.remove()
            self._pauses.leaving = None

    def withdraw(self) -> None:
        """A compiler is going to look at the stack."""
        self._pauses.withdrawn = self._take_out()

    def come_back(self) -> None:
        if getattr(self._pauses, "withdrawn", False):
            self._pauses.withdrawn = False
            if self.is_active and not self._is_on_stack():
                self._go_below_the_users_modes()

    # -- stepping aside -----------------------------------------------------------------------------

    def pause(self) -> None:
        depth = self._depth()
        if depth == 0:
            self._pauses.popped = self._on_top()
            if self._pauses.popped:
                torch._C._pop_torch_function_stack()
        self._pauses.depth = depth + 1

    def resume(self) -> None:
        depth = self._depth()
        if depth == 1 and self._pauses.popped:
            torch._C._push_on_torch_function_stack(self)
        self._pauses.depth = max(0, depth - 1)

    def recover(self) -> None:
        """A step that raised has never told us that it was over."""
        if self._depth():
            self._pauses.depth = 1
            self.resume()

    def _depth(self) -> int:
        return int(getattr(self._pauses, "depth", 0))

    def _on_top(self) -> bool:
        height = torch._C._len_torch_function_stack()
        return bool(height) and torch._C._get_function_stack_at(height - 1) is self
