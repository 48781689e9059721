"""What PyTorch's autograd says when it refuses: one table from its words to a rule, or to the reason and the remedy.

Errors are told apart by words that stay the same between releases. Every row is raised by a program of
`tests/programs/test_torch_errors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

SAVED_TENSOR_CHANGED = "modified by an inplace operation"
NO_GRAPH = "does not require grad and does not have a grad_fn"
GRAPH_FREED = "backward through the graph a second time"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"


class TorchError(NamedTuple):
    """One kind of error. `rules` can make a finding of it; where none does, `why` and `fix` are told."""

    kind: str
    raised_by: Literal["operation", "backward"]
    words: tuple[str, ...]
    rules: tuple[str, ...] = ()
    why: str = ""
    fix: str = ""
    types: tuple[type[Exception], ...] = (RuntimeError,)


TABLE = (
    # -- a write that autograd cannot follow --------------------------------------------------------
    TorchError("saved-tensor-changed", "backward", (SAVED_TENSOR_CHANGED,), ("GS101", "GS102")),
    TorchError("leaf-mutated", "operation", ("leaf Variable that requires grad",), ("GS103",)),
    TorchError("one-of-several-views", "operation", ("a function that returns multiple views",), ("GS101",)),
    TorchError("view-of-function", "operation", ("view was created inside a custom Function",), ("GS101",)),
    TorchError(
        "view-without-gradient",
        "operation",
        ("view was created in no_grad mode", "view was created in inference mode"),
        ("GS101",),
    ),
    TorchError(
        "out-argument",
        "operation",
        ("out=... arguments don't support automatic differentiation",),
        why="`out=` writes into a tensor that is there already, and autograd cannot record such a write. One of the "
        "tensors of this call requires grad",
        fix="use the result (`y = torch.add(a, b)`), or wrap the call in `with torch.no_grad():` if no gradient is to "
        "flow through it",
    ),
    TorchError(
        "detached-in-place",
        "operation",
        ("Can't detach views in-place",),
        why="the tensor is a view of another one: detaching it in place would leave that one's graph wrong",
        fix="write `x = x.detach()`",
    ),
    TorchError(
        "saved-tensor-detached",
        "backward",
        ("saved tensor that has been detached in-place",),
        why="backward needs a tensor that `detach_()` has meanwhile taken out of the graph",
        fix="write `x = x.detach()` instead of `x.detach_()`",
    ),
    # -- tensors that leave the graph ---------------------------------------------------------------
    TorchError(
        "graph-tensor-copied",
        "operation",
        ("Only Tensors created explicitly by the user", "refusing to serialize non-leaf tensor"),
        ("GS105",),
    ),
    TorchError(
        "inference-tensor",
        "operation",
        (
            "Inference tensors cannot be saved for backward",
            "Inplace update to inference tensor outside InferenceMode",
            "Setting requires_grad=True on inference tensor outside InferenceMode",
        ),
        ("GS202",),
    ),
    TorchError(
        "numpy-of-graph-tensor",
        "operation",
        ("Can't call numpy() on Tensor that requires grad",),
        why="a NumPy array has no graph, so no gradient could come back through it. PyTorch makes you say that this is "
        "meant",
        fix="for a plot, a log or the environment write `.item()` or `.detach().numpy()`; what the loss depends on has "
        "to stay a tensor",
    ),
    # -- the flag requires_grad ---------------------------------------------------------------------
    TorchError(
        "flag-of-result",
        "operation",
        ("you can only change requires_grad flags of leaf variables",),
        ("GS301", "GS303"),
        why="the tensor is the result of a computation: whether it requires grad follows from what it was computed of",
        fix="to cut it off write `x = x.detach()`; to freeze a network call `net.requires_grad_(False)` before it is "
        "used",
    ),
    TorchError(
        "integer-requires-grad",
        "operation",
        ("floating point dtype can require gradients", "floating point and complex dtype can require gradients"),
        why="integers and booleans have no derivative, so such a tensor cannot be learned",
        fix="make it of floating point: `torch.tensor([1.0, 2.0], requires_grad=True)` or `x.float()`",
    ),
    TorchError(
        "hook-without-gradient",
        "operation",
        ("can't retain_grad on Tensor that has requires_grad=False", "cannot register a hook on a tensor that doesn't"),
        why="no gradient will ever arrive at this tensor: it was computed of nothing that requires grad, or under "
        "`no_grad`",
        fix="find where it was cut off (`detach`, `no_grad`, `torch.tensor`), or drop the hook",
    ),
    TorchError(
        "hook-on-result",
        "operation",
        ("post accumulate grad hooks cannot be registered on non-leaf tensors",),
        why="gradient is accumulated in leaves only, and this tensor is the result of a computation",
        fix="use `x.register_hook(…)`, or put the hook on the parameter itself",
    ),
    TorchError(
        "foreign-gradient",
        "operation",
        ("attempting to assign a gradient", "assigned grad expected to be a Tensor"),
        why="what is written into `.grad` has another shape, type or device than the tensor it belongs to",
        fix="bring it into the form of the parameter: `p.grad = g.reshape(p.shape).to(p)`",
        types=(RuntimeError, TypeError),
    ),
    TorchError(
        "data-of-other-type",
        "operation",
        ("data set to a tensor that requires gradients must be floating point",),
        why="a tensor that requires grad was given integers as its `.data`, and those have no derivative",
        fix="convert them first: `p.data = new.to(p.dtype)`",
    ),
    # -- optimizers ---------------------------------------------------------------------------------
    TorchError(
        "result-optimized",
        "operation",
        ("can't optimize a non-leaf Tensor",),
        why="the optimizer was given the result of a computation. Stepping it would change a number that the next "
        "forward computes anew",
        fix="give it the parameter that the result is computed of, or make a leaf: "
        "`x = x.detach().requires_grad_()`. `torch.zeros(3, requires_grad=True).to(device)` is a result, too: "
        "create it on the device",
        types=(ValueError,),
    ),
    TorchError(
        "nothing-to-optimize",
        "operation",
        ("optimizer got an empty parameter list",),
        why="there is no parameter in what the optimizer was given: the network keeps its layers in a plain list, or "
        "plain tensors for parameters, or the iterator was used up by an earlier call",
        fix="keep layers in `nn.ModuleList` and tensors in `nn.Parameter`, and pass `list(net.parameters())` where it "
        "is used twice",
        types=(ValueError,),
    ),
    TorchError(
        "parameter-replaced",
        "operation",
        ("torch.nn.Parameter or None required", "torch.nn.Parameter or None expected"),
        why="an attribute that holds a parameter was to be replaced by a plain tensor. The optimizer would go on "
        "stepping the old one",
        fix="write into it: `with torch.no_grad(): layer.weight.copy_(new)`",
        types=(TypeError, KeyError),
    ),
    TorchError(
        "non-finite-norm",
        "operation",
        ("is non-finite, so it cannot be clipped",),
        why="a gradient is NaN or infinite before it is clipped",
        fix="run with `--mode deep` to see which operation made it (rule GS503)",
    ),
    TorchError(
        "nothing-to-unscale",
        "operation",
        ("No inf checks were recorded for this optimizer", "No inf checks were recorded prior to update"),
        ("GS206", "GS404"),
        why="the gradient scaler found no gradient in this optimizer's parameters: backward was not called before "
        "`scaler.step`, or feeds other parameters",
        fix="call `scaler.scale(loss).backward()` on a loss that reaches these parameters before `scaler.step(opt)`",
        types=(AssertionError,),
    ),
    TorchError(
        "unscaled-twice",
        "operation",
        ("unscale_() has already been called", "unscale_() is being called after step()"),
        why="the gradients of this optimizer are divided by the loss scale a second time in one iteration",
        fix="call `scaler.unscale_(opt)` once, before clipping, and `scaler.update()` at the end of the iteration",
    ),
    # -- what backward and autograd.grad are given ---------------------------------------------------
    TorchError("no-graph", "backward", (NO_GRAPH,), ("GS201",)),
    TorchError(
        "graph-freed",
        "backward",
        (GRAPH_FREED, "Trying to backward an extra time"),
        ("GS402",),
    ),
    TorchError("not-scalar", "backward", (NOT_SCALAR,), ("GS403",)),
    TorchError(
        "complex-loss",
        "backward",
        ("grad can be implicitly created only for real scalar outputs",),
        why="a complex number has no single direction in which it rises, so it cannot be minimised",
        fix="make a real number of it: `loss.abs()` or `loss.real`",
    ),
    TorchError(
        "gradient-of-other-shape",
        "backward",
        ("Mismatch in shape: grad_output",),
        why="the gradient that was passed has another shape than the tensor it belongs to",
        fix="pass one weight per element: `loss.backward(torch.ones_like(loss))`, or reduce the loss first",
    ),
    TorchError(
        "input-unused",
        "backward",
        ("appears to not have been used in the graph",),
        ("GS202",),
        why="the output was not computed from one of the tensors it is to be differentiated by: it was made anew or "
        "copied in between, or takes no part in the output",
        fix="pass the very tensor that the forward used (not a slice, a copy or `.to()` of it made later); where it "
        "may be unused, `allow_unused=True` gives `None`",
    ),
    TorchError(
        "input-without-gradient",
        "backward",
        ("One of the differentiated Tensors does not require grad",),
        ("GS201",),
        why="one of the tensors to differentiate by did not require grad when the output was computed",
        fix="call `x.requires_grad_()` before the forward, not after it",
    ),
    TorchError(
        "no-inputs",
        "backward",
        (
            "argument to `backward()` cannot be empty",
            "argument to `grad()` cannot be empty",
            "grad requires non-empty inputs",  # in 2.6
        ),
        why="there is nothing to differentiate by: the list of inputs is empty, perhaps an iterator that was used up",
        fix="pass `list(net.parameters())`",
        types=(RuntimeError, ValueError),
    ),
    TorchError(
        "inside-transform",
        "operation",
        ("backward() called inside a functorch transform",),
        why="inside `torch.func.grad`, `vmap` and the like the gradient is taken by the transform itself",
        fix="return the loss from the function, and leave the gradient to `torch.func.grad`",
    ),
    TorchError(
        "transform-not-scalar",
        "operation",
        ("to return a scalar Tensor, got tensor with",),
        why="`torch.func.grad` differentiates a function that returns one number; this one returns several",
        fix="reduce the result (`.mean()`, `.sum()`), or use `torch.func.jacrev` or `vjp`",
    ),
    TorchError(
        "not-differentiable",
        "backward",
        ("the derivative for", "derivative for aten::"),
        why="PyTorch has no derivative for this operation; for many there is a first one but no second",
        fix="rewrite it in operations that have one; a second derivative (`create_graph=True`) of a fused kernel often "
        "exists in its plain form, as for attention",
        types=(RuntimeError, NotImplementedError),
    ),
    TorchError(
        "anomaly",
        "backward",
        ("returned nan values in its",),
        ("GS503",),
        why="anomaly detection met a gradient that is not a number",
        fix="run with `--mode deep` to see which operation made it (rule GS503)",
    ),
    # -- custom functions and hooks -----------------------------------------------------------------
    TorchError(
        "function-gradient-count",
        "backward",
        ("returned an incorrect number of gradients",),
        ("GS211",),
        why="the `backward` of a custom function has to return one gradient for each argument of its `forward`, `ctx` "
        "not counted",
        fix="return as many values as `forward` takes, `None` for those that need no gradient",
    ),
    TorchError(
        "function-gradient-of-constant",
        "backward",
        ("returned a gradient different than None at position",),
        ("GS211",),
        why="the `backward` of a custom function returned a gradient for an argument of `forward` that is no tensor",
        fix="return `None` in that position",
    ),
    TorchError(
        "function-gradient-shape",
        "backward",
        ("returned an invalid gradient at index",),
        ("GS211",),
        why="a `backward` returned a gradient of another shape, type or device than the tensor it is for",
        fix="return a gradient of the input's shape: sum over the axes that `forward` broadcast. Where no function of "
        "your own is named, `.data` or `resize_` has changed a tensor's shape since the forward",
    ),
    TorchError(
        "function-gradient-type",
        "backward",
        ("expected Variable or None (got",),
        ("GS211",),
        why="the `backward` of a custom function returned something that is no tensor: a number or a NumPy array",
        fix="return tensors (`torch.as_tensor(g)`), or `None` where there is no gradient",
    ),
    TorchError(
        "function-without-backward",
        "backward",
        ("You must implement either the backward or vjp method",),
        ("GS211",),
        why="a custom function that has no `backward` is part of this loss",
        fix="write its `backward`, a static method of just that name, or use ordinary operations, which have one",
        types=(NotImplementedError,),
    ),
    TorchError(
        "function-saves-constant",
        "operation",
        ("save_for_backward can only save variables",),
        why="`ctx.save_for_backward` keeps tensors only, because it checks that nobody changes them until backward",
        fix="keep numbers and other objects as attributes: `ctx.scale = scale`",
        types=(TypeError,),
    ),
    TorchError(
        "function-not-static",
        "operation",
        ("Legacy autograd function with non-static forward",),
        why="a custom function is not called as an object any more",
        fix="make `forward` and `backward` static methods and call `MyFunction.apply(x)`",
    ),
    TorchError(
        "function-twice",
        "backward",
        ("twice a function that was marked with @once_differentiable",),
        why="a second derivative is wanted of a function whose `backward` is marked `@once_differentiable`",
        fix="write its `backward` in differentiable operations and drop the mark, or do without `create_graph=True`",
    ),
    TorchError(
        "hook-changed-gradient",
        "backward",
        ("has changed the size of value", "expected Variable, but hook returned"),
        why="a hook on a tensor returned something of another shape or type, to take the gradient's place",
        fix="return a tensor of the gradient's shape, or nothing to leave it as it is",
        types=(RuntimeError, TypeError),
    ),
    # -- checkpointing ------------------------------------------------------------------------------
    TorchError(
        "checkpoint-differs",
        "backward",
        (
            "A different number of tensors was saved during the original forward and recomputation",
            "have different metadata than during the forward pass",
            "trying to save more tensors during recomputation",
        ),
        why="a checkpointed function is run a second time in backward, and did something else there: it depends on a "
        "counter, a cache, a switch such as `train()`, random numbers of NumPy or Python, or a global that has "
        "changed",
        fix="make it depend on its arguments alone",
    ),
    TorchError(
        "checkpoint-unpacked-twice",
        "backward",
        ("Unpack is being triggered for a tensor that was already unpacked",),
        why="the `backward` of a custom function inside a checkpointed part reads `ctx.saved_tensors` more than once, "
        "and each reading would run the forward again",
        fix="read it once: `x, y = ctx.saved_tensors`",
    ),
    TorchError(
        "checkpoint-reentrant",
        "backward",
        ("When use_reentrant=True, torch.utils.checkpoint is incompatible",),
        why="the older form of checkpointing runs a backward of its own, and cannot do that for chosen inputs",
        fix="pass `use_reentrant=False` to `checkpoint`",
    ),
    TorchError(
        "checkpoint-without-gradient",
        "backward",
        ("none of output has requires_grad=True, this checkpoint() is not necessary",),
        why="nothing that the checkpointed function returns requires grad when it is run again in backward: something "
        "in it cuts the graph",
        fix="take the `detach` or `no_grad` out of the function, or call it without `checkpoint`",
    ),
    # -- distributed --------------------------------------------------------------------------------
    TorchError(
        "reduction-unfinished",
        "operation",
        ("Expected to have finished reduction in the prior iteration",),
        ("GS702",),
        why="some parameters of the wrapped network got no gradient in the last backward, and the ranks wait for them: "
        "a part of the network was not used, its output took no part in the loss, or backward was left out",
        fix="let every output take part in the loss and every forward have its backward (under `no_grad` where there "
        "is none); where parts are unused on purpose, pass `find_unused_parameters=True`",
    ),
    TorchError(
        "marked-ready-twice",
        "backward",
        ("Expected to mark a variable ready only once",),
        why="a parameter got its gradient twice in one backward of the wrapped network: it is shared between "
        "checkpointed parts, or used outside of the wrapper's forward, too",
        fix="call the network through its wrapper only, and checkpoint with `use_reentrant=False`",
    ),
)  # fmt: skip
AT_ONCE = ("leaf-mutated", "graph-tensor-copied")  # reported even where the script catches the error
_BY_KIND = {row.kind: row for row in TABLE}


def row_of(error: BaseException) -> TorchError | None:
    """The row of the table that this error is a case of."""
    row = _row(str(error))
    return row if row is not None and isinstance(error, row.types) else None


def kind_of(message: str) -> str:
    """ "" where it is none of these."""
    row = _row(message)
    return row.kind if row is not None else ""


def row_called(kind: str) -> TorchError | None:
    return _BY_KIND.get(kind)


def _row(message: str) -> TorchError | None:
    return next((row for row in TABLE if any(words in message for words in row.words)), None)


def text_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it was raised from or while handling."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
