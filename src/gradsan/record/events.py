"""The whole contract between watching and judging: small immutable events, and the typed records they consist of.

An event holds ids, shapes, flags and source sites; never a tensor. Ids are small integers given by the observer,
each of a type of its own; zero means: none is known.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, NewType

ParamId = NewType("ParamId", int)  # a parameter, or another leaf
OptimizerId = NewType("OptimizerId", int)
BackwardId = NewType("BackwardId", int)
ValueId = NewType("ValueId", int)  # a node of the provenance graph
Site = NewType("Site", int)  # an entry of the table of source lines
Chain = NewType("Chain", int)  # the lines of the user's that a line was called from

NOBODY, NO_OPTIMIZER, NOTHING, NOWHERE = ParamId(0), OptimizerId(0), ValueId(0), Site(0)
DIRECT = Chain(0)  # called from no other line of the user's

Tag = Literal[
    "no_grad", "inference_mode", "decorated", "function", "clip", "distribution",
    "log_prob", "entropy", "sample", "rsample", "kl_divergence", "cdf", "icdf",
]  # fmt: skip
"""Through what an operation was called: a method of a distribution, a custom function, gradients off."""


class SiteSeen(NamedTuple):
    """A source line of the user's that later events refer to."""

    site: Site
    file: str
    line: int
    function: str


class ChainSeen(NamedTuple):
    """Lines that later events were called from, the nearest first: a shared helper has several callers."""

    chain: Chain
    sites: tuple[Site, ...]


# -- parameters and optimizers ----------------------------------------------------------------------


class ParamSeen(NamedTuple):
    """A leaf tensor that can receive gradient."""

    pid: ParamId
    kind: Literal["parameter", "leaf", "sharded"]
    shape: tuple[int, ...]
    requires_grad: bool
    created: Site
    name: str = ""
    chain: Chain = DIRECT


class ParamReborn(NamedTuple):
    """A leaf is gone, and another of its kind, made on the same line, has taken its number."""

    pid: ParamId


class ParamNamed(NamedTuple):
    """The name that the user's own variables give to a parameter, found as soon as it can be."""

    pid: ParamId
    name: str
    aliases: tuple[str, ...] = ()


class ParamFlag(NamedTuple):
    """`requires_grad` of a known parameter was changed."""

    pid: ParamId
    requires_grad: bool
    site: Site
    chain: Chain = DIRECT


class OptimizerSeen(NamedTuple):
    """An optimizer was created, or got another parameter group (`added`)."""

    oid: OptimizerId
    kind: str
    params: tuple[ParamId, ...]
    site: Site
    added: bool = False
    frozen: tuple[ParamId, ...] = ()
    maximize: bool = False
    chain: Chain = DIRECT


class OptimizerGone(NamedTuple):
    """Nothing holds this optimizer any more: it will never step again. Told of the first few of a run."""

    oid: OptimizerId


class Copy(NamedTuple):
    """`pid` was overwritten with `source` (unknown where it came from outside)."""

    pid: ParamId
    source: ParamId


class Sync(NamedTuple):
    """Parameters were overwritten, or `found` to be copies that are older than the session, or `moved` while nobody
    looked. `values`: what was loaded, where it was computed under our eyes."""

    site: Site
    how: Literal["deepcopy", "load_state_dict", "found", "moved"]
    pairs: tuple[Copy, ...]
    aliased: bool = False
    values: tuple[ValueId, ...] = ()
    passed: int = 0  # iterations that have gone by since the last one that was told, or since the last look
    chain: Chain = DIRECT
    still: bool = False  # what was loaded had been there before
    missed: tuple[ParamId, ...] = ()  # nothing was loaded into these: none of the names fits


# -- backward ---------------------------------------------------------------------------------------


class Root(NamedTuple):
    """A tensor that backward was called on, and what it was given to begin with (`gradient=`)."""

    nid: ValueId
    shape: tuple[int, ...]
    live: bool
    weight: ValueId = NOTHING


class BadValue(NamedTuple):
    """An operation that made something non-finite: of which inputs (or, if only those are known, with which
    results), at which index; of how many samples, for a deviation."""

    operation: str
    given: tuple[float, ...] = ()
    results: tuple[float, ...] = ()
    at: tuple[int, ...] = ()
    samples: int = -1


