"""GS804: an "old" log-probability that is as new as the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gradsan.judge.history import History
from gradsan.judge.lines.callers import is_one_function
from gradsan.judge.objective import scores
from gradsan.judge.objective.scores import Difference
from gradsan.judge.objective.stale_draws import moved_since_drawn
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

ENOUGH = 2  # updates


@dataclass(slots=True)
class _Use:
    """How often the rows of one batch were learned from, and after which step last."""

    rows: int = 0
    updates: int = 0
    epoch: int = -1
    always: bool = True  # the ratio was one, by log-probabilities of the weights as they were


class RatioAlwaysOne(Rule):
    code = "GS804"
    name = "ratio-always-one"
    severity = "error"
    needs_deep = True
    what = """
        Several updates are made with one batch, and each computes the "old" log-probabilities anew, from the weights
        as they are then. The ratio of new to old is one in every update. So it is where what the policy has drawn is
        cut into parts, one clipped update each: from the second on, the policy is no longer the one that drew them.
    """
    why = """
        The ratio is there to tell how far the policy has moved since it collected the data, and to stop it when that
        is far enough. A ratio that is always one never stops anything: the epochs are plain policy gradients with
        data that no longer belongs to the policy.
    """
    symptom = """
        The clip fraction and the approximate KL are zero in every update; with more epochs the policy collapses.
    """
    fix = (
        "compute the old log-probabilities once, when the data is collected (or before the first epoch), and keep "
        "them for all updates with it"
    )
    deliberate = """
        One update per batch, and `log_prob - log_prob.detach()`, are right and not reported.
    """
    bad = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            for _ in range(3):
                with torch.no_grad():
                    old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)  # BUG
                ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
                loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        import torch
        policy = torch.nn.Embedding(6, 6)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        prompt = torch.randint(6, (8, 2))
        for _ in range(3):
            answer, advantage = torch.randint(6, (8, 4)), torch.randn(8, 1)
            for _ in range(3):
                tokens = torch.cat([prompt, answer], 1)  # joined anew, and the same all the same
                with torch.no_grad():
                    old = policy(tokens[:, 1:-1]).log_softmax(-1).gather(-1, tokens[:, 2:, None]).squeeze(-1)  # BUG
                new = policy(tokens[:, 1:-1]).log_softmax(-1).gather(-1, tokens[:, 2:, None]).squeeze(-1)
                ratio = (new - old).exp()
                loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        import torch
        mean, spread = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.zeros(2))
        opt = torch.optim.SGD([*mean.parameters(), spread], lr=0.1)
        for _ in range(2):
            s, a, advantage = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16)
            for _ in range(3):
                for rows in torch.randperm(16).split(8):
                    new = torch.distributions.Normal(mean(s[rows]), spread.exp()).log_prob(a[rows]).sum(-1)
                    old = new.detach()  # BUG
                    ratio, weight = (new - old).exp(), advantage[rows]
                    loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
        """,
    )
    good = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            for _ in range(3):
                ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
                loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # Every row is learned from once.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(16, 3), torch.randint(2, (16,)), torch.randn(16)
            for rows in torch.randperm(16).split(4):
                with torch.no_grad():
                    old = torch.distributions.Categorical(logits=policy(s[rows])).log_prob(a[rows])
                ratio = (torch.distributions.Categorical(logits=policy(s[rows])).log_prob(a[rows]) - old).exp()
                loss = -(ratio * advantage[rows]).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # The same prompts, and new answers in every update.
        import torch
        policy = torch.nn.Embedding(6, 6)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        prompt = torch.randint(6, (8, 2))
        for _ in range(8):
            answer, advantage = torch.randint(6, (8, 4)), torch.randn(8, 1)
            tokens = torch.cat([prompt, answer], 1)
            with torch.no_grad():
                old = policy(tokens[:, 1:-1]).log_softmax(-1).gather(-1, tokens[:, 2:, None]).squeeze(-1)
            new = policy(tokens[:, 1:-1]).log_softmax(-1).gather(-1, tokens[:, 2:, None]).squeeze(-1)
            ratio = (new - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Clipped in vain, and used once: the first of one epoch.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            ratio = (new - new.detach()).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._moved = Counter[Site]()  # updates with a later part of what was drawn together
        self._uses: dict[tuple[Site | ValueId, ...], _Use] = {}  # by the line that subtracts, and the data

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        roots = [root.nid for root in event.roots]
        for difference in scores.differences(graph, roots) if event.call == "backward" else ():
            within = graph.live_ancestors(roots)
            ratio = scores.ratio_of(graph, difference, within)
            is_clipped = ratio is not None and scores.is_clipped_around_one(graph, ratio, within)
            # `exp(logp - logp.detach())` is a way to write a plain policy gradient, unless it is clipped.
            if ratio is not None and (is_clipped or not scores.is_taken_out(graph, difference)):
                yield from self._used(event, difference, ratio, is_clipped)

    def _used(self, event: Backward, difference: Difference, ratio: Op, is_clipped: bool) -> Verdicts:
        graph, history = self.history.graph, self.history
        learned = graph.live_params([difference.live.nid])
        if not learned:
            return
        epoch = max(history.params[pid].epoch for pid in learned)
        one = difference.largest < scores.SAME and self._is_fresh(difference)
        size = max(1, scores.rows(difference.live._replace(floating=False)))
        again, later = None, None
        for batch in scores.batches(graph, difference.live):
            if scores.rows(batch) < size:
                continue
            use = self._uses.setdefault((difference.op.site, *scores.identity(graph, batch)), _Use())
            use.rows += size
            use.updates += epoch != use.epoch
            use.epoch, use.always = epoch, use.always and one
            if use.updates > 1 and use.always:
                again, later = (use, later) if use.rows > scores.rows(batch) else (again, use)
        if again is not None:
            yield self._verdict(
                event, difference, ratio, f"in all {again.updates} updates with the same batch"
            )
        elif later is not None and is_clipped and moved_since_drawn(history, difference.live, learned):
            self._moved[difference.op.site] += 1
            if self._moved[difference.op.site] >= ENOUGH:
                which = f"in all {later.updates} updates with parts of one batch, though"
                moved = f"{which} the weights have moved since the policy drew it"
                yield self._verdict(event, difference, ratio, moved)
        for old in list(self._uses)[:-256]:
            del self._uses[old]

    def _is_fresh(self, difference: Difference) -> bool:
        """Whether the constant was computed after the last step of what is trained."""
        graph, history = self.history.graph, self.history
        learned = graph.live_params([difference.live.nid])
        stepped = max((history.params[pid].stepped_after for pid in learned), default=0)
        return scores.newest_use(graph, scores.scoring(graph, difference.constant)) > stepped

    def _verdict(self, event: Backward, difference: Difference, ratio: Op, when: str) -> Verdict:
        history, graph = self.history, self.history.graph
        learned = graph.live_params([difference.live.nid])
        old = scores.reads(history, scores.scoring(graph, difference.constant))
        made = scores.line_of(history, difference)
        copies = history.networks.copies
        synced = [copies[pid].site for pid in old if pid in copies and copies[pid].source in learned]
        what = "is computed anew from the weights that are trained"
        if synced and not learned & old.keys():
            what = "comes from a copy that is brought up to date before every update"
            # A helper that syncs is right where it is called in time.
            culprit = synced[0] if is_one_function(history, synced[0], event.site) else made
        elif scores.is_taken_out(graph, difference):
            what = "is the value it is compared with, taken out of its graph"
            culprit = made = difference.constant.site or made
        else:
            culprit = made
        return Verdict(
            culprit,
            f"{value_at(history, made, 'the old log-probability')} {what}: the ratio on "
            f"{line(history, ratio.site)} is exactly one {when}",
            [("old log-prob", made), ("ratio", ratio.site), ("backward", event.site)],
            learned,
        )


rule = RatioAlwaysOne
