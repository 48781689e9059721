"""Which cut keeps which parameters from learning.

A cut by itself is no bug: targets and advantages are cut on purpose. It is one where the cut-off parameters
are supposed to learn from that loss and do not:

* *dead term*: a summand of the loss is made of parameters that the loss is there to train, and no gradient
  flows from it to any parameter that anybody steps;
* *starved parameter*: its optimizer steps again and again without any gradient for it, while its value does
  flow into a loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.lines.callers import NEW_TENSORS
from gradsan.judge.missing.around_the_loss import switches_around
from gradsan.judge.missing.dead_expectations import dead_expectations
from gradsan.judge.missing.dead_weights import dead_weights
from gradsan.judge.missing.exported_values import exported, weighs_numbers
from gradsan.judge.missing.half_cuts import half_cuts
from gradsan.judge.missing.half_scores import half_scores
from gradsan.judge.missing.latents import drawn_latents, judged_choices
from gradsan.judge.missing.passed_through import passed_through
from gradsan.judge.missing.preferences import constant_sides
from gradsan.judge.missing.stacked_losses import summands_of
from gradsan.judge.provenance import SHAPED_LIKE, Provenance, params_of
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.record.events import DRAWING, Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution

STARVED_STEPS = 3
# Where a constant meets what is trained, element by element.
COMPARING = LIBRARY_LOSSES | {"mul", "div", "add", "sub", "rsub", "rdiv", "min", "max", "minimum", "maximum"}

NORMALISING = {"softmax", "log_softmax", "logsumexp"}


@dataclass(slots=True)
class Cut:
    """A cut that matters: the operation, the parameters it cuts off, whether it is a choice of action."""

    op: Op
    pids: set[ParamId]
    choice: bool


class CutFinder:
    def __init__(self, history: History) -> None:
        self.history = history
        self._steps_when_seen: dict[ParamId, int] = {}
        self.constants: dict[
            int, Site
        ] = {}  # by parameter, the line that makes one of it: an advantage, a target

    def of(self, contribution: Contribution) -> list[Cut]:
        """The cuts that matter in this loss."""
        if contribution.event.error or contribution.event.call != "backward":
            return []
        found = (
            self.exported(contribution)
            or self.dead_terms(contribution)
            or self.dead_bounds(contribution)
            or self.draws(contribution)
            or self.dead_sides(contribution)
            or self.halves(contribution)
            or self.weights(contribution)
        )
        starved = self.starved(contribution, {pid for cut in found for pid in cut.pids})
        return found if starved is None else [*found, starved]

    def in_loss(self, roots: list[ValueId], wanted: set[ParamId]) -> Cut | None:
        """The cut between these parameters and these values that explains the most, nearest the loss."""
        return _telling(self._between(roots, wanted))

    def in_prediction(self, roots: list[ValueId], wanted: set[ParamId]) -> Cut | None:
        """As `in_loss`, for a loss without any graph: what was cut on its way into a target was so by right, if the
        same parameters were cut elsewhere, too; so was what weighs a log-probability."""
        graph, found = self.history.graph, self._between(roots, wanted)
        within = graph.ancestors(roots)
        switches = switches_around(self.history, roots, [cut.op for cut in found])
        if switches:
            return _telling([cut for cut in found if cut.op.facts.grad_off in switches])
        for op in filter(None, map(graph.get, roots)):
            score = self._score(op, wanted)
            if score is not None and not _is_of_target(graph, score.op, within):
                return score
        others = [cut for cut in found if not _is_of_target(graph, cut.op, within)]
        best, second = _telling(found), _telling(others)
        return second if best is not None and second is not None and best.pids <= second.pids else best

    def _between(self, roots: list[ValueId], wanted: set[ParamId]) -> list[Cut]:
        graph = self.history.graph
        found = [(op, behind & wanted) for op, behind in flow.cuts_behind(graph, roots).values()]
        return [Cut(op, pids, flow.is_choice(graph, op)) for op, pids in found if pids]

    def exported(self, contribution: Contribution) -> list[Cut]:
        left = exported(self.history, contribution)
        return [Cut(*left, False)] if left is not None else []

    def dead_terms(self, contribution: Contribution) -> list[Cut]:
        """Cuts in summands whose gradient nobody consumes."""
        graph = self.history.graph
        owned = self._trained_by(contribution)
        consumed = contribution.consumed_pids()
        found = []
        for root in contribution.event.roots:
            op = graph.get(root.nid)
            if op is None or not owned:
                continue
            summands = summands_of(graph, op)
            if flow.is_straight_through(graph, summands):
                continue
            for term in summands:
                if term.op.live and graph.live_params([term.op.nid]) & consumed:
                    continue
                if flow.weighs_nothing(graph, term.op):
                    continue
                wanted = graph.value_params([term.op.nid]) & owned
                wanted = wanted - consumed or wanted  # those first that get nothing at all
                cut = self.in_loss([term.op.nid], wanted) if wanted else None
                if cut is None or self._is_by_right(term, summands, cut, root.nid):
                    continue
                score = self._score(term.op, wanted)
                by_right = score is None or self._is_by_right(term, summands, score, root.nid)
                found.append(cut if score is None or by_right else score)
        return found

    def _is_by_right(self, term: flow.Term, summands: list[flow.Term], cut: Cut, root: ValueId) -> bool:
        return (
            self._is_reference(term, summands, cut)
            or self._is_forgotten(term, cut)
            or self._is_of_older_weights(cut, root)
            or self._is_scored(cut, root)
            or self._is_offset(term, cut, root)
            or weighs_numbers(self.history.graph, term.op, cut.op)
        )

    def _score(self, term: Op, wanted: set[ParamId]) -> Cut | None:
        """The newest log-probability in a term that is a constant as a whole: what weighs it is one by right. Not one
        that belongs to what was cut as a whole later on."""
        graph = self.history.graph
        within, cuts = graph.ancestors([term.nid]), self._between([term.nid], wanted)
        found = [cut for cut in cuts if not cut.choice and _scores_a_choice(graph, cut.op, within)]
        inside = {nid for cut in cuts for nid in graph.ancestors([cut.op.nid]) if nid != cut.op.nid}
        best = _telling([cut for cut in found if cut.op.nid not in inside])
        if best is None:
            return None
        # In a block without gradients every layer is a cut of its own.
        same = [cut.pids for cut in cuts if flow.culprit_of(cut.op) == flow.culprit_of(best.op)]
        return Cut(best.op, set().union(*same), False)

    def dead_bounds(self, contribution: Contribution) -> list[Cut]:
        """`min(ratio.detach() * a, ratio.clamp(…) * a)`: of two sides of which one only bounds the other, the one
        that teaches beyond the bound is cut. Or one of twins that judge the same action, `min(q1(a), q2(a).data)`."""
        graph, found = self.history.graph, []
        live_values = graph.live_ancestors(root.nid for root in contribution.event.roots)
        for op in graph.named(live_values, flow.BOUNDING):
            sides = [i for i in graph.inputs(op) if i.floating]
            if len(sides) != 2 or sides[0].live == sides[1].live:
                continue
            dead, live = sides if sides[1].live else sides[::-1]
            behind = graph.live_ancestors([live.nid])
            bounded = [i for o in behind.values() if o.name == "clamp" for i in graph.inputs(o)]
            # `old + (value - old).clamp(…)`: what is bounded is how far the value has gone.
            moved = [i for o in bounded if o.name in ("sub", "rsub") for i in graph.inputs(o) if i.live]
            clamped = {i.nid for i in (*bounded, *moved)}
            if self._is_twin(dead, live, contribution.consumed_pids()):
                found.append(Cut(dead, graph.value_params([dead.nid]) & contribution.consumed_pids(), False))
            for cut, pids in flow.cuts_behind(graph, [dead.nid]).values():
                if clamped.intersection(i.nid for i in graph.inputs(cut)):
                    found.append(Cut(cut, pids, False))
        return found

    def dead_sides(self, contribution: Contribution) -> list[Cut]:
        """One side of a preference."""
        roots = [root.nid for root in contribution.event.roots]
        sides = constant_sides(self.history.graph, roots, contribution.consumed_pids())
        found = [self.in_loss([op.nid], pids) for op, pids in sides]
        return [cut for cut in found if cut is not None and not cut.choice]

    def _is_twin(self, dead: Op, live: Op, trained: set[ParamId]) -> bool:
        """Whether a value was taken out of its graph, and the one beside it comes by the same operation from another
        network that what is trained here goes through as well."""
        graph = self.history.graph
        source = next(graph.inputs(dead), None) if dead.name in flow.TAKEN_OUT else None
        if source is None or (source.name, source.shape) != (live.name, live.shape):
            return False
        one, other = graph.live_params([live.nid]), graph.live_params([source.nid])
        return bool(one & trained) and one & trained == other & trained and one != other

    def draws(self, contribution: Contribution) -> list[Cut]:
        """`torch.bernoulli(p)` of a live value, and no other way from the loss to what it was made of: PyTorch gives
        such a draw a gradient of zero, so that nothing seems to be missing."""
        graph, roots = self.history.graph, [root.nid for root in contribution.event.roots]
        trained = self._trained_by(contribution)
        drawn = [op for op in graph.named(graph.ancestors(roots), DRAWING) if not op.tags]
        lost = trained - graph.live_params(roots) if drawn else set()
        found = [Cut(op, graph.value_params([op.nid]) & lost, True) for op in drawn]
        latents = (*drawn_latents(graph, roots, trained), *judged_choices(graph, roots, trained))
        return [cut for cut in found if cut.pids] or [Cut(op, pids, True) for op, pids in latents]

    def halves(self, contribution: Contribution) -> list[Cut]:
        graph, trained = self.history.graph, self._trained_by(contribution)
        roots = [root.nid for root in contribution.event.roots]
        found = [
            *half_cuts(graph, roots, trained),
            *half_scores(graph, roots, trained),
            *passed_through(graph, roots, trained),
        ]
        return [Cut(op, pids, False) for op, pids in found]

    def weights(self, contribution: Contribution) -> list[Cut]:
        graph, trained = self.history.graph, self._trained_by(contribution)
        roots = [root.nid for root in contribution.event.roots]
        found = [*dead_weights(graph, roots, trained), *dead_expectations(graph, roots, trained)]
        return [Cut(op, pids, False) for op, pids in found]

    def _trained_by(self, contribution: Contribution) -> set[ParamId]:
        """The parameters of the optimizers that step on this loss, targets left out."""
        history = self.history
        optimizers = [history.optimizers[oid] for oid in contribution.consumers()]
        owned = {pid for o in optimizers for pid in o.params}.union(contribution.by_hand)
        if contribution.by_hand:  # the script looks for the gradients of all that it means to train
            owned |= history.hand.missing - history.ever_fed
        trained = {
            pid for pid in owned if history.params[pid].requires_grad and not history.networks.is_target(pid)
        }
        return trained | self._lent_to(owned, contribution)

    def _lent_to(self, owned: set[ParamId], contribution: Contribution) -> set[ParamId]:
        """The parameters of a worker that lends its gradients to these, also those that have none to lend."""
        copies = self.history.networks.copies
        lending = (copies[pid] for pid in contribution.consumed_pids() - owned if pid in copies)
        synced_at = {copy.site for copy in lending if copy.source in owned}
        return {pid for pid, copy in copies.items() if copy.source in owned and copy.site in synced_at}

    def _is_reference(self, term: flow.Term, summands: list[flow.Term], cut: Cut) -> bool:
        """`logp - old_logp`: the constant twin of a live term, with the other sign, belongs there."""
        if cut.choice:
            return False
        graph = self.history.graph
        constant = flow.inner(graph, term)
        return any(
            other.op.live
            and other.sign == -constant.sign
            and not _counts_otherwise(other, constant)
            and flow.same_kind(graph, constant.op, other.op)
            and cut.pids <= graph.live_params([other.op.nid])
            for other in summands
        )

    def _is_scored(self, cut: Cut, root: ValueId) -> bool:
        """A number was drawn whose log-probability this very loss trains (a token, an action): what else is looked up
        with it, such as a reference's score, is a constant by right."""
        if not cut.choice or cut.op.floating:
            return False
        graph = self.history.graph
        drawn = graph.descendants([cut.op.nid], graph.ancestors([root]))
        numbers = {nid for nid in drawn if not graph.ops[nid].floating}
        users = (op for op in graph.live_ancestors([root]).values() if numbers.intersection(op.inputs))
        return any(cut.pids <= graph.live_params([user.nid]) for user in users)

    def _is_of_older_weights(self, cut: Cut, root: ValueId) -> bool:
        """What was computed before the last step (the loss before, as something to improve on) is a constant by right:
        the weights that it was made with are no more."""
        graph = self.history.graph
        then, now = (
            self._epochs(ops) for ops in (graph.ancestors([cut.op.nid]), graph.live_ancestors([root]))
        )
        return all(pid in then and pid in now and then[pid] < now[pid] for pid in cut.pids)

    def _epochs(self, ops: dict[ValueId, Op]) -> dict[ParamId, int]:
        """By parameter, after how many steps it was read last."""
        found: dict[ParamId, int] = {}
        for nid in ops:
            if (read := self.history.param_nodes.get(nid)) is not None:
                found[read[0]] = max(read[1], found.get(read[0], 0))
        return found

    def _is_forgotten(self, term: flow.Term, cut: Cut) -> bool:
        """A regression that trains a network which no optimizer owns: its target is cut by right, and the network
        is GS205's."""
        graph = self.history.graph
        if not term.op.live:
            return False
        trained = graph.live_params([term.op.nid])
        users = {op.nid for op in flow.param_users(graph, graph.live_ancestors([term.op.nid]), trained)}
        return not flow.is_linear_in(graph, term.op, users) and self._is_constant([term.op], cut, trained)

    def _is_offset(self, term: flow.Term, cut: Cut, root: ValueId) -> bool:
        """`(live + constant) * weight`: what is added to a live value before both are weighed is part of that
        value, such as the Jacobian of a squashed action in its log-probability. The live value teaches. So it is
        where the loss takes a power of the sum as well, as in `exp(error) - error`, or weighs it in one of its terms
        and averages it in another. Of a choice only what is made of it alone can belong to such a value, and only to
        one that scores that very choice."""
        graph, op, joined = self.history.graph, term.op, False
        if cut.choice and not graph.value_params([op.nid]) <= graph.value_params([cut.op.nid]):
            return False
        within, trained = graph.ancestors([root]), graph.live_ancestors([root])
        while True:
            onward = trained if op.live else within  # a use that is detached later on teaches nothing
            users = [onward[n] for n in graph.consumers.get(op.nid, ()) if n in onward]
            if len(users) != 1:
                bent = (u.live and (u.name not in flow.LINEAR or _weighs(u, cut)) for u in users)
                return joined and any(bent)
            op = users[0]
            if op.name in ("add", "sub", "rsub") and op.live:
                joined = joined or (cut.pids <= graph.live_params([op.nid]) and self._scores(op, cut))
            elif _weighs(op, cut):
                return joined
            elif op.name not in flow.LINEAR:
                return False

    def _scores(self, op: Op, cut: Cut) -> bool:
        graph = self.history.graph
        live = [i.nid for i in graph.inputs(op) if i.live]
        return not cut.choice or cut.op.nid in graph.ancestors(live)

    def starved(self, contribution: Contribution, dead: set[ParamId]) -> Cut | None:
        """A parameter that keeps flowing into this loss while its optimizer steps without it."""
        history, graph = self.history, self.history.graph
        roots = [root.nid for root in contribution.event.roots]
        values = graph.value_params(roots) - set(contribution.event.fed) - dead
        hungry: set[ParamId] = set()
        for pid in values:
            param = history.params[pid]
            owners = history.owner_of(pid)
            if not owners or not param.requires_grad or param.epoch or history.networks.is_target(pid):
                continue
            steps = max(o.steps for o in owners)
            first = self._steps_when_seen.setdefault(pid, steps)
            if steps - first < STARVED_STEPS or pid in history.explained:
                continue
            if not any(history.uncalled("backward", o.last_step) for o in owners):
                hungry.add(pid)
        if not hungry:
            return None
        loss = [op for nid in roots if (op := graph.get(nid)) is not None]
        found = self._function(roots, hungry) or self._between(roots, hungry)
        # A loss that nobody steps upon teaches nobody; what it weighs or aims at is a constant all the same, if what
        # it feeds is somebody's to train.
        owned = {pid for pid in contribution.event.fed if self.history.owner_of(pid)}
        taught = contribution.consumed_pids() or owned
        telling = [c for c in found if not self._is_constant(loss, c, taught)]
        if not telling and (cut := _telling(found)) is not None:
            self.constants.update(dict.fromkeys(cut.pids, flow.culprit_of(cut.op)))
        return _telling(telling)

    def _function(self, roots: list[ValueId], hungry: set[ParamId]) -> list[Cut]:
        """A custom function that the graph leads through, and that gave nothing back."""
        graph = self.history.graph
        within = graph.live_ancestors(roots)
        for op in within.values():
            # What this loss does not ask for may be all that a parameter has a part in.
            if "function" not in op.tags or any(r.nid not in within for r in flow.live_results(graph, op)):
                continue
            if pids := graph.live_params([op.nid]) & hungry:
                return [Cut(op, pids, False)]
            # What it calls inside seems cut off there; but it is its backward that ought to feed it.
            hidden = self._between([op.nid], graph.value_params([op.nid]) & hungry)
            if hidden and all(self._is_inside(cut.op, op) for cut in hidden):
                return [Cut(op, {pid for cut in hidden for pid in cut.pids}, False)]
        return []

    def _is_inside(self, cut: Op, function: Op) -> bool:
        """Whether the cut was made by the forward of this function: gradients are off in there, and it is called from
        the line that applies it."""
        history = self.history
        if "no_grad" not in cut.tags:
            return False
        return function.site in history.chains.get(cut.chain, ()) or cut.site == function.site

    def _is_constant(self, roots: list[Op], cut: Cut, trained: set[ParamId]) -> bool:
        """Whether the cut value only weighs or aims what the loss trains: an advantage, a target. Cutting
        it is right, and the parameters behind it want a loss of their own."""
        graph = self.history.graph
        dead = {t.op.nid for op in roots for t in summands_of(graph, op) if not t.op.live}
        within = graph.ancestors(op.nid for op in roots)
        stack, seen = [cut.op.nid], set()
        while stack:
            nid = stack.pop()
            if nid in dead:
                return False
            for user in (within[n] for n in graph.consumers.get(nid, ()) if n in within):
                if not user.live and user.nid not in seen:
                    seen.add(user.nid)
                    stack.append(user.nid)
                elif user.live and (
                    _is_of_a_score(graph, within[nid], user, cut)
                    or not (
                        self._compares(user, within, trained)
                        or _masks(within[nid], user)
                        or _selects(within[nid], user, cut)
                    )
                ):
                    return False
        return True

    def _compares(self, user: Op, within: dict[ValueId, Op], trained: set[ParamId]) -> bool:
        """Element by element with what is trained, and neither a layer nor a softmax comes after it on the way to the
        loss: those would make it a part of the network, a gate say. What a lone parameter is multiplied with to be the
        loss is what this multiplier (a temperature) is to weigh."""
        graph = self.history.graph
        if user.name not in COMPARING or not graph.live_params([user.nid]) & trained:
            return False
        onward = [within[nid] for nid in graph.descendants([user.nid], within)]
        after = [op for op in onward if op.nid != user.nid]
        if any(op.name in NORMALISING or any(map(params_of, graph.inputs(op))) for op in after):
            return False
        if not any(map(params_of, graph.inputs(user))):
            return True
        return user.name == "mul" and all(op.name in flow.LINEAR for op in after)