class BadGradient(NamedTuple):
    """The first operation whose backward made a gradient non-finite."""

    value: ValueId = NOTHING
    site: Site = NOWHERE
    what: BadValue | None = None


class ChangedTensor(NamedTuple):
    """What `value` had kept for backward was written by `operation`, or by an optimizer's step."""

    value: ValueId
    site: Site
    operation: str
    by_step: bool
    owner: ParamId = NOBODY


class HiddenWrite(NamedTuple):
    """What `value` had kept has other contents, and the version counter does not know, or nobody asks it: what a
    custom function keeps as an `attribute` of its context."""

    value: ValueId
    write: Site = NOWHERE
    alias: Site = NOWHERE
    attribute: str = ""


class GradientNorm(NamedTuple):
    pid: ParamId
    norm: float


class Suspect(NamedTuple):
    """An operation whose derivative can be infinite."""

    operation: str
    site: Site


class FlatShare(NamedTuple):
    """Of the gradient that arrived at `value`, this share of the elements ended there: the function is flat."""

    value: ValueId
    share: float


class FunctionPass(NamedTuple):
    """The backward of a custom function: which of its `outputs` a gradient arrived for, whether all that arrived is
    the number one, whether it gave anything but zero back, and the leaves behind the inputs that it gave no gradient
    back for. `overwrites`: it wrote into what had arrived. `severs`: what had arrived has a graph of its own, to be
    differentiated once more, and what it gave back has none. `varied`: the outputs whose gradient differs from row to
    row."""

    value: ValueId
    arrived: tuple[int, ...]
    outputs: int
    plain: bool = False
    gives: bool = True
    overwrites: bool = False
    severs: bool = False
    varied: tuple[int, ...] = ()
    behind: tuple[ParamId, ...] = ()


ProbeKind = Literal["entropy", "negative entropy", "log-prob", "minimum", "maximum", "output", "prediction"]
"""What a probed value is: an entropy, p log p, a log-probability, the smaller or the larger of two values, an output of
a network that enters the loss linearly, one that a loss fits to something."""


class Probe(NamedTuple):
    """What arrived at a value in the user's own backward: how many of its elements got a positive and how many a
    negative derivative, the smallest of all and the largest; of a log-probability also which is nearest to zero of
    those that are not zero."""

    value: ValueId
    kind: ProbeKind
    samples: int
    positive: int
    negative: int
    low: float
    high: float
    least: float = 0.0


class ProbePair(NamedTuple):
    """A log-probability and a prediction with one element for each sample: the correlation of what arrived there
    (the cosine, where there are too few samples for a correlation)."""

    log_prob: ValueId
    prediction: ValueId
    samples: int
    agreement: float


class DrawnPlaces(NamedTuple):
    """Log-probabilities of tokens, some of which were drawn (`first`, `last`: the draws): in so many `rows`, so many of
    the drawn ones (`own`) have a derivative, and so many that nobody drew, `before` the first of the row, `between` and
    `behind` the last. In how many rows the first drawn one has none, and the last one of the rows that `ended` early.
    `rises`, `falls`: whether the loss rises with some, falls with others, of the drawn ones and of those beside them.
    `apart`: how far they lie from what they were drawn with: smallest and largest difference, mean of its size. `cut`:
    some of all tokens could not be drawn at all, so the others were drawn a little more often."""

    value: ValueId
    first: ValueId
    last: ValueId
    rows: int
    own: int
    before: int = 0
    between: int = 0
    behind: int = 0
    without_first: int = 0
    ended: int = 0
    without_last: int = 0
    rises: bool = False
    falls: bool = False
    others_rise: bool = False
    others_fall: bool = False
    apart: tuple[float, ...] = ()
    column: int = -1  # the first that has one which nobody drew
    cut: bool = False


class PaddedPlaces(NamedTuple):
    """Of the tokens whose log-probabilities this value holds or sums up, so many have a derivative (`trained`), and so
    many of these are padding behind the first of their row."""

    value: ValueId
    trained: int
    padding: int


class GradientGrowth(NamedTuple):
    """A line that ran so many times in one graph: what arrives at its first run is so many `times` what arrives at its
    last, and it grows all the way."""

    site: Site
    steps: int
    times: float


