"""GS808: a reference model that is the policy, or moves with it."""

from __future__ import annotations

import math

from gradsan.judge.copies import references
from gradsan.judge.copies.computed_twice import Twice, scored_twice
from gradsan.judge.copies.exchanged_parts import exchanged_part
from gradsan.judge.copies.reversed_references import Reversed, reversed_references
from gradsan.judge.flow import JOINING, LINEAR
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.objective import scores
from gradsan.judge.objective.scores import Difference
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOWHERE, Backward, Op, ParamId, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

PENALISING = LINEAR | JOINING | {"exp", "expm1", "clamp", "abs"}
PREFERRING = {
    "logsigmoid",
    "log_sigmoid",
    "softplus",
    "binary_cross_entropy_with_logits",
}  # the margin of a preference
LOOKS = 4  # after as many steps
DIFFERENT = -1
FAR, ON_AVERAGE = 0.02, 0.002


class ReferenceDrifts(Rule):
    code = "GS808"
    name = "reference-drifts"
    severity = "error"
    needs_deep = True
    what = """
        The reference of a KL penalty or of a preference loss (DPO) is to stay where the policy started. Here it is the
        policy itself under another name, or a copy that is brought up to date before every update, so that the
        divergence is always zero. Or it has layers in common with the policy, which are trained; or it is the policy
        without its adapters, while other weights of it are trained, too. Or it disagrees with the policy before the
        first step, because its dropout is on, it is read at another temperature, or its scores of two answers are
        exchanged. Or (a warning) it was copied before a fine-tuning that came first.
    """
    why = """
        A penalty that is always zero holds nothing back: the policy drifts away from the language or the behaviour
        that it started with, while the log shows a perfect KL of 0. A reference with dropout punishes the policy for
        noise.
    """
    symptom = """
        The KL to the reference is exactly zero from beginning to end, and the reward is hacked; or it is far from
        zero in the very first update.
    """
    fix = (
        "make the reference a copy before training, and leave it alone: "
        "`reference = copy.deepcopy(policy).eval().requires_grad_(False)`"
    )
    deliberate = """
        The divergence from the policy that collected the data, over several epochs, and references that are renewed
        now and then are not reported.
    """
    bad = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        reference = policy
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            with torch.no_grad():
                ref = reference(s).log_softmax(-1).gather(1, a)  # BUG
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            loss = (-log_prob * advantage + 0.1 * (log_prob - ref)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        from torch.nn.functional import logsigmoid
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        def score(model, s, a):
            return model(s).log_softmax(-1).gather(1, a)
        def update(model, reference):
            s, better = torch.randn(8, 3), torch.randint(2, (8, 1))
            with torch.no_grad():
                ref = score(reference, s, better) - score(reference, s, 1 - better)  # BUG
            margin = score(model, s, better) - score(model, s, 1 - better) - ref
            loss = -logsigmoid(0.1 * margin).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        for _ in range(8):
            update(policy, policy)
        """,
        """
        import torch
        from torch.nn.functional import cross_entropy, logsigmoid
        policy = torch.nn.Linear(3, 5)
        reference = policy.eval()
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        def score(model, tokens, answer):
            return -cross_entropy(model(tokens).transpose(1, 2), answer, reduction="none").sum(1)
        for _ in range(8):
            s, better, worse = torch.randn(8, 4, 3), torch.randint(5, (8, 4)), torch.randint(5, (8, 4))
            with torch.no_grad():
                ref_better = score(reference, s, better)
                ref_worse = score(reference, s, worse)  # BUG
            margin = score(policy, s, better) - score(policy, s, worse) - (ref_better - ref_worse)
            loss = -logsigmoid(0.1 * margin).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import copy
        import torch
        policy = torch.nn.Linear(3, 2)
        reference = copy.deepcopy(policy)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            with torch.no_grad():
                ref = reference(s).log_softmax(-1).gather(1, a)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            loss = (-log_prob * advantage + 0.1 * (log_prob - ref)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The policy that chose the actions is what the update must not leave.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(4):
            s, advantage = torch.randn(8, 3), torch.randn(8)
            with torch.no_grad():
                dist = torch.distributions.Categorical(logits=policy(s))
                a = dist.sample()
                old = dist.log_prob(a)
            for _ in range(2):
                log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
                loss = (-log_prob * advantage + 0.1 * (log_prob - old)).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # A preference, measured against where the policy started.
        import copy
        import torch
        policy = torch.nn.Linear(3, 2)
        reference = copy.deepcopy(policy).requires_grad_(False)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            s, better = torch.randn(8, 3), torch.randint(2, (8, 1))
            score, before = policy(s).log_softmax(-1), reference(s).log_softmax(-1)
            margin = score.gather(1, better) - score.gather(1, 1 - better)
            margin = margin - (before.gather(1, better) - before.gather(1, 1 - better))
            loss = -torch.nn.functional.logsigmoid(0.1 * margin).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._same: dict[Site, set[int]] = {}  # after which steps there was no divergence
        self._apart: set[Site] = set()
        self._judged_at: set[Site] = set()
        self._asked: dict[ParamId, int] = {}  # when a parameter first had a part in a loss, live or not
        self._twice: dict[
            Site, dict[ValueId, int]
        ] = {}  # references that were computed again, after which steps

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        roots = [root.nid for root in event.roots]
        if event.call != "backward" or event.create_graph:
            return
        for pid in scores.reads(self.history, graph.ancestors(roots)):
            self._asked.setdefault(pid, self.history.iteration)
        yield from self._named_twice(event, roots)
        yield from (self._reversed(event, found) for found in reversed_references(self.history, roots))
        for difference in scores.differences(graph, roots):
            within = graph.live_ancestors(roots)
            if scores.is_taken_out(graph, difference) or not self._is_penalty(difference, within):
                continue
            learned = graph.live_params([difference.live.nid])
            if scores.ratio_of(graph, difference, within) is None and learned:
                yield from self._judged(event, difference, learned)
        for paid in references.paid_for(self.history, roots):
            if paid.difference.largest >= scores.SAME:  # else `_named_twice` has told it
                yield from self._judged(event, paid.difference, paid.learned)

    def _reversed(self, event: Backward, found: Reversed) -> Verdict:
        history, graph = self.history, self.history.graph
        made = used_in(history, scores.made(graph, found.reference), found.met)
        return Verdict(
            found.site,
            f"the reference's scores are added to those of {networks(history, found.learned)} for the same answers on "
            f"{line(history, found.met.site)}, not subtracted from them: the better and the worse one change places",
            [("met", found.met.site), ("reference", made), ("backward", event.site)],
            found.learned,
            fix="`(chosen - rejected) - (ref_chosen - ref_rejected)`",
        )

    def _named_twice(self, event: Backward, roots: list[ValueId]) -> Verdicts:
        """What is subtracted as a reference was computed by the policy, with the weights that its own were."""
        for found in scored_twice(self.history, roots):
            looks = self._twice.setdefault(found.divergence.site, {})
            epochs = [self.history.params[pid].epoch for pid in found.pids]
            looks.setdefault(found.reference.nid, max(epochs, default=DIFFERENT))
            if len(set(looks.values())) >= LOOKS and DIFFERENT not in looks.values():
                yield self._computed_again(event, found)

    def _computed_again(self, event: Backward, found: Twice) -> Verdict:
        history, copies = self.history, self.history.networks.copies
        made = used_in(history, scores.made(history.graph, found.reference), found.divergence)
        synced = [copies[pid].site for pid in sorted(found.read - found.pids) if pid in copies]
        what = "comes from a copy that follows" if synced else "is made by"
        return Verdict(
            synced[0] if synced else made,
            f"{value_at(history, made, 'the reference')} {what} {networks(history, found.pids)}, which is trained: "
            f"what is subtracted on {line(history, found.divergence.site)} was computed twice, from the same weights",
            [("reference", made), ("divergence", found.divergence.site), ("backward", event.site)],
            found.pids,
        )

    def _is_penalty(self, difference: Difference, within: dict[ValueId, Op]) -> bool:
        """A divergence is averaged into the loss, as it is, squared, or with its exponential; or it is the margin that
        a preference is wanted to have."""
        graph, stack, seen = self.history.graph, [difference.op.nid], set()
        while stack:
            nid = stack.pop()
            for user in (within[n] for n in graph.consumers.get(nid, ()) if n in within):
                squared = user.name == "pow" and nid == difference.op.nid
                if user.name not in PENALISING | PREFERRING and not squared:
                    return False
                if user.nid not in seen:
                    seen.add(user.nid)
                    stack.append(user.nid)
        return True

    def _judged(self, event: Backward, difference: Difference, learned: set[ParamId]) -> Verdicts:
        graph, history, site = self.history.graph, self.history, difference.op.site
        region = scores.scoring(graph, difference.constant)
        if not scores.reads(history, region) or self._chose(region):
            return
        if shared := self._shared(learned, region):
            yield self._borrowed(event, difference, shared, "a copy of the policy that has")
            return
        if shared := references.without_adapters(history, difference, learned):
            yield self._borrowed(event, difference, shared, "the policy without its adapters, which has")
            return
        if difference.largest >= scores.SAME:
            if not self._was_left_behind(event, difference, learned):
                self._apart.add(site)
            if references.is_base_from_before(history, difference, learned) and site not in self._judged_at:
                yield self._from_before_adapters(event, difference, learned)
            self._judged_at.add(site)
            asked = min(self._asked[pid] for pid in scores.reads(history, region))
            if asked == history.iteration and references.is_from_before(history, region, learned):
                yield self._from_before(event, difference, learned, region)
            yield from self._disagreement(event, difference, learned, region)
            return
        followed = {self._follows(pid) for pid in scores.reads(history, region)}
        if not followed & learned:  # it stands still, and so does the policy, for another reason
            return
        steps = self._same.setdefault(site, set())
        steps.add(max(history.params[pid].epoch for pid in learned))
        if len(steps) >= LOOKS and site not in self._apart:
            yield self._moves(event, difference, learned, len(steps))

    def _was_left_behind(self, event: Backward, difference: Difference, learned: set[ParamId]) -> bool:
        """In later epochs the policy leaves what it has said itself: that is no divergence from a reference. Only where
        the old log-probabilities of a clipped ratio are others."""
        graph, history = self.history.graph, self.history
        stepped = max(history.params[pid].stepped_after for pid in learned)
        if scores.newest_use(graph, scores.scoring(graph, difference.constant)) > stepped:
            return False
        if not references.is_of_a_choice(history, difference):
            return False
        roots = [root.nid for root in event.roots]
        within, made = graph.live_ancestors(roots), scores.made(graph, difference.constant)
        return any(
            (ratio := scores.ratio_of(graph, other, within)) is not None
            and scores.is_clipped_around_one(graph, ratio, within)
            and scores.made(graph, other.constant).nid != made.nid
            for other in scores.differences(graph, roots)
        )

    def _follows(self, pid: ParamId) -> ParamId:
        """The parameter whose changes it takes part in: itself, where it was copied once, before any training."""
        networks = self.history.networks
        copy = networks.copies.get(pid)
        moves = copy is not None and (
            copy.after_training or copy.times > 1 or pid in networks.moved or pid in networks.shares
        )
        return copy.source if copy is not None and moves else pid

    def _shared(self, learned: set[ParamId], region: dict[ValueId, Op]) -> set[ParamId]:
        """What a copy of the policy has in common with it, and the policy's steps have moved: an embedding, a body."""
        history, copies = self.history, self.history.networks.copies
        read = scores.reads(history, region).keys()
        own = read - learned
        copied = own and all(pid in copies and copies[pid].source in learned for pid in own)
        moved = {pid for pid in read & learned if history.params[pid].epoch and history.owner_of(pid)}
        return moved if copied and not any(history.owner_of(pid) for pid in own) else set()

    def _borrowed(
        self, event: Backward, difference: Difference, shared: set[ParamId], source: str
    ) -> Verdict:
        history, made = self.history, scores.line_of(self.history, difference)
        return Verdict(
            made,
            f"{value_at(history, made, 'the reference')} comes from {source} {networks(history, shared)} in common "
            "with it: every step moves the reference, too",
            [("reference", made), ("divergence", difference.op.site), ("backward", event.site)],
            shared,
        )

    def _chose(self, region: dict[ValueId, Op]) -> bool:
        """Whether the same pass also chose what is scored: then it is the policy that acted."""
        graph = self.history.graph
        return any(
            (user := graph.get(nid)) is not None and scores.chooses(user)
            for value in region.values()
            if value.kind == "operation" and not scores.chooses(value)
            for nid in graph.consumers.get(value.nid, ())
        )

    def _from_before(
        self, event: Backward, difference: Difference, learned: set[ParamId], region: dict[ValueId, Op]
    ) -> Verdict:
        history, copies = self.history, self.history.networks.copies
        copied = min((copies[pid].site for pid in scores.reads(history, region)), default=NOWHERE)
        made = scores.line_of(history, difference)
        return Verdict(
            copied,
            f"the reference was copied before {networks(history, learned)} had its first training: now that the second "
            f"begins, they are {difference.largest:.2g} apart on {line(history, difference.op.site)}, and the "
            "penalty draws the policy back to where the first began",
            [("reference", made), ("divergence", difference.op.site), ("backward", event.site)],
            learned,
            severity="warning",
            fix="copy the reference after the fine-tuning, right before the training that is to stay near it",
        )

    def _from_before_adapters(
        self, event: Backward, difference: Difference, learned: set[ParamId]
    ) -> Verdict:
        history, made = self.history, scores.line_of(self.history, difference)
        return Verdict(
            made,
            f"{value_at(history, made, 'the reference')} is the policy without {networks(history, learned)}, which has "
            f"had a training before: now that the second begins, they are {difference.largest:.2g} apart on "
            f"{line(history, difference.op.site)}, and the penalty draws the policy back to where the first began",
            [("reference", made), ("divergence", difference.op.site), ("backward", event.site)],
            learned,
            severity="warning",
            fix="take the adapters as they are after the first training for the reference: keep a frozen copy of them, "
            "or merge them into the base and train new ones",
        )

    def _disagreement(
        self, event: Backward, difference: Difference, learned: set[ParamId], region: dict[ValueId, Op]
    ) -> Verdicts:
        """A copy of a policy that was not stepped yet gives another score: its own dropout is on, or it is asked in
        another way."""
        far = difference.largest > FAR and difference.mean > ON_AVERAGE and math.isfinite(difference.mean)
        if not far or not references.is_fresh_copy(self.history, region, learned):
            return
        if any(op.name in scores.DROPPING and not op.facts.idle for op in region.values()):
            yield self._noisy(event, difference, learned)
        elif (apart := references.scored_otherwise(self.history, difference)) is not None:
            yield self._asked_otherwise(event, difference, learned, apart)
        elif (part := exchanged_part(self.history.graph, difference)) is not None:
            yield self._exchanged(event, difference, learned, part)

    def _exchanged(self, event: Backward, difference: Difference, learned: set[ParamId], part: Op) -> Verdict:
        history, site = self.history, used_in(self.history, part, difference.op)
        return Verdict(
            site,
            f"the reference's score of one part of the batch is compared with the policy's score of another on "
            f"{line(history, difference.op.site)}: {networks(history, learned)} was copied and not stepped yet, and "
            f"they differ by up to {difference.largest:.2g} in log-probability",
            [("reference", site), ("divergence", difference.op.site), ("backward", event.site)],
            learned,
            fix="take the parts of the reference's scores in the order of the policy's",
        )

    def _asked_otherwise(
        self, event: Backward, difference: Difference, learned: set[ParamId], apart: Op
    ) -> Verdict:
        history, made = self.history, scores.line_of(self.history, difference)
        return Verdict(
            made,
            f"{value_at(history, made, 'the reference')} comes from a copy of {networks(history, learned)} and is "
            f"scored in another way: before the first step they differ by up to {difference.largest:.2g} in "
            f"log-probability (only one of them has `{apart.name}` on {line(history, apart.site)})",
            [
                ("reference", made),
                ("differs", apart.site),
                ("divergence", difference.op.site),
                ("backward", event.site),
            ],
            learned,
            fix="read the reference as the policy is read: the same temperature, the same mask, the same positions",
        )

    def _noisy(self, event: Backward, difference: Difference, learned: set[ParamId]) -> Verdict:
        history, made = self.history, scores.line_of(self.history, difference)
        return Verdict(
            made,
            f"{value_at(history, made, 'the reference')} comes from a copy of {networks(history, learned)} whose "
            f"dropout is on: before the first step they differ by up to {difference.largest:.2g} in log-probability",
            [("reference", made), ("divergence", difference.op.site), ("backward", event.site)],
            learned,
        )

    def _moves(self, event: Backward, difference: Difference, learned: set[ParamId], steps: int) -> Verdict:
        history, graph = self.history, self.history.graph
        pids = scores.reads(history, scores.scoring(graph, difference.constant))
        made, copies = scores.line_of(history, difference), history.networks.copies
        synced = [copies[pid].site for pid in pids if pid in copies and pid not in learned]
        whose = networks(history, learned)
        what = (
            f"is made by {whose}, which is trained"
            if not synced
            else f"comes from a copy that follows {whose}"
        )
        return Verdict(
            synced[0] if synced else made,
            f"{value_at(history, made, 'the reference')} {what}: the divergence on {line(history, difference.op.site)} "
            f"is exactly zero in {steps} updates with steps between them",
            [("reference", made), ("divergence", difference.op.site), ("backward", event.site)],
            learned,
        )


rule = ReferenceDrifts