def _scores_a_choice(graph: Provenance, cut: Op, within: dict[ValueId, Op]) -> bool:
    """Whether the log-probability of something given is what was cut, or is made of it afterwards."""
    onward = (within[nid] for nid in graph.descendants([cut.nid], within))
    scored = [*graph.inputs(cut), *(op for op in onward if op.nid != cut.nid)]
    chosen = any(op.name == "gather" for op in scored) and any(op.name == "log_softmax" for op in scored)
    return chosen or any("log_prob" in op.tags for op in scored)


def _counts_otherwise(live: flow.Term, constant: flow.Term) -> bool:
    """Whether it is no twin: `kl - 0.05 * entropy.detach()` is made of the same spread, and is no difference."""
    if constant.weighed:
        return False
    return live.weighed or not 0.5 < live.factor / max(constant.factor, 1e-30) < 2


def _weighs(op: Op, cut: Cut) -> bool:
    """Element by element with another value. Zeros and ones leave out what was taken out of its graph, and weigh it
    not."""
    if op.name not in ("mul", "div") or len(op.inputs) != 2 or not op.shape:
        return False
    mask = op.facts.mask
    only_masks = mask is not None and (mask.low, mask.high) == (0.0, 1.0)
    return not (cut.op.name in flow.TAKEN_OUT and only_masks)