class Junction(NamedTuple):
    """The gradients of several ways meet at a parameter, or at a value: `sources` are the values that they come from,
    `products` what each brings times what each brings, summed over the elements: (1, 1), (1, 2), … (2, 2), …"""

    pid: ParamId
    value: ValueId
    sources: tuple[ValueId, ...]
    products: tuple[float, ...]


class Overlap(NamedTuple):
    """A parameter had a gradient before this backward added to it: the squares of both, and their product."""

    pid: ParamId
    before: float
    added: float
    product: float


class CarriedName(NamedTuple):
    """A variable that holds a value of the graph, in the frame that was on this line when backward failed. `root`: the
    very value that backward was called on."""

    name: str
    site: Site
    root: bool = False


class BackwardFacts(NamedTuple):
    """What looking at the graph around a backward has shown; empty where nobody looked."""

    norms: tuple[GradientNorm, ...] = ()
    zeroed_by: tuple[ValueId, ...] = ()
    bad_gradient: BadGradient | None = None
    hidden: tuple[HiddenWrite, ...] = ()
    changed: ChangedTensor | None = None
    kept_at: Site = NOWHERE  # the line that had kept what was changed, where the write went by unseen
    forward_unseen: bool = False
    untraced: bool = False  # nothing of this graph was traced
    freed: tuple[ValueId, ...] = ()
    spoiled: tuple[ParamId, ...] = ()  # weights that were not finite before
    suspects: tuple[Suspect, ...] = ()
    gradients_off: Site = NOWHERE
    asked: tuple[ParamId, ...] = ()  # what `autograd.grad` was to differentiate by
    functions: tuple[FunctionPass, ...] = ()
    flat: tuple[FlatShare, ...] = ()
    faded: tuple[ValueId, ...] = ()  # here a gradient became too small for a float, and zero
    asked_values: tuple[ValueId, ...] = ()  # …those and all others, where their making was traced
    probes: tuple[Probe, ...] = ()
    probe_pairs: tuple[ProbePair, ...] = ()
    growth: GradientGrowth | None = None
    junctions: tuple[Junction, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    drawn: tuple[DrawnPlaces, ...] = ()
    padded: tuple[PaddedPlaces, ...] = ()
    carried: tuple[CarriedName, ...] = ()  # where an earlier backward had freed what this one needs
    stepped_weight: ParamId = NOBODY  # this is what was changed, where the forward that kept it went unseen


NO_FACTS = BackwardFacts()


class Backward(NamedTuple):
    """One call of `backward` or `autograd.grad`, or gradient that user code wrote itself (`hand`). `reached`: leaves
    its graph leads to; `fed`: leaves whose `.grad` it changed; `within`: those of both that only a backward inside of
    this one leads to (reentrant checkpointing). `error`: what PyTorch raised, if anything."""

    bid: BackwardId
    site: Site
    call: Literal["backward", "grad", "hand"]
    roots: tuple[Root, ...]
    reached: tuple[ParamId, ...]
    fed: tuple[ParamId, ...]
    retain: bool = False
    create_graph: bool = False
    error: str = ""
    nodes: int = 0
    facts: BackwardFacts = NO_FACTS
    loss: float = 0.0
    chain: Chain = DIRECT
    within: tuple[ParamId, ...] = ()


class DeadCheckpoint(NamedTuple):
    """A reentrant checkpoint was called with gradients on and no input that requires grad. `params`: what could be
    trained inside, where the network is plain to see. Told once for each line."""

    site: Site
    params: tuple[ParamId, ...]


# -- what is done with gradients --------------------------------------------------------------------


class Step(NamedTuple):
    """An optimizer is about to consume gradient: `held` has one, `by_hand` was written by user code.

    `lent` are other parameters, whose very `.grad` some of the held ones were given. `replaced` hold another tensor
    than the one that the last backward left there."""

    oid: OptimizerId
    site: Site
    held: tuple[ParamId, ...]
    by_hand: tuple[ParamId, ...] = ()
    lent: tuple[ParamId, ...] = ()
    chain: Chain = DIRECT
    replaced: tuple[ParamId, ...] = ()


class StepDone(NamedTuple):
    oid: OptimizerId


class ZeroGrad(NamedTuple):
    """Gradients were cleared."""

    site: Site
    by: Literal["optimizer", "module", "hand"]
    params: tuple[ParamId, ...]
    finite: bool = True
    chain: Chain = DIRECT


class Clip(NamedTuple):
    """Gradients were clipped."""

    site: Site
    how: Literal["norm", "value"]
    params: tuple[ParamId, ...]
    held: tuple[ParamId, ...]
    limit: float
    dropped: bool = False
    chain: Chain = DIRECT


ScalingCall = Literal["scale", "unscale_", "step"]


class Scaling(NamedTuple):
    """A loss scaler multiplies a loss by its `scale`, or divides the gradients of these parameters by it: asked to,
    or at the beginning of its `step`. `asked`: the script has read the scale since the step before. `finite`: the
    loss was, before it was multiplied."""

    site: Site
    call: ScalingCall
    scale: float
    oid: OptimizerId = NO_OPTIMIZER
    params: tuple[ParamId, ...] = ()
    asked: bool = False
    finite: bool = True


# -- operations -------------------------------------------------------------------------------------


class MaskFacts(NamedTuple):
    """What a table with one number for every place of every row holds: its smallest and largest number, and how many
    zeros each row ends with (of tokens that are read in: how often the token that rows are filled up with). Of a
    product and of what is summed up: how many numbers are `kept`, that is, not zero; of the latter `tails` only where a
    row has no other zeros. Of `1 - x`, where x is zero or one everywhere: how many are kept."""

    low: float
    high: float
    tails: tuple[int, ...]
    kept: int = 0


class OpFacts(NamedTuple):
    """Small facts about one operation that only the observer can see, because it holds the tensors."""

    scalars: tuple[float, ...] = ()
    alpha: float = 1.0
    saturated: float = (
        0.0  # share of the elements that a clamp changed, or that a `where` took from a constant
    )
    bad: BadValue | None = None
    settings: int = 0  # a digest of all arguments that are no tensors
    idle: bool = False  # a dropout that drops nothing
    clipped: ParamId = NOBODY  # made of this parameter's `.grad`
    dropped: bool = False  # …and thrown away at once
    part: int = 0  # which of several results
    carried: int = 0  # through how many iterations its graph reaches back
    grad_off: Site = NOWHERE
    grad_off_by: Literal["", "with", "decorator"] = ""
    pid: ParamId = NOBODY
    leads_to: tuple[ParamId, ...] = ()
    shares: tuple[ParamId, ...] = ()
    axes: tuple[int, ...] = ()  # it ran along these, counted from the front
    backward: Site = NOWHERE  # of a custom function, where the user's code has one
    made_by: BackwardId = BackwardId(0)  # the `autograd.grad` that made it
    # How far a live log-probability and a constant lie apart: smallest and largest difference, mean of its size.
    apart: tuple[float, ...] = ()
    operand: float = 0.0  # a single number without a graph that a live value was multiplied or divided by
    flat_units: int = 0  # columns that a limit cut off in every row
    valid: int = 0  # targets that a mean takes in, where it ignores others; -1 for a sum
    mask: MaskFacts | None = (
        None  # what a live value of the same form was multiplied by, or tokens that were read
    )
    numbers: tuple[float, ...] = ()  # a single number that left torch, or a list of them that came in
    cut_off: float = 0.0  # of the size of all numbers, the share that a cast to whole ones has cut off
    in_place: bool = False  # the result is the first operand itself, written anew
    place: tuple[int, ...] = ()  # of `x[t]` and `x[:, t] = …`: the axis, and the place along it
    # How far numbers from Python lie from what tokens of the same form were drawn with, as in `apart`.
    told: tuple[float, ...] = ()


PLAIN = OpFacts()


class Op(NamedTuple):
    """One operation that produced the value `nid` from the values `inputs`. `live`: the result requires grad.

    Beside operations there are the sources of values (a `parameter` that is read, `data` from outside, a `foreign`
    graph that nobody saw being made) and remarks: a parameter was `written`, its gradient read or set, or asked for
    where there is none."""

    nid: ValueId
    name: str
    site: Site
    inputs: tuple[ValueId, ...]
    live: bool
    shape: tuple[int, ...]
    floating: bool = True
    tags: tuple[Tag, ...] = ()
    facts: OpFacts = PLAIN
    kind: OpKind = "operation"
    chain: Chain = DIRECT


# Operations that have a node in the graph and a gradient of zero: a draw is a constant to what it was drawn with.
DRAWING = frozenset({"normal", "bernoulli", "poisson"})

OpKind = Literal[
    "operation", "parameter", "data", "foreign", "written", "gradient read", "gradient set", "no gradient"
]


class Ops(NamedTuple):
    """The operations since the last boundary, in order."""

    ops: tuple[Op, ...]


class HeldGraphs(NamedTuple):
    """Values with a graph that these lines made in so many traced `iterations` are all still there, up to `age`
    iterations later. `holder`: the attribute or the global that has the oldest of them in its containers."""

    sites: tuple[Site, ...]
    iterations: int
    age: int
    holder: str = ""


class Failed(NamedTuple):
    """PyTorch's autograd refused (an in-place write on a leaf, a deepcopy of a graph tensor …), for a reason that
    `torch_errors.TABLE` lists as `kind`. The tensor was this parameter or value, and an object of the class `holder`
    had it in an attribute. `origin`: the line behind the one that raised, such as an `inference_mode` block, the
    backward of a custom function or a checkpointed function. `explain`: it ended the script, or somebody asks."""

    kind: str
    site: Site
    message: str
    pid: ParamId = NOBODY
    value: ValueId = NOTHING
    attribute: str = ""
    holder: str = ""
    origin: Site = NOWHERE
    explain: bool = False


# -- environments -----------------------------------------------------------------------------------

End = Literal["", "truncated", "terminated", "ended", "reset", "done"]
"""How a transition ended its episode: not at all; `ended` where nobody can tell how; `done` where the environment said
so with its only flag, and the script started anew; `reset` is no transition but a step that was spent on that."""


class Environment(NamedTuple):
    """An environment was stepped for the first time: its class, how many copies of it run side by side, when those
    start anew, whether it keeps a library's contract, by which a reward is to be made large, and whether one call steps
    all copies `together`, be it a single one."""

    kind: str
    copies: int
    autoreset: Literal["", "next step", "same step"] = ""
    rewards: bool = False
    together: bool = False


class Transition(NamedTuple):
    """One step of one copy of an environment (a `stream`). `clock`: the newest value when it was taken, where every
    operation was looked at: what chose its action was made before. `length`: of the episode that it ended. `action`:
    what `step` was given, where that is a few numbers."""

    stream: int
    step: int
    reward: float
    end: End = ""
    clock: int = 0
    length: int = 0
    action: tuple[float, ...] = ()


class Rows(NamedTuple):
    """The rows of this value are observations, or rewards that nothing else was given: each of that transition (an
    index; -1: of none that is known). "alike": places that recur, each with one of the steps that led there; all of
    these gave the same reward, and all of them ended an episode or none did."""

    value: ValueId
    part: Literal["observation", "next observation", "reward", "alike"]
    at: tuple[int, ...]


class Numbers(NamedTuple):
    """What a value consists of, row by row."""

    value: ValueId
    numbers: tuple[float, ...]


class Experience(NamedTuple):
    """What the environments have said, as far as it may have reached the loss that is about to be differentiated."""

    transitions: tuple[Transition, ...]
    rows: tuple[Rows, ...] = ()
    numbers: tuple[Numbers, ...] = ()


# -- the course of the run --------------------------------------------------------------------------


class Turn(NamedTuple):
    """A loop that updates its parameters by hand has come round once more."""


class IterationEnd(NamedTuple):
    """An iteration that was recorded is over; those that only repeat are counted by `Repeated`."""


class Repeated(NamedTuple):
    """`times` further iterations went exactly like ones already recorded."""

    times: int


class Resumed(NamedTuple):
    """After iterations that were let through unseen: what the gradients hold now is of unknown origin."""


class Magnitude(NamedTuple):
    """Norms of one parameter at one step; `update` is negative where nobody looked."""

    pid: ParamId
    gradient: float
    weight: float
    update: float


class LossValue(NamedTuple):
    """`site` is the line of its backward."""

    site: Site
    value: float


HalfType = Literal["bfloat16", "float16"]


class Unmoved(NamedTuple):
    """Of the numbers of a parameter in half precision that have had a gradient, this share is what it was at first."""

    pid: ParamId
    dtype: HalfType
    share: float
    lr: float


class Sample(NamedTuple):
    """Magnitudes at one step, taken now and then: what the charts are drawn from. `clipped` is the norm before
    clipping divided by the limit, where this step was clipped."""

    iteration: int
    oid: OptimizerId
    norms: tuple[Magnitude, ...]
    losses: tuple[LossValue, ...] = ()
    clipped: float = 0.0
    unmoved: tuple[Unmoved, ...] = ()


class ChartPoint(NamedTuple):
    """The same, taken for those who draw. No rule judges by it, so that drawing changes no finding."""

    of: Sample


class GradientDigest(NamedTuple):
    pid: ParamId
    digest: str
    direction: tuple[
        float, ...
    ] = ()  # its shares of a few fixed directions: the same where only its length differs


class Consumed(NamedTuple):
    """The very bits of the gradients that a step is about to take, and of those that other optimizers' parameters hold
    at that moment. Told only in the trial runs of `gradsan fix`; no rule judges by it."""

    oid: OptimizerId
    site: Site
    taken: tuple[GradientDigest, ...]
    waiting: tuple[GradientDigest, ...] = ()


Reason = Literal[
    "", "first", "asked", "random", "late network", "unlike", "unexpected boundary", "new parameters", "odd loss",
    "other graph", "returning", "ends",
]  # fmt: skip


class Attention(NamedTuple):
    """The observer became deep or light, and why."""

    deep: bool
    reason: Reason = ""


BlindSpot = Literal["transforms", "compiled", "compiled values", "packed", "subclass", "deep graph"]


class Blind(NamedTuple):
    """The observer could not look somewhere."""

    spot: BlindSpot
    site: Site


class Fault(NamedTuple):
    """Something inside gradsan broke; the tap it happened in went quiet."""

    tap: str
    traceback: str
    installing: bool = False  # it was never in place, so what the others see is whole


# -- many processes ---------------------------------------------------------------------------------


class Group(NamedTuple):
    """This process has joined others: it is this one (`rank`) of so many (`world`)."""

    rank: int
    world: int
    local_rank: int = -1
    backend: str = ""


class Wrapped(NamedTuple):
    """A network was wrapped so that the ranks of a group average its gradients. `members`: of that group. `hook`: the
    function that averages instead of PyTorch's own; told once more where it is set later."""

    number: int
    site: Site
    params: tuple[ParamId, ...]
    members: int
    unused_allowed: bool = False
    hook: str = ""
    chain: Chain = DIRECT


class Unreduced(NamedTuple):
    """A wrapper refused to go on: the last backward gave these parameters no gradient, and other ranks wait for it."""

    site: Site
    wrapper: int
    params: tuple[ParamId, ...]


class Collective(NamedTuple):
    """The script itself exchanges gradients of these parameters between ranks, or weights, or copies those of one rank
    to all. Told once for each."""

    site: Site
    of: Literal["gradient", "weight", "copy"]
    params: tuple[ParamId, ...]


class Digest(NamedTuple):
    """What other ranks are compared with: norm and sum of the gradient that a step consumes, and of the weight before
    it."""

    pid: ParamId
    gradient: float
    gradient_sum: float
    weight: float
    weight_sum: float


class Passes(NamedTuple):
    """Forwards through a wrapper since the step before, with gradients on: to be averaged, or not (`no_sync`)."""

    wrapper: int
    averaged: int
    local: int


class RankStep(NamedTuple):
    """A step of one rank of several, taken now and then. `last`: no step, but how the weights are at the end."""

    iteration: int
    oid: OptimizerId
    site: Site
    digests: tuple[Digest, ...]
    passes: tuple[Passes, ...] = ()
    last: bool = False


Event = (
    SiteSeen
    | ChainSeen
    | ParamSeen
    | ParamReborn
    | ParamNamed
    | ParamFlag
    | OptimizerSeen
    | OptimizerGone
    | Sync
    | Backward
    | Step
    | StepDone
    | ZeroGrad
    | Clip
    | Scaling
    | DeadCheckpoint
    | Ops
    | HeldGraphs
    | Failed
    | Environment
    | Experience
    | Turn
    | IterationEnd
    | Repeated
    | Resumed
    | Sample
    | ChartPoint
    | Consumed
    | Attention
    | Blind
    | Fault
    | Group
    | Wrapped
    | Unreduced
    | Collective
    | RankStep
)

EVENT_TYPES: dict[str, type[Any]] = {t.__name__: t for t in Event.__args__}
