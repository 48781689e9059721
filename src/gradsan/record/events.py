"""Everything gradsan knows of a run, as small immutable events.

An event holds ids, shapes, flags and source sites; never a tensor. Ids are small integers given by the
observer: `pid` a parameter (or another leaf), `oid` an optimizer, `bid` a backward call, `nid` a value
in the provenance graph, `site` an entry of the site table (0 means: no user line is known).
"""

from __future__ import annotations

from typing import Any, NamedTuple

Site = int
NOWHERE: Site = 0


class SiteSeen(NamedTuple):
    """A source line of the user's that later events refer to."""

    site: Site
    file: str
    line: int
    function: str


class ParamSeen(NamedTuple):
    """A leaf tensor that can receive gradient. `kind` is "parameter" or "leaf"."""

    pid: int
    kind: str
    shape: tuple[int, ...]
    requires_grad: bool
    created: Site
    name: str = ""


class ParamReborn(NamedTuple):
    """A leaf is gone, and another of its kind, made on the same line, has taken its number."""

    pid: int


class ParamNamed(NamedTuple):
    """The name that the user's own variables give to a parameter, found as soon as it can be."""

    pid: int
    name: str
    aliases: tuple[str, ...] = ()


class ParamFlag(NamedTuple):
    """`requires_grad` of a known parameter was changed."""

    pid: int
    requires_grad: bool
    site: Site


class OptimizerSeen(NamedTuple):
    """An optimizer was created, or got another parameter group (`added`)."""

    oid: int
    kind: str
    params: tuple[int, ...]
    site: Site
    added: bool = False
    frozen: tuple[int, ...] = ()


class Root(NamedTuple):
    """A tensor that backward was called on."""

    nid: int
    shape: tuple[int, ...]
    live: bool


class Backward(NamedTuple):
    """One call of `backward` or `autograd.grad`. `reached`: leaves its graph leads to; `fed`: leaves
    whose `.grad` it changed. `error` is the message of the exception that PyTorch raised, if any."""

    bid: int
    site: Site
    call: str
    roots: tuple[Root, ...]
    reached: tuple[int, ...]
    fed: tuple[int, ...]
    retain: bool = False
    create_graph: bool = False
    error: str = ""
    nodes: int = 0
    clues: tuple[tuple[str, Any], ...] = ()
    loss: float = 0.0


class Step(NamedTuple):
    """An optimizer is about to consume gradient: `held` has one, `by_hand` was written by user code.

    `lent` are other parameters, whose very `.grad` some of the held ones were given."""

    oid: int
    site: Site
    held: tuple[int, ...]
    by_hand: tuple[int, ...] = ()
    lent: tuple[int, ...] = ()


class StepDone(NamedTuple):
    oid: int


class Turn(NamedTuple):
    """A loop that updates its parameters by hand has come round once more."""


class ZeroGrad(NamedTuple):
    """Gradients were cleared. `by` is "optimizer", "module" or "hand"."""

    site: Site
    by: str
    params: tuple[int, ...]
    finite: bool = True


class Clip(NamedTuple):
    """Gradients were clipped: `how` is "norm", "value" or "hand"."""

    site: Site
    how: str
    params: tuple[int, ...]
    held: tuple[int, ...]
    limit: float
    dropped: bool = False


class Sync(NamedTuple):
    """Parameters were overwritten from others: `pairs` of (destination, source)."""

    site: Site
    how: str
    pairs: tuple[tuple[int, int], ...]
    aliased: bool = False
    nids: tuple[int, ...] = ()  # the values that were loaded, where they were computed under our eyes


class Op(NamedTuple):
    """One operation that produced the value `nid` from the values `inputs`.

    `live` says whether the result requires grad; `tags` carries what the observer saw beside the call
    (`no_grad`, `log_prob`, `sample` …); `notes` are small facts that a rule may want (scalar factors,
    saturation, the first non-finite element).
    """

    nid: int
    name: str
    site: Site
    inputs: tuple[int, ...]
    live: bool
    shape: tuple[int, ...]
    floating: bool = True
    tags: tuple[str, ...] = ()
    notes: tuple[tuple[str, Any], ...] = ()


class Ops(NamedTuple):
    """The operations since the last boundary, in order."""

    ops: tuple[Op, ...]


class Failed(NamedTuple):
    """PyTorch raised outside of backward (an in-place write on a leaf, a deepcopy of a graph tensor …)."""

    kind: str
    site: Site
    message: str
    clues: tuple[tuple[str, Any], ...] = ()


class Repeated(NamedTuple):
    """`times` further iterations went exactly like ones already recorded; `findings` are theirs."""

    times: int
    findings: tuple[int, ...] = ()


class Resumed(NamedTuple):
    """After iterations that were let through unseen: what the gradients hold now is of unknown origin."""


class Sample(NamedTuple):
    """Magnitudes at one step, taken now and then: what the charts are drawn from.

    Per parameter `(pid, gradient norm, weight norm, update norm)`; per loss `(site of backward, value)`;
    `clipped` is the norm before clipping divided by the limit, where this step was clipped."""

    iteration: int
    oid: int
    norms: tuple[tuple[int, float, float, float], ...]
    losses: tuple[tuple[Site, float], ...] = ()
    clipped: float = 0.0
    for_charts: bool = (
        False  # taken for those who draw; no rule judges by it, so that drawing changes no finding
    )


class Attention(NamedTuple):
    """The observer became deep or light, and why."""

    deep: bool
    reason: str


class Blind(NamedTuple):
    """The observer could not look somewhere, so rules that needed it were not evaluated."""

    reason: str
    site: Site
    rules: tuple[str, ...] = ()


class Fault(NamedTuple):
    """Something inside gradsan broke; the tap it happened in went quiet."""

    tap: str
    traceback: str


Event = (
    SiteSeen
    | ParamSeen
    | ParamReborn
    | ParamNamed
    | ParamFlag
    | OptimizerSeen
    | Backward
    | Step
    | StepDone
    | Turn
    | ZeroGrad
    | Clip
    | Sync
    | Ops
    | Failed
    | Repeated
    | Resumed
    | Sample
    | Attention
    | Blind
    | Fault
)

EVENT_TYPES: dict[str, type[Any]] = {t.__name__: t for t in Event.__args__}
