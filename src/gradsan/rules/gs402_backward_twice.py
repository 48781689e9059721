"""GS402: a second backward through a graph whose saved values are gone."""

from __future__ import annotations

from gradsan.judge.flow import unshaped
from gradsan.judge.leaks.weights_of_scores import as_a_weight
from gradsan.judge.lines.before_the_loop import asked_before_loop, made_before_loop
from gradsan.judge.lines.callers import helpers_behind
from gradsan.judge.lines.carried_names import carried_by_source
from gradsan.judge.lines.carried_on import made_to_carry
from gradsan.judge.lines.carriers import carried_by, emptied_in_vain, put_away_by
from gradsan.judge.order.freed_graphs import FreedGraph, shared_with_earlier
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import NOWHERE, Backward, Op, Site
from gradsan.record.torch_errors import kind_of
from gradsan.rules.base import Rule, Verdict, Verdicts

Sites = list[tuple[str, Site]]


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
        first, shared = shared_with_earlier(self.history, event)
        sites = [("backward", event.site)]
        if first is not None:
            sites.insert(0, ("first backward", first.site))
        if first is None or shared is None:
            yield self._by_source(event, sites)
            return
        sites.insert(0, ("shared tensor", shared.site))
        sites[1:1] = [("network asked", site) for site in helpers_behind(self.history, shared)]
        freed = FreedGraph(self.history, shared, first, event)
        if (again := freed.used_again(shared)) is not None:
            sites.insert(1, ("use", again.site))
        stored = freed.stored() if freed.is_old else None
        message = self._message(freed, stored)
        if stored is not None and stored.site != shared.site:
            sites.insert(0, ("stored with its graph", stored.site))
        yield Verdict(self._culprit(freed, stored, sites), message, sites, event.reached)

    def _by_source(self, event: Backward, sites: Sites) -> Verdict:
        """Nobody has traced what this loss was made of."""
        message = "this backward needs values that an earlier backward has freed"
        carrier = carried_by_source(self.history, event)
        if not carrier:
            return Verdict(event.site, message, sites, event.reached)
        message += ": by its source, what was made here goes through backward in every round of the loop"
        return Verdict(carrier, message, [("carried over", carrier), *sites], event.reached)

    def _message(self, freed: FreedGraph, stored: Op | None) -> str:
        shared, history = freed.shared, self.history
        what = value_at(history, shared.site, "a tensor")
        is_earlier = freed.is_old and not freed.is_of_this_round
        carried = "was made in an earlier iteration and " if is_earlier else ""
        if stored is not None and stored.site != shared.site:
            where = line(history, stored.site)
            carried += (
                f"is kept with its graph by {where}; it "
                if stored.nid > shared.nid
                else f"holds the graph of what {where} stored; it "
            )
        return (
            f"{what} ({line(history, shared.site)}) {carried}went through backward on "
            f"{line(history, freed.first.site)}, which freed its graph; backward on "
            f"{line(history, freed.event.site)} needs it again"
        )

    def _culprit(self, freed: FreedGraph, stored: Op | None, sites: Sites) -> Site:
        """The line to change: where a loss takes the value up that should know it as a number, else the one that
        carries it from one backward to the other."""
        taken = freed.taken_along() or as_a_weight(self.history, freed.shared, freed.first, freed.event)
        if taken is not None:
            sites.insert(0, ("use", taken.site))
        apart = freed.is_old or bool(freed.first.consumed_pids())
        second = freed.second_use() if taken is None and stored is None and apart else NOWHERE
        is_carried = freed.is_old and not freed.is_mistaken and not second
        made = (
            unshaped(self.history.graph, freed.shared)
            if taken is not None and freed.in_loop
            else freed.shared
        )
        carrier = second or freed.event.site
        if is_carried:
            carrier = stored.site if stored else self._carrier(freed, made)
            if not stored and carrier != freed.shared.site:
                sites.insert(0, ("carried over", carrier))
        carrier = self._elsewhere(freed, carrier, is_carried, stored, sites)
        if taken is not None and freed.serves_both(taken):
            carrier = carried_by(self.history, freed.shared)
            sites.insert(0, ("carried over", carrier))
            return carrier
        return taken.site if taken is not None and not (freed.in_loop and is_carried) else carrier

    def _carrier(self, freed: FreedGraph, made: Op) -> Site:
        made = made_to_carry(self.history, freed) or made
        again, root = freed.used_again(made), self.history.graph.get(freed.event.roots[0].nid)
        away = NOWHERE
        if again is not None and root is not None:
            away = put_away_by(self.history, made, again, root)
        return away or carried_by(self.history, made)

    def _elsewhere(
        self, freed: FreedGraph, carrier: Site, is_carried: bool, stored: Op | None, sites: Sites
    ) -> Site:
        """The line that was to empty what the carrier fills, or had the value before the loop began, or asked a
        network for it there; else the carrier."""
        if is_carried and (emptied := emptied_in_vain(self.history, carrier)):
            sites.insert(0, ("emptied in vain", emptied))
            return emptied
        if freed.in_loop and (asked := asked_before_loop(self.history, freed.shared, freed.event, stored)):
            sites.insert(0, ("network asked", asked))
            return asked
        if freed.in_loop and not stored:
            before = made_before_loop(self.history, freed.shared, freed.event)
            if before:
                sites.insert(0, ("made before the loop", before))
                return before
        return carrier


rule = BackwardTwice
