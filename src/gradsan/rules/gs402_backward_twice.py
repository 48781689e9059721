"""GS402: a second backward through a graph whose saved values are gone."""

from __future__ import annotations

from gradsan.judge.flow import unshaped
from gradsan.judge.leaks.weights_of_scores import as_a_weight
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.before_the_loop import made_before_loop
from gradsan.judge.lines.callers import helpers_behind, parting, used_in, way_of
from gradsan.judge.lines.carried_names import carried_by_source
from gradsan.judge.lines.carriers import carried_by, emptied_in_vain, is_kept, put_away_by
from gradsan.judge.lines.source import names_bound_at, words_at
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import NOWHERE, Backward, Op, Site, ValueId
from gradsan.record.torch_errors import kind_of
from gradsan.rules.base import Rule, Verdict, Verdicts

WRITING = {"setitem", "copy", "index_put", "index_copy"}


class BackwardTwice(Rule):
    code = "GS402"
    name = "backward-twice"
    severity = "error"
    what = """
        Two backward calls went through the same part of the graph, and the first one had freed what it
        needed. The finding names the tensor that both losses were built on.
    """
    why = """
        In RL the shared tensor is usually something kept from the past: a recurrent state carried into
        the next iteration, log-probabilities stored in a buffer, a return that two losses use.
        `retain_graph=True` silences the error and keeps the mistake: the old part of the graph was
        computed with weights that have been changed since.
    """
    symptom = """
        The run ends with `Trying to backward through the graph a second time`, typically in the second
        iteration. With `retain_graph=True` it goes on, and gets slower with every update.
    """
    fix = (
        "detach what is carried over (`h = h.detach()`), recompute stored log-probabilities with the present "
        "weights, or add the losses and call backward once"
    )
    deliberate = """
        Two losses of one forward pass may be backwarded one after the other: then `retain_graph=True`
        on the first is right. Adding the losses and calling backward once is simpler.
    """
    bad = (
        """
        import torch
        rnn = torch.nn.GRUCell(3, 4)
        opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
        h = torch.zeros(8, 4)
        for _ in range(3):
            h = rnn(torch.randn(8, 3), h)  # BUG
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        z = torch.tanh(net(torch.randn(8, 3)))
        loss_a, loss_b = z.mean(), z.pow(2).mean()
        loss_a.backward()
        loss_b.backward()  # BUG
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        s, r = torch.randn(8, 3), torch.randn(8)
        for _ in range(3):
            value_loss = (critic(s).squeeze(-1) - r).pow(2).mean()
            policy_loss = -(torch.log_softmax(actor(s), -1)[:, 0] * r).mean()
            opt.zero_grad()
            (policy_loss + value_loss).backward(); (policy_loss + value_loss).backward()  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        rnn = torch.nn.GRUCell(3, 4)
        opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
        h = torch.zeros(8, 4)
        for _ in range(3):
            h = rnn(torch.randn(8, 3), h.detach())
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        if not event.error or kind_of(event.error) != "graph-freed":
            return
        first, shared = self._shared(event)
        sites = [("backward", event.site)]
        if first is not None:
            sites.insert(0, ("first backward", first.site))
        if shared is None:
            yield self._by_source(event, sites)
            return
        sites.insert(0, ("shared tensor", shared.site))
        sites[1:1] = [("network asked", site) for site in helpers_behind(self.history, shared)]
        if (again := self._used_again(shared, event)) is not None:
            sites.insert(1, ("use", again.site))
        assert first is not None
        made_in = self.history.graph.iteration_of.get(shared.nid, 0)
        old = made_in < self.history.iteration and bool(first.consumed_pids())
        what = value_at(self.history, shared.site, "a tensor")
        carried = (
            "was made in an earlier iteration and "
            if old and not self._is_of_this_round(first, event)
            else ""
        )
        stored = self._stored(shared, event) if old else None
        if stored is not None and stored.site != shared.site:
            sites.insert(0, ("stored with its graph", stored.site))
            where = line(self.history, stored.site)
            later = stored.nid > shared.nid
            carried += (
                f"is kept with its graph by {where}; it "
                if later
                else f"holds the graph of what {where} stored; it "
            )
        # One line that sends both backward stands in a loop: what every round takes along was made outside of it.
        in_loop = first.site == event.site
        taken = self._taken_along(shared, first) or as_a_weight(self.history, shared, first, event)
        if taken is not None:
            sites.insert(0, ("use", taken.site))
        # Another loss was meant: where it was made is right.
        mistaken = first.site != event.site and _is_root(shared, event) and _is_root(shared, first.event)
        apart = old or bool(first.consumed_pids())
        second = (
            self._second_use(shared, first, event) if taken is None and stored is None and apart else NOWHERE
        )
        is_carried = old and not mistaken and not second
        made = unshaped(self.history.graph, shared) if taken is not None and in_loop else shared
        carrier = (
            (stored.site if stored else self._carrier(made, event)) if is_carried else second or event.site
        )
        if is_carried and not stored and carrier != shared.site:
            sites.insert(0, ("carried over", carrier))
        if is_carried and (emptied := emptied_in_vain(self.history, carrier)):
            carrier = emptied
            sites.insert(0, ("emptied in vain", emptied))
        elif in_loop and not stored and (before := made_before_loop(self.history, shared, event)):
            carrier = before
            sites.insert(0, ("made before the loop", before))
        by_helper = taken is not None and self._serves_both(taken, shared, event)
        if by_helper:
            carrier = carried_by(self.history, shared)
            sites.insert(0, ("carried over", carrier))
        yield Verdict(
            taken.site if taken is not None and not by_helper and not (in_loop and is_carried) else carrier,
            f"{what} ({line(self.history, shared.site)}) {carried}went through backward on "
            f"{line(self.history, first.site)}, which freed its graph; backward on "
            f"{line(self.history, event.site)} needs it again",
            sites,
            event.reached,
        )

    def _carrier(self, made: Op, event: Backward) -> Site:
        again, root = self._used_again(made, event), self.history.graph.get(event.roots[0].nid)
        away = (
            put_away_by(self.history, made, again, root)
            if again is not None and root is not None
            else NOWHERE
        )
        return away or carried_by(self.history, made)

    def _by_source(self, event: Backward, sites: list[tuple[str, Site]]) -> Verdict:
        """Nobody has traced what this loss was made of."""
        message = "this backward needs values that an earlier backward has freed"
        carrier = carried_by_source(self.history, event)
        if not carrier:
            return Verdict(event.site, message, sites, event.reached)
        message += ": by its source, what was made here goes through backward in every round of the loop"
        return Verdict(carrier, message, [("carried over", carrier), *sites], event.reached)

    def _taken_along(self, shared: Op, first: Contribution) -> Op | None:
        """Where the first loss takes the shared value up, if what was stepped upon that loss has no part in the value:
        another's loss is to train what has, and to this one it is a number (the log-probability in a temperature's
        loss, the value in an advantage)."""
        graph, consumed = self.history.graph, first.consumed_pids()
        behind = graph.live_params([shared.nid])
        if not consumed or not behind or consumed & behind or _is_root(shared, first.event):
            return None
        theirs = graph.live_ancestors(root.nid for root in first.event.roots)
        users = [theirs[nid] for nid in graph.consumers.get(shared.nid, ()) if nid in theirs]
        return min(users, key=lambda op: op.nid, default=None)

    def _serves_both(self, taken: Op, shared: Op, event: Backward) -> bool:
        """One line of a helper (a network's forward) takes it up for both losses: the place for a `detach` is where it
        was made for them."""
        again = self._used_again(shared, event)
        outside = parting(self.history, way_of(self.history, taken), way_of(self.history, shared))
        return again is not None and again.site == taken.site and outside > 0

    def _second_use(self, shared: Op, first: Contribution, event: Backward) -> Site:
        """Where this loss takes up what was live for another one of the same round, by right: after the step it is to
        be a number here. Nowhere, where the value comes from an earlier round."""
        history = self.history
        newest = self._is_of_this_round(first, event)
        if newest and not self._has_other_parts(shared, event):
            return NOWHERE  # as a number it would leave nothing to learn
        taught = first.consumed_pids() & history.graph.live_params([shared.nid])
        again, root = self._used_again(shared, event), history.graph.get(event.roots[0].nid)
        if not newest or not taught or again is None or root is None:
            return NOWHERE
        made, use = history.sites.get(carried_by(history, shared)), used_in(history, again, root)
        seen = history.sites.get(use)
        if made is None or seen is None or made.file != seen.file:
            return NOWHERE
        by_name = names_bound_at(made.file, made.line) & words_at(seen.file, seen.line)
        return use if by_name else NOWHERE

    def _is_of_this_round(self, first: Contribution, event: Backward) -> bool:
        """Though a step has come between, both are of one round of the loop."""
        same = [c for c in self.history.ledger.recent.values() if c.site == first.site]
        return first.site != event.site and bool(same) and same[-1] is first

    def _has_other_parts(self, shared: Op, event: Backward) -> bool:
        """Whether this loss has parameters past the shared value."""
        roots = [root.nid for root in event.roots]
        past = self.history.graph.ancestors(roots, lambda user, _: user.live and user.nid != shared.nid)
        return any(params_of(op) for op in past.values())

    def _used_again(self, shared: Op, event: Backward) -> Op | None:
        """Where this loss takes the shared value up: the place for a `detach`."""
        graph = self.history.graph
        mine = graph.live_ancestors(root.nid for root in event.roots)
        users = [mine[nid] for nid in graph.consumers.get(shared.nid, ()) if nid in mine]
        return max(users, key=lambda op: op.nid, default=None)

    def _stored(self, shared: Op, event: Backward) -> Op | None:
        """The first write of a value with a graph into a buffer without one, among what the shared value was made
        of, or what was made of it until it came to this loss; else what was made of it to be kept in a container."""
        graph = self.history.graph
        mine = graph.live_ancestors(root.nid for root in event.roots)
        onward = {nid: mine[nid] for nid in graph.descendants([shared.nid], mine)}
        for _, op in sorted((graph.live_ancestors([shared.nid]) | onward).items()):
            sources = list(graph.inputs(op))
            if op.name in WRITING and op.site and len(sources) > 1 and not sources[0].live:
                return op
        return next(
            (op for _, op in sorted(onward.items()) if op is not shared and is_kept(self.history, op)), None
        )

    def _shared(self, event: Backward) -> tuple[Contribution | None, Op | None]:
        """The newest value that this loss has in common with a loss that went backward before."""
        graph = self.history.graph
        mine = graph.live_ancestors(root.nid for root in event.roots)
        best: tuple[Contribution | None, Op | None] = (None, None)
        for other in self.history.ledger.recent.values():
            if other.bid == event.bid or other.event.error:
                continue
            theirs = graph.live_ancestors(root.nid for root in other.event.roots)
            both = mine.keys() & theirs.keys() | _other_results(mine, theirs)
            common = [n for n in both if mine[n].inputs and mine[n].site]
            if common and (best[1] is None or max(common) > best[1].nid):
                best = (other, mine[max(common)])
        if best[0] is None:
            earlier = [c for c in self.history.ledger.recent.values() if c.bid != event.bid]
            return (earlier[-1] if earlier else None), None
        return best


def _other_results(mine: dict[ValueId, Op], theirs: dict[ValueId, Op]) -> set[ValueId]:
    """Values of one loss that an operation made together with values of the other: a recurrent layer gives its outputs
    to one, and its state to the next."""
    made = {(op.name, op.inputs): op.facts.part for op in theirs.values() if op.inputs}
    return {nid for nid, op in mine.items() if made.get((op.name, op.inputs), op.facts.part) != op.facts.part}


def _is_root(op: Op, event: Backward) -> bool:
    return any(root.nid == op.nid for root in event.roots)


rule = BackwardTwice