def _masks(op: Op, user: Op) -> bool:
    """It only says where: in `kl_divergence`, which probabilities are zero."""
    return not op.floating and user.name in ("where", "setitem", "masked_fill", "index_put")


def _selects(op: Op, user: Op, cut: Cut) -> bool:
    """What was chosen by the numbers that were cut only says which of the trained values count: another's action."""
    return cut.op.floating and not op.floating and user.name in ("gather", "getitem", "index_select")


def _is_of_a_score(graph: Provenance, op: Op, user: Op, cut: Cut) -> bool:
    """Whether the cut value is what a distribution is made of (its mean, beside a spread that learns), or the score of
    a choice, taken out of its graph to be added to another: not an advantage, and no target."""
    if cut.op.name not in flow.TAKEN_OUT or cut.choice:
        return False
    behind = graph.ancestors([cut.op.nid], lambda _, source: source.floating).values()
    if any({"sample", "rsample"}.intersection(o.tags) or flow.is_choice(graph, o) for o in behind):
        return False  # an action that is scored
    scored = any("log_prob" in i.tags for i in graph.inputs(cut.op))
    return "log_prob" in user.tags or (scored and user.name in ("add", "sub", "rsub"))


def _is_of_target(graph: Provenance, cut: Op, within: dict[ValueId, Op]) -> bool:
    """Whether a number that no network predicted, a reward, is added to it before it is compared."""
    stack, seen = [cut.nid], {cut.nid}
    while stack:
        for user in (within[n] for n in graph.consumers.get(stack.pop(), ()) if n in within):
            others = [i for i in graph.inputs(user) if i.nid not in seen and i.shape]
            if user.name == "add" and not all(_is_predicted(graph, i) for i in others):
                return True
            if user.nid not in seen and user.name not in LIBRARY_LOSSES | {"sub", "rsub"}:
                seen.add(user.nid)
                stack.append(user.nid)
    return False


