"""GS605: padding counts in a loss, or what averages over a mask is given something else."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.handed_down import handed_in_by
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.shapes.drawn_tokens import DrawnTokens, Trained
from gradsan.judge.shapes.masks import (
    Masked,
    divides_by_its_sum,
    is_padding,
    masked_in,
    reaches_unmasked,
    running_count,
)
from gradsan.judge.shapes.padded_tokens import LearnedPadding, PaddedTokens
from gradsan.judge.shapes.unmasked_sums import UnmaskedSum, unmasked_sums
from gradsan.judge.shapes.unmasked_windows import UnmaskedWindows
from gradsan.judge.shapes.whitened_padding import Whitened, whitened_padding
from gradsan.record.events import Backward, Op, Step
from gradsan.rules.base import Rule, Verdict, Verdicts


class LeakyMask(Rule):
    code = "GS605"
    name = "leaky-mask"
    severity = "error"
    needs_deep = True
    what = """
        A loss masks the padding of its sequences in one term and averages another over all places, padding included. Or
        it divides a sum over all places by the number of those that a mask leaves. Or padding is learned that the loss
        masks in another place (attention, lengths), or weights are normalised together with their padding. Or a policy
        learns, beside the tokens that it drew, from others that were put in (a prompt, what a tool said, what rows are
        filled up with), or leaves out the first or the last of its own. Or a mean `(x * mask).sum() / mask.sum()` is
        given something that is no mask: numbers of both signs (the advantages), or a running count of the tokens.
    """
    why = """
        What is learned at padding is noise: it is the same token again and again, and the shorter a sequence, the
        more it counts. A mean whose weights have both signs is divided by a number that may be anything, zero
        and negative ones included: the sign of the whole loss changes from batch to batch.
    """
    symptom = "Results change with the longest sequence in the batch; or the loss jumps between huge and tiny values."
    fix = "mask every term alike: `(term * mask).sum() / mask.sum()`, with a mask of zeros and ones"
    deliberate = """
        Weights that are not negative (importance weights, tokens that count double) are not reported, nor are terms
        over tokens that are no padding: a prompt, what follows a first error. Padding that is to be learned: allow it
        on the line.
    """
    bad = (
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            tokens = torch.randint(1, 9, (6, 8)) * (torch.arange(8) < torch.randint(2, 9, (6, 1)))
            mask = (tokens != 0).float()
            dist = torch.distributions.Categorical(logits=net(tokens))
            policy = -(dist.log_prob(dist.sample()) * torch.randn(6, 1) * mask).sum() / mask.sum()
            bonus = dist.entropy().mean()  # BUG
            opt.zero_grad()
            (policy - 0.01 * bonus).backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            tokens, advantage = torch.randint(1, 9, (6, 8)), torch.randn(6, 8)
            log_prob = net(tokens).log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
            loss = -(log_prob * advantage).sum() / advantage.sum()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            steps, target = torch.randn(6, 8, 3), torch.randn(6, 8)
            mask = (torch.arange(8) < torch.randint(2, 8, (6, 1))).float()
            error = (net(steps).squeeze(-1) - target).pow(2)
            loss = error.sum() / mask.sum()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            tokens = torch.randint(1, 9, (6, 8)) * (torch.arange(8) < torch.randint(2, 9, (6, 1)))
            mask = (tokens != 0).float()
            dist = torch.distributions.Categorical(logits=net(tokens))
            policy = -(dist.log_prob(dist.sample()) * torch.randn(6, 1) * mask).sum() / mask.sum()
            bonus = (dist.entropy() * mask).sum() / mask.sum()
            opt.zero_grad()
            (policy - 0.01 * bonus).backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))  # importance weights
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            tokens, weight = torch.randint(1, 9, (6, 8)), torch.rand(6, 8) * 3
            log_prob = net(tokens).log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
            loss = -(log_prob * weight).sum() / weight.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))  # up to a first mistake
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            tokens = torch.randint(1, 9, (6, 8))
            mask = (torch.arange(8) < torch.randint(2, 9, (6, 1))).float()
            dist = torch.distributions.Categorical(logits=net(tokens))
            loss = -(dist.log_prob(tokens) * mask).sum() / mask.sum() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._windows = UnmaskedWindows(history)
        self._drawn = DrawnTokens(history)
        self._padded = PaddedTokens(history)

    def on_step(self, event: Step) -> Verdicts:
        found = self._windows.stepped()
        if found is not None:
            history, site = self.history, found.total.site
            yield Verdict(
                site,
                f"{value_at(history, site, 'this sum')} and those before it since the last step are taken over all "
                f"{found.places} places, and {line(history, found.division.site)} divides their gradient by the "
                f"{found.kept} that the mask summed on {line(history, found.counted.site)} leaves: what it masks is "
                "learned as well",
                [("sum", site), ("mask", found.counted.site), ("division", found.division.site),
                 ("step", event.site)],
                event.held,
            )  # fmt: skip

    def on_backward(self, event: Backward) -> Verdicts:
        if event.call == "backward":
            self._windows.went_backward(event)
        found = list(self._of_masks(event))
        if not found and event.call == "backward":  # else the same padding would be told twice
            found = [self._trained(event, trained) for trained in self._drawn.judge(event)]
            found = found or [self._learned(event, learned) for learned in self._padded.learned(event)]
        yield from found

    def _of_masks(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.live_ancestors(root.nid for root in event.roots)
        masked = list(masked_in(graph, within))
        for one in masked:
            mean = divides_by_its_sum(graph, one, within)
            if mean is not None:
                yield from self._weighed(event, one, mean)
        for found in unmasked_sums(graph, within):
            yield self._divided(event, found)
        if masked:
            behind = graph.ancestors(root.nid for root in event.roots)
            yield from (self._whitened(event, one) for one in whitened_padding(graph, masked, behind))
        padding = next((one for one in masked if is_padding(graph, one, within)), None)
        if padding is not None:
            for total in reaches_unmasked(graph, padding.product.shape, within):
                yield self._reached(event, padding, total)

    def _whitened(self, event: Backward, found: Whitened) -> Verdict:
        return Verdict(
            found.mean.site,
            f"this mean takes in all places, also the padding that the mask on {line(self.history, found.mask.site)} "
            f"leaves out of the loss ({found.padding} of {found.places} there): what is made of it "
            "depends on how long the longest row is",
            [("mean", found.mean.site), ("mask", found.mask.site), ("backward", event.site)],
            event.reached,
            severity="warning",
            fix="take mean and deviation over what the mask leaves: `(a * mask).sum() / mask.sum()`",
        )

    def _learned(self, event: Backward, learned: LearnedPadding) -> Verdict:
        scored = learned.scored.site
        return Verdict(
            learned.site,
            f"of the {learned.trained} tokens that the loss trains, {learned.padding} are padding behind the end of "
            "their row: no mask leaves them out",
            [("mask", learned.site), ("log-prob", scored), ("backward", event.site)],
            self.history.graph.value_params([learned.scored.nid]),
            severity="warning",
            fix="leave padding out: `ignore_index`, labels of -100, or `(logp * mask).sum()`",
        )

    def _trained(self, event: Backward, trained: Trained) -> Verdict:
        history, found, scored = self.history, trained.found, trained.scored.site
        if trained.what == "others":
            where = ("before", found.before), ("between", found.between), ("behind", found.behind)
            count, places = (
                found.before + found.between + found.behind,
                " and ".join(w for w, n in where if n),
            )
            words = (
                f"beside the {found.own} tokens that were drawn, the loss trains {count} that nobody drew, {places} "
                f"them: a prompt, what a tool said, or what rows are filled up with"
            )
        else:
            which = "first" if trained.what == "first" else "last"
            rows = found.rows if trained.what == "first" else found.ended
            words = f"the {which} token that was drawn has no part in the loss, in any of {rows} rows"
            words += (
                ", and the others have: the mask is off by one"
                if which == "first"
                else (", while those before it have: the policy never learns to end")
            )
        return Verdict(
            trained.site,
            words,
            [("mask", trained.site), ("log-prob", scored), ("backward", event.site)],
            history.graph.value_params([trained.scored.nid]),
            severity="warning",
            fix="let the mask be one where the policy drew the token, its end included, and zero everywhere else",
        )

    def _weighed(self, event: Backward, masked: Masked, mean: Op) -> Verdicts:
        fact, where = masked.product.facts.mask, line(self.history, mean.site)
        assert fact is not None
        sites = [("made", masked.mask.site), ("division", mean.site), ("backward", event.site)]
        if fact.low < 0.0 < fact.high:
            culprit = handed_in_by(self.history, way_of(self.history, masked.product))
            yield Verdict(
                culprit,
                f"{where} averages with this as if it were a mask, but its numbers run from {fact.low:.3g} to "
                f"{fact.high:.3g}: a mask is zeros and ones",
                [("mask", culprit), *sites],
                event.reached,
            )
        elif fact.high > 1.0 and (counted := running_count(self.history.graph, masked.mask)) is not None:
            yield Verdict(
                counted.site,
                f"{value_at(self.history, counted.site, 'the mask')} is a running count, up to {fact.high:.0f}, where "
                f"{where} takes a mean with it: the last tokens of a row count {fact.high:.0f} times the first",
                [("mask", counted.site), *sites],
                event.reached,
                severity="warning",
                fix="compare the count to make a mask of it (`> 0`, `<= length`)",
            )

    def _divided(self, event: Backward, found: UnmaskedSum) -> Verdict:
        rows, places = found.shape
        return Verdict(
            found.total.site,
            f"{value_at(self.history, found.total.site, 'this sum')} is taken over all {rows * places} places and "
            f"divided by the {found.kept} that the mask summed on {line(self.history, found.counted.site)} leaves: "
            "what it masks is learned as well",
            [("sum", found.total.site), ("mask", found.counted.site), ("division", found.division.site),
             ("backward", event.site)],
            event.reached,
        )  # fmt: skip

    def _reached(self, event: Backward, padding: Masked, total: Op) -> Verdict:
        fact = padding.product.facts.mask
        assert fact is not None
        count = sum(fact.tails)
        whole = padding.product.shape[0] * padding.product.shape[1]
        return Verdict(
            total.site,
            f"{value_at(self.history, total.site, 'this term')} takes in all {whole} places, also the {count} of "
            f"padding that the mask on {line(self.history, padding.product.site)} leaves out of another term of this "
            f"loss",
            [("term", total.site), ("mask", padding.product.site), ("backward", event.site)],
            event.reached,
            severity="warning",
        )


rule = LeakyMask
