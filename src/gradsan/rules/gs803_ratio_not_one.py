"""GS803: an importance ratio that differs from one before any step."""

from __future__ import annotations

import math

from gradsan.judge.copies.strangers import Stranger, Strangers
from gradsan.judge.history import History
from gradsan.judge.objective import same_policy, scores
from gradsan.judge.objective.drawn_otherwise import DrawnOtherwise, line_of_the_logits
from gradsan.judge.objective.other_scorers import is_scored_by_another
from gradsan.judge.objective.scores import Difference
from gradsan.judge.objective.told_scores import ToldScores
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOWHERE, Backward, Op, ParamId, Site, Sync, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

LOOKS = 3
FAR, ON_AVERAGE = 0.02, 0.002  # in log-probability: beyond rounding, also in half precision
MASKING = {"masked_fill", "where"}
WRITING = {"add", "sub", "mul", "div", "lerp", "copy"}


class RatioNotOne(Rule):
    code = "GS803"
    name = "ratio-not-one"
    severity = "error"
    needs_deep = True
    what = """
        Before the first step with new data the policy is the one that collected it, so the importance ratio must be
        one. Here it is not: the same weights give the same actions another log-probability. A normaliser was
        updated in between, dropout is on, another temperature was used, a clipped action was scored, rows were put in
        another order, or a sampler tells another log-probability than the one that it drew with. Or the copy that
        acts was given the policy's weights only after the first update.
    """
    why = """
        Clipping measures how far the policy has moved from a ratio of one. Where it starts elsewhere, samples are cut
        off before anything was learned from them, and the others are weighed by a mistake.
    """
    symptom = """
        In the very first update the clip fraction and the approximate KL are not zero; the policy drifts, and
        learning is worse with a narrower clip.
    """
    fix = (
        "score the same thing in the same way: keep the action as it was sampled, freeze normalisers and switch "
        "dropout off between rollout and update, use the same temperature and mask"
    )
    deliberate = """
        A ratio that corrects for another policy (another network, older weights, exploration) is cut above only, or
        not at all, and is not reported.
    """
    bad = (
        """
        import torch
        mean = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(mean.parameters(), lr=0.1)
        for _ in range(3):
            s, advantage = torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                dist = torch.distributions.Normal(mean(s), 1.0)
                sampled = dist.sample()
                old = dist.log_prob(sampled).sum(-1)  # BUG
            action = sampled.clamp(-1, 1)
            new = torch.distributions.Normal(mean(s), 1.0).log_prob(action).sum(-1)
            ratio = (new - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            policy.eval()
            with torch.no_grad():
                old = policy(s).log_softmax(-1).gather(1, a)  # BUG
            policy.train()
            ratio = (policy(s).log_softmax(-1).gather(1, a) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # One helper scores both; who draws divides by a temperature.
        import torch

        def score(logits, a):
            return logits.log_softmax(-1).gather(1, a)

        def act(policy, s):
            with torch.no_grad():
                logits = policy(s) / 0.5
                a = logits.softmax(-1).multinomial(1)
                return a, score(logits, a)  # BUG

        def evaluate(policy, s, a):
            return score(policy(s), a)

        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, advantage = torch.randn(8, 3), torch.randn(8, 1)
            a, old = act(policy, s)
            ratio = (evaluate(policy, s, a) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        mean = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(mean.parameters(), lr=0.1)
        for _ in range(3):
            s, advantage = torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                dist = torch.distributions.Normal(mean(s), 1.0)
                action = dist.sample()
                old = dist.log_prob(action).sum(-1)
            for _ in range(3):
                new = torch.distributions.Normal(mean(s), 1.0).log_prob(action).sum(-1)
                ratio = (new - old).exp()
                loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # What another policy did is corrected for.
        import torch
        policy, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            old = other(s).log_softmax(-1).gather(1, a)
            ratio = (policy(s).log_softmax(-1).gather(1, a) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # One helper scores both, of the same positions.
        import torch

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.places = torch.nn.Embedding(9, 6), torch.nn.Embedding(5, 6)
                self.head = torch.nn.Linear(6, 9)

            def forward(self, tokens, places=None):
                if places is None:
                    places = torch.arange(5).expand(8, 5)
                return self.head(self.words(tokens) + self.places(places))

        def score(logits, tokens):
            return logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)

        model = Model()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            tokens, advantage = torch.randint(9, (8, 5)), torch.randn(8, 4)
            places = (tokens.ne(0).cumsum(-1) - 1).clamp(min=0)
            with torch.no_grad():
                logits = model(tokens, places)
                old = score(logits[:, :-1], tokens[:, 1:])
            logits = model(tokens, places)
            ratio = (score(logits[:, :-1], tokens[:, 1:]) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._drawn, self._told = DrawnOtherwise(history), ToldScores(history)
        self._strangers = Strangers(history)
        self._others: dict[Site, set[int]] = {}  # ratios to another's scores, after which steps

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        roots = [root.nid for root in event.roots]
        for difference in scores.differences(graph, roots) if event.call == "backward" else ():
            if difference.largest < FAR or difference.mean < ON_AVERAGE or not math.isfinite(difference.mean):
                for stranger in self._strangers.that_agree(difference):
                    yield self._too_late(stranger, NOWHERE)
                continue
            within = graph.live_ancestors(roots)
            ratio = scores.ratio_of(graph, difference, within)
            if ratio is None or not self._must_be_one(difference, ratio, within):
                continue
            if same_policy.is_of_the_same(self.history, difference):
                yield self._verdict(event, difference, ratio)
            else:
                self._strangers.meet(difference, ratio, event.site)
        if event.call == "backward":
            yield from self._constant_weights(event, roots)
            yield from self._drawn_otherwise(event)
            yield from self._said_by_another(event, roots)
            yield from self._told_otherwise(event)

    def _told_otherwise(self, event: Backward) -> Verdicts:
        history = self.history
        for told in self._told.judge(event):
            low, high, mean = told.arrived.facts.told
            made, ratio = told.difference.site, told.ratio.site
            yield Verdict(
                made,
                f"what is subtracted here came back from Python on {line(history, told.arrived.site)} as the "
                f"log-probabilities of the sampler, and differs by up to {max(-low, high):.2g} (by {mean:.2g} on "
                f"average) from what the tokens were drawn with: the weight on {line(history, ratio)} is not one "
                "though the policy is the one that drew them",
                [("told", told.arrived.site), ("ratio", ratio), ("backward", event.site)],
                history.graph.value_params([told.difference.nid]),
                fix="let the sampler tell the log-probabilities that it draws with: at its temperature, cut as it cuts",
            )

    def _said_by_another(self, event: Backward, roots: list[ValueId]) -> Verdicts:
        history, graph = self.history, self.history.graph
        within = graph.live_ancestors(roots)
        for difference in scores.differences(graph, roots):
            ratio = scores.ratio_of(graph, difference, within)
            if ratio is None or not scores.is_clipped_around_one(graph, ratio, within):
                continue
            if is_scored_by_another(history, difference):
                learned = graph.live_params([difference.live.nid])
                steps = self._others.setdefault(ratio.site, set())
                steps.add(max(history.params[pid].epoch for pid in learned))
                if len(steps) >= LOOKS:
                    yield self._another(event, difference, ratio, learned)

    def _another(self, event: Backward, difference: Difference, ratio: Op, learned: set[ParamId]) -> Verdict:
        history, made = self.history, scores.line_that_scored(self.history, difference)
        return Verdict(
            made,
            f"{networks(history, learned)} has drawn what is scored, but {value_at(history, made, 'the score')} that "
            f"the ratio on {line(history, ratio.site)} is taken to comes from a copy that was never brought up to "
            "date: it leaves one with every step, and the clip stops the policy near the copy",
            [("old log-prob", made), ("ratio", ratio.site), ("backward", event.site)],
            learned,
            fix="keep the log-probabilities of the policy that draws; the copy's belong into the penalty only",
        )

    def _drawn_otherwise(self, event: Backward) -> Verdicts:
        history = self.history
        for scored, found in self._drawn.judge(event):
            drawn, site = history.graph.ops[found.last].site, line_of_the_logits(history, scored)
            yield Verdict(
                site,
                f"{value_at(history, scored.site, 'the log-probability')} differs by up to "
                f"{max(-found.apart[0], found.apart[1]):.2g} (by {found.apart[2]:.2g} on average) from what the same "
                f"weights drew these {found.own} tokens with on {line(history, drawn)}",
                [("logits", site), ("log-prob", scored.site), ("draw", drawn), ("backward", event.site)],
                history.graph.value_params([scored.nid]),
                severity="warning",
                fix="score a token with the logits that it was drawn from: those of the place before it, divided by "
                "the same temperature",
            )

    def _constant_weights(self, event: Backward, roots: list[ValueId]) -> Verdicts:
        """The policy's own log-probability, taken out of its graph, against what the sampler says."""
        graph = self.history.graph
        for difference in same_policy.constant_differences(graph, roots):
            within = graph.ancestors(roots)
            ratio = scores.ratio_of(graph, difference, within)
            if difference.largest < FAR or difference.mean < ON_AVERAGE or not math.isfinite(difference.mean):
                continue
            if ratio is None or not self._must_be_one(difference, ratio, within):
                continue
            if same_policy.is_of_the_same(self.history, difference):
                yield self._verdict(event, difference, ratio)

    def _must_be_one(self, difference: Difference, ratio: Op, within: dict[ValueId, Op]) -> bool:
        """A weight that corrects for who drew the choices is right where it has their log-probability as they were
        drawn, whatever that was."""
        graph = self.history.graph
        return scores.is_clipped_around_one(graph, ratio, within) or same_policy.is_drawn_otherwise(
            graph, difference.constant
        )

    def on_sync(self, event: Sync) -> Verdicts:
        for stranger in self._strangers.that_became_copies():
            yield self._too_late(stranger, event.site)

    def _too_late(self, stranger: Stranger, sync: Site) -> Verdict:
        history = self.history
        made = self._strangers.made_at(stranger) or stranger.scored
        return Verdict(
            made,
            f"the ratio on {line(history, stranger.ratio)} is {_range(stranger.low, stranger.high)} before any step: "
            f"{networks(history, stranger.old)} acts for {networks(history, stranger.new)} and began with weights of "
            f"its own; the first copy comes {f'on {line(history, sync)}, ' if sync else ''}after an update",
            [
                ("acting copy", made),
                ("old log-prob", stranger.scored),
                ("ratio", stranger.ratio),
                ("first copy", sync),
                ("backward", stranger.backward),
            ],
            stranger.new,
            fix="copy the weights before anything is drawn: `acting.load_state_dict(policy.state_dict())`",
        )

    def _verdict(self, event: Backward, difference: Difference, ratio: Op) -> Verdict:
        history = self.history
        made = scores.line_that_scored(history, difference)
        words, cause = self._cause(difference)
        return Verdict(
            self._mixed_up(difference) or scores.line_that_scored_otherwise(history, difference) or made,
            f"the ratio on {line(history, ratio.site)} is {_range(difference.low, difference.high)} before any step "
            f"since {value_at(history, made, 'the old log-probability')} was made{words}",
            [("old log-prob", made), ("ratio", ratio.site), ("cause", cause), ("backward", event.site)],
            history.graph.value_params([difference.live.nid]),
        )

    def _mixed_up(self, difference: Difference) -> Site:
        """The line to change where it is not the one that scored."""
        graph = self.history.graph
        if (order := same_policy.left_in_another_order(graph, difference)) is not None:
            return order[1].site
        if (cut := same_policy.cut_out_otherwise(graph, difference)) is not None:
            return cut.site
        written = same_policy.written_once_more(graph, difference)
        return NOWHERE if written is None else written.site

    def _cause(self, difference: Difference) -> tuple[str, Site]:
        """What the one side does and the other does not, as far as can be told."""
        graph, history = self.history.graph, self.history
        old_region = scores.scoring(graph, difference.constant)
        new_region = scores.scoring(graph, difference.live)
        for region in (new_region, old_region):
            for op in region.values():
                if op.name in scores.DROPPING and not op.facts.idle:
                    return f": dropout is on ({line(history, op.site)})", op.site
        if (order := same_policy.left_in_another_order(graph, difference)) is not None:
            return f": its rows were put in another order on {line(history, order[0].site)}", order[0].site
        if (cut := same_policy.cut_out_otherwise(graph, difference)) is not None:
            return ": its rows are those in front, and the other side picks its rows by numbers", cut.site
        if (written := same_policy.written_once_more(graph, difference)) is not None:
            return (
                f": one side was scored after {line(history, written.site)} had written over it",
                written.site,
            )
        if same_policy.is_drawn_otherwise(graph, difference.constant):
            return ": the choices were drawn from other probabilities than those it tells", NOWHERE
        masks = [
            [op for op in region.values() if op.name in MASKING and graph.value_params([op.nid])]
            for region in (old_region, new_region)
        ]
        if bool(masks[0]) != bool(masks[1]):
            mask = (masks[0] or masks[1])[0]
            side = "when it is drawn" if masks[0] else "when it is learned from"
            return f": choices are left out only {side} ({line(history, mask.site)})", mask.site
        if (changed := scores.changed_choice(graph, difference)) is not None and changed.site:
            return f": the action that is scored was changed on {line(history, changed.site)}", changed.site
        choices = {nid for nid, op in old_region.items() if scores.chooses(op)}
        own = [op for nid, op in new_region.items() if nid not in old_region and op.name in ("clamp", "tanh")]
        for op in own:
            if op.floating and not op.live and choices & graph.ancestors([op.nid]).keys() and op.site:
                return f": the action that is scored was changed on {line(history, op.site)}", op.site
        known = scores.made(graph, difference.constant).nid
        for nid, op in sorted(new_region.items(), reverse=True):
            if (
                op.name in WRITING
                and not op.live
                and nid > known
                and op.inputs
                and op.inputs[0] in old_region
            ):
                return f": what the input is normalised with was updated on {line(history, op.site)}", op.site
        return "", NOWHERE


def _range(low: float, high: float) -> str:
    return f"{math.exp(max(low, -50)):.3g}…{math.exp(min(high, 50)):.3g}"


rule = RatioNotOne