def _is_predicted(graph: Provenance, op: Op) -> bool:
    """Whether a network had a part in it; not by a choice alone, as in what a world gives for an action."""
    behind = graph.ancestors([op.nid], lambda _, source: source.floating)
    return any(map(params_of, behind.values()))


def _telling(cuts: list[Cut]) -> Cut | None:
    """The one that explains the most, nearest the loss; a choice of action only where there is nothing else."""
    plain = [cut for cut in cuts if not cut.choice]
    return max(plain or cuts, key=lambda cut: (len(cut.pids), cut.op.nid), default=None)


def cause(history: History, cut: Cut) -> str:
    """What the cut does, in words."""
    op, name = cut.op, cut.op.name
    if op.live and "function" in op.tags:
        return f"`{name}.backward` gives no gradient back"
    if cut.choice:
        return f"`{'sample' if 'sample' in op.tags else name}` chooses, and a choice has no derivative"
    how = op.facts.grad_off_by
    if "inference_mode" in op.tags or "no_grad" in op.tags:
        mode = "inference_mode" if "inference_mode" in op.tags else "no_grad"
        return f"it is computed under `{mode}`" + (
            " (the decorator of its function)" if how == "decorator" else ""
        )
    words = {
        "detach": "`.detach()` takes it out of the graph",
        "data": "`.data` takes it out of the graph",
        "item": "`.item()` turns it into a Python number",
        "float": "`float()` turns it into a Python number",
        "tolist": "`.tolist()` turns it into Python numbers",
        "numpy": "`.numpy()` takes it out of the graph",
        "array": "NumPy takes it out of the graph",
        "grad": "`torch.autograd.grad` without `create_graph=True` gives constants",
    }
    if name in words:
        return words[name]
    if name in NEW_TENSORS:
        return f"`torch.{name}` copies the numbers into a new tensor, without their history"
    if name in SHAPED_LIKE:
        return f"`{name}` takes only its shape"
    if not op.floating:
        return f"`{name}` has no derivative (its result is not a real number)"
    return f"`{name}` passes no gradient on"
