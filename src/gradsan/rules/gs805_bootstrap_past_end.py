"""GS805: the target takes a next value where the episode was over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gradsan.judge.lines.stored_rows import stored_at
from gradsan.judge.report import reasons
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.bootstraps import (
    Bootstrap,
    bootstraps_in,
    bootstraps_of_recurring_places,
    has_learned_target,
    learned_targets,
)
from gradsan.judge.returns.cut_estimates import estimates_in
from gradsan.judge.returns.padding_values import values_of_padding
from gradsan.judge.returns.projected_targets import projected_targets
from gradsan.judge.returns.shifted_ends import EndsOfFirstSteps, EndsOfOthers, ShiftedEnds
from gradsan.judge.returns.single_bootstraps import SingleBootstraps
from gradsan.judge.returns.unmasked_parts import Unmasked, unmasked_parts
from gradsan.judge.returns.unmasked_steps import FIX, UnmaskedStep, unmasked_steps
from gradsan.judge.returns.unread_flags import FlagsWatch, UnreadFlags
from gradsan.record.events import NOWHERE, Backward, Site, Transition
from gradsan.rules.base import Rule, Verdict, Verdicts

ENOUGH = 3  # rows
ENOUGH_UPDATES = 2
MOST_OTHERS = 5  # agents that are stepped together
SHORTEST = 5  # steps of a horizon


@dataclass(slots=True)
class _Rows:
    """Of one target: at how many rows of each kind a next value was taken, and at how many none was."""

    taken: int = 0
    left_out: int = 0

    def add(self, rest: list[float]) -> None:
        self.taken += sum(number != 0.0 for number in rest)
        self.left_out += sum(number == 0.0 for number in rest)


class BootstrapPastEnd(Rule):
    code = "GS805"
    name = "bootstrap-past-end"
    severity = "error"
    needs_deep = True
    what = """
        The target adds the value of the next state though the environment said that the episode had terminated there.
        Or it adds, where an episode was truncated, the value of the state that the next episode begins with. Or its
        flags are one step off. Or it adds what the critic says of the padding behind the last token of an answer. Or (a
        warning) it adds no value though the episode was only truncated.
    """
    why = """
        After a terminal state nothing follows, so its value is zero by definition. A target that adds what the network
        happens to say of it teaches that failing is followed by more rewards: nothing else ever corrects that number.
        The other way round, running out of time is not failing: what the state was worth is cut off, and states
        that are far from any end are taught to be worth as little as one.
    """
    symptom = (
        "Values drift upwards and never come down; the agent does not learn to avoid what ends an episode."
    )
    fix = "mask the next value by `terminated`, not `truncated`: `reward + gamma * (1 - terminated) * next_value`"
    deliberate = """
        Tasks without an end, and those where what follows an end is the next start or an absorbing state, are not
        reported. Where a state that the environment calls terminal is to have a value of its own, allow it on the line.
    """
    bad = (
        """
        import numpy, torch

        class Walk:
            def __init__(self):
                self.random = numpy.random.default_rng(0)

            def reset(self):
                self.x = self.random.normal(size=3).astype("float32")
                return self.x.copy(), {}

            def step(self, action):
                self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
                return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

        env, critic = Walk(), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(6):
            rows = []
            for _ in range(32):
                next_obs, reward, terminated, truncated, _ = env.step(1.0)
                rows.append((obs, reward, next_obs, float(terminated)))
                obs = env.reset()[0] if terminated else next_obs
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            target = r + 0.99 * critic(s2).squeeze(-1).detach()  # BUG
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import numpy, torch

        class Walk:
            def __init__(self):
                self.random = numpy.random.default_rng(0)

            def reset(self):
                self.x = self.random.normal(size=3).astype("float32")
                return self.x.copy(), {}

            def step(self, action):
                self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
                return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

        env, critic = Walk(), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(6):
            rows = []
            for _ in range(32):
                next_obs, reward, terminated, truncated, _ = env.step(1.0)
                rows.append((obs, reward, next_obs, float(terminated)))
                obs = env.reset()[0] if terminated else next_obs
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            target = r + 0.99 * end * critic(s2).squeeze(-1).detach()  # BUG
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Generalised advantages: the clock counts as an end.
        import numpy, torch

        class Walk:
            def __init__(self):
                self.random = numpy.random.default_rng(0)

            def reset(self):
                self.x, self.t = self.random.normal(size=3).astype("float32"), 0
                return self.x.copy(), {}

            def step(self, action):
                self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
                self.t += 1
                return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 3), self.t >= 7, {}

        env, critic = Walk(), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(6):
            rows = []
            for _ in range(32):
                next_obs, reward, terminated, truncated, _ = env.step(1.0)
                rows.append((obs, reward, next_obs, terminated, terminated or truncated))
                obs = env.reset()[0] if terminated or truncated else next_obs
            s, r, s2, end, over = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            with torch.no_grad():
                value, ahead, last = critic(s).squeeze(-1), critic(s2).squeeze(-1), 0.0
                delta = r + 0.9 * (1 - over) * ahead - value  # BUG
                advantage = torch.zeros(32)
                for t in reversed(range(32)):
                    last = delta[t] + 0.9 * 0.8 * (1 - over[t]) * last
                    advantage[t] = last
            loss = (critic(s).squeeze(-1) - (advantage + value)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import numpy, torch

        class Walk:
            def __init__(self):
                self.random = numpy.random.default_rng(0)

            def reset(self):
                self.x = self.random.normal(size=3).astype("float32")
                return self.x.copy(), {}

            def step(self, action):
                self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
                return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

        env, critic = Walk(), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(6):
            rows = []
            for _ in range(32):
                next_obs, reward, terminated, truncated, _ = env.step(1.0)
                rows.append((obs, reward, next_obs, float(terminated)))
                obs = env.reset()[0] if terminated else next_obs
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch

        class Chain:
            def __init__(self):
                self.x = torch.zeros(6)
            def step(self, action):
                self.x = self.x + action + torch.rand(6)
                done = self.x > 2
                self.x = torch.where(done, torch.zeros(6), self.x)
                return self.x.unsqueeze(-1), done.float(), done.float()

        world, policy, critic = Chain(), torch.nn.Linear(1, 2), torch.nn.Linear(1, 1)
        opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
        state = world.x.unsqueeze(-1)
        for _ in range(4):
            states, actions, values, rewards, dones = ([] for _ in range(5))
            with torch.no_grad():
                for _ in range(6):
                    states.append(state)
                    actions.append(torch.distributions.Categorical(logits=policy(state)).sample())
                    values.append(critic(state).squeeze(-1))
                    state, reward, done = world.step(actions[-1])
                    rewards.append(reward)
                    dones.append(done)
                following, advantage, advantages = critic(state).squeeze(-1), torch.zeros(6), []
                for t in reversed(range(6)):
                    delta = rewards[t] + 0.9 * (1.0 - dones[t]) * following - values[t]
                    advantage = delta + 0.9 * 0.8 * (1.0 - dones[t]) * advantage
                    advantages.insert(0, advantage)
                    following = values[t]
            s, a, weight = torch.cat(states), torch.cat(actions), torch.cat(advantages)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            fit = (critic(s).squeeze(-1) - (weight + torch.cat(values))).pow(2).mean()
            opt.zero_grad()
            (fit - (log_prob * weight).mean()).backward()
            opt.step()
        """,
        """
        # A world without an end; and one number for all steps.
        import torch

        class Chain:
            def __init__(self):
                self.x = torch.zeros(6)
            def step(self, action):
                self.x = self.x + action + torch.rand(6)
                done = self.x > 2
                self.x = torch.where(done, torch.zeros(6), self.x)
                return self.x.unsqueeze(-1), done.float(), done.float()

        world, policy, critic = Chain(), torch.nn.Linear(1, 2), torch.nn.Linear(1, 1)
        opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
        state = world.x.unsqueeze(-1)
        for _ in range(4):
            states, actions, values, rewards, dones = ([] for _ in range(5))
            with torch.no_grad():
                for _ in range(6):
                    states.append(state)
                    actions.append(torch.distributions.Categorical(logits=policy(state)).sample())
                    values.append(critic(state).squeeze(-1))
                    state, reward, done = world.step(actions[-1])
                    rewards.append(reward)
                    dones.append(done)
                following, advantage, advantages = critic(state).squeeze(-1), torch.zeros(6), []
                for t in reversed(range(6)):
                    delta = rewards[t] + 0.9 * following - values[t]
                    advantage = delta + 0.9 * 0.8 * advantage
                    advantages.insert(0, advantage)
                    following = values[t]
            s, a, weight = torch.cat(states), torch.cat(actions), torch.cat(advantages)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            fit = (critic(s).squeeze(-1) - (weight + torch.cat(values))).pow(2).mean()
            opt.zero_grad()
            (fit - (log_prob * weight).mean()).backward()
            opt.step()
        """,
    )

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._rows: dict[tuple[Site, str], _Rows] = defaultdict(_Rows)
        self._cut: dict[Site, _Rows] = defaultdict(_Rows)  # truncated steps of estimates over many steps
        self._sides: dict[Site, tuple[ShiftedEnds, ...]] = {}
        self._begun: dict[Site, _Rows] = defaultdict(_Rows)  # truncated steps that go on in the next episode
        self._longest: dict[int, int] = {}  # episode of each stream
        self._shaped = Counter[Site]()  # updates by rewards that the script makes
        self._learned = set[Site]()  # where targets that hold a network's word were made
        self._single = SingleBootstraps(self.history)
        self._unknown = False  # there was a target whose rows are of unknown origin
        self._flags = FlagsWatch(self.history)

    def _behind_the_answer(self, event: Backward) -> Verdicts:
        """Answers end where their padding begins, whoever ended them."""
        within = self.history.graph.live_ancestors(root.nid for root in event.roots)
        for found in values_of_padding(self.history.graph, within):
            yield Verdict(
                found.taken.site,
                f"the next value of an answer's last token is what the critic says of the padding behind it, which the "
                f"mask on {line(self.history, found.masked.site)} leaves out of the loss: "
                f"{line(self.history, found.target.site)} adds it all the same",
                [("next value", found.taken.site), ("target", found.target.site), ("mask", found.masked.site),
                 ("backward", event.site)],
                event.reached,
                fix="mask the values before they are used: `values = values * mask`",
            )  # fmt: skip

    def on_backward(self, event: Backward) -> Verdicts:
        if not self._unknown and self.history.experience.was_lost:
            self._unknown = has_learned_target(self.history, event)
        yield from self._behind_the_answer(event)
        self._learned |= learned_targets(self.history, event)
        for target in self._targets_in(event):
            self._note_lengths()
            kinds = {}
            for end in ("", "truncated", "terminated"):
                kinds[end] = rows = self._rows[target.site, end]
                of_kind = [rest for rest in target.rest if self._end_of(rest.transition) == end]
                rows.add([rest.number for rest in of_kind if rest.follows or rest.number == 0.0])
            going_on, truncated, terminated = kinds.values()
            if self._is_of_another_task(target):
                continue
            if side := self._shifted(target):
                yield self._beside_the_ends(event, target, side)
                continue
            if begun := self._next_starts(target, truncated, terminated):
                yield self._from_next_start(event, target, begun)
                continue
            if going_on.taken < 10 * max(1, going_on.left_out):
                # This target has no next value, or only where there is none.
                if terminated.taken >= ENOUGH and not (
                    terminated.left_out or going_on.taken or truncated.taken
                ):
                    yield self._turned_round(event, target, terminated.taken, going_on.left_out)
                continue
            if terminated.taken >= ENOUGH and not terminated.left_out and not self._is_a_horizon():
                yield self._past_end(event, target, terminated.taken)
            elif truncated.left_out >= ENOUGH and not truncated.taken and not terminated.taken:
                yield self._cut_short(event, target, truncated.left_out)

        yield from self._estimates(event)
        for found in unmasked_parts(self.history, event):
            yield self._outside_the_mask(event, found)
        book = self.history.experience
        is_known = book.environments and not book.was_lost  # then the numbers tell, and GS806 does
        for step in unmasked_steps(self.history, event) if not is_known else ():
            if step.lacks == "value":
                yield self._without_flags(event, step)
        if not self.history.experience.environments:
            for unread in self._flags.unread_in(event):
                yield self._flags_unread(event, unread)

    def _targets_in(self, event: Backward) -> Iterator[Bootstrap]:
        yield from bootstraps_in(self.history, event)
        yield from projected_targets(self.history, event)
        yield from bootstraps_of_recurring_places(self.history, event)
        yield from self._single.found_in(event)

    def _is_of_another_task(self, target: Bootstrap) -> bool:
        """Rewards that a script makes may be a bonus beside those of the environment, which another line learns from;
        the first update cannot tell."""
        self._shaped[target.site] += target.shaped
        return target.shaped and (self._shaped[target.site] < ENOUGH_UPDATES or len(self._learned) > 1)

    def _shifted(self, target: Bootstrap) -> ShiftedEnds | None:
        if target.alike or target.shaped:  # what came before and after is not known
            return None
        sides = self._sides.setdefault(
            target.site,
            (
                ShiftedEnds("come right after the end of an episode", -1),
                ShiftedEnds("come right before the end of an episode", 1),
                EndsOfFirstSteps("end with their first step", 0),
                *(EndsOfOthers("lie beside the end of another's", by) for by in range(1, MOST_OTHERS)),
            ),
        )
        for side in sides:
            side.add(self.history.experience, target.rest)
        return next((side for side in sides if side.is_so), None)

    def _next_starts(self, target: Bootstrap, truncated: _Rows, terminated: _Rows) -> int:
        """How many truncated episodes go on in the next start, where those that are over do not."""
        own = [rest for rest in target.rest if self._end_of(rest.transition) == "truncated" and rest.starts]
        rows = self._begun[target.site]
        rows.add([rest.number for rest in own])
        episodic = terminated.left_out and not terminated.taken
        right = truncated.taken or rows.left_out
        return rows.taken if own and rows.taken >= ENOUGH and episodic and not right else 0

    def _estimates(self, event: Backward) -> Verdicts:
        """Advantages and returns over many steps, where the clock ended the episode."""
        for estimate in estimates_in(self.history, event):
            rows = self._cut[estimate.site]
            rows.taken += estimate.taken
            rows.left_out += estimate.left_out
            if estimate.left_out and rows.left_out >= ENOUGH and not rows.taken:
                site, loss = estimate.site, estimate.met.op.site
                yield Verdict(
                    site,
                    f"{value_at(self.history, site, 'the target')}, which {line(self.history, loss)} learns, takes no "
                    f"next value at all {rows.left_out} steps where the episode was only truncated: running out of "
                    "time is learned as an end",
                    [("target", site), ("loss", loss), ("backward", event.site)],
                    severity="warning",
                )

    def _note_lengths(self) -> None:
        for transition in self.history.experience.transitions.values():
            longest = self._longest.get(transition.stream, 0)
            self._longest[transition.stream] = max(longest, transition.length)

    def _end_of(self, transition: Transition) -> str:
        """A lone flag may be the clock's. It is not where another episode went on for longer; of the first, nobody
        knows whether it was seen from its beginning."""
        shorter = 0 < transition.length < self._longest.get(transition.stream, 0)
        is_first = transition.length > transition.step
        return "terminated" if transition.end == "done" and shorter and not is_first else transition.end

    def _is_a_horizon(self) -> bool:
        """Whether all episodes have the same length: then `terminated` may stand for a time limit, which a script that
        knows better is right to ignore."""
        steps: dict[int, list[int]] = defaultdict(list)
        for (stream, step), transition in sorted(self.history.experience.transitions.items()):
            if transition.end == "terminated":
                steps[stream].append(step)
        firsts = [own[0] + 1 for own in steps.values()]
        later = [b - a for own in steps.values() for a, b in pairwise(own)]
        shortest = min([*firsts, *later], default=0)
        # An end that nobody has met leaves a multiple; a step that only starts anew makes all but the first one longer.
        return shortest >= SHORTEST and any(
            all(n % length == 0 for n in later) and all(n % length in (0, length - 1) for n in firsts)
            for length in (shortest, shortest + 1)
        )

    def could_not_look(self) -> str:
        book = self.history.experience
        return reasons.NOT_FOLLOWED if self._unknown and book.was_lost and not book.alike else ""

    def _past_end(self, event: Backward, target: Bootstrap, rows: int) -> Verdict:
        return self._verdict(
            event, target, "error",
            f"holds more than the reward at all {rows} rows where the episode was terminated: it takes the value"
            f" of a state after which nothing follows",
        )  # fmt: skip

    def _without_flags(self, event: Backward, found: UnmaskedStep) -> Verdict:
        what = value_at(self.history, found.joined.site, "the advantage")
        return Verdict(
            found.site,
            f"{what}, of {found.steps} steps, carries the sum on only where an episode goes on, and takes the value of "
            "the next step everywhere: after an end that is the first state of another episode",
            [("target", found.site), ("put together", found.joined.site), ("backward", event.site)],
            fix=FIX,
        )

    def _flags_unread(self, event: Backward, found: UnreadFlags) -> Verdict:
        site = found.target.site
        return Verdict(
            site,
            f"{value_at(self.history, site, 'the target')} takes the next value at every row, and nobody reads "
            f"`{found.name}`: the flags of {line(self.history, found.flags)}, one for each row, have no effect",
            [("target", site), ("flags", found.flags), ("backward", event.site)],
            severity="warning",
        )

    def _beside_the_ends(self, event: Backward, target: Bootstrap, found: ShiftedEnds) -> Verdict:
        culprit = stored_at(self.history, target.site) if found.put_away else NOWHERE
        return self._verdict(event, target, "error", found.text, culprit)

    def _from_next_start(self, event: Backward, target: Bootstrap, rows: int) -> Verdict:
        return self._verdict(
            event, target, "error",
            f"takes, at all {rows} rows where the episode was truncated, the value of the state that the next episode "
            "begins with: a copy that starts anew by itself has left the last one in `info`",
            stored_at(self.history, target.site),
        )  # fmt: skip

    def _outside_the_mask(self, event: Backward, found: Unmasked) -> Verdict:
        history, site, loss = self.history, found.entropy.added.site, found.met.site
        return Verdict(
            site,
            f"{value_at(history, site, 'the target')}, which {line(history, loss)} learns, multiplies the next value "
            "with a factor for each row, and not the log-probability of the same next action: it is counted after the "
            "end of an episode as well",
            [("target", site), ("loss", loss), ("backward", event.site)],
            fix="put both into one bracket: `reward + mask * (next_value - alpha * next_log_prob)`",
        )

    def _turned_round(self, event: Backward, target: Bootstrap, ends: int, others: int) -> Verdict:
        return self._verdict(
            event, target, "error",
            f"takes a next value at all {ends} rows where the environment said `terminated`, and at none of the "
            f"{others} where the episode goes on: the mask is turned round",
        )  # fmt: skip

    def _cut_short(self, event: Backward, target: Bootstrap, rows: int) -> Verdict:
        return self._verdict(
            event, target, "warning",
            f"takes no next value at all {rows} rows where the episode was only truncated: running out of time is"
            f" learned as an end",
        )  # fmt: skip

    def _verdict(
        self, event: Backward, target: Bootstrap, severity: str, text: str, culprit: Site = NOWHERE
    ) -> Verdict:
        site, loss = target.site, target.met.op.site
        return Verdict(
            culprit or site,
            f"{value_at(self.history, site, 'the target')}, which {line(self.history, loss)} learns, {text}",
            [("target", site), ("loss", loss), ("backward", event.site)],
            severity=severity,
        )


rule = BootstrapPastEnd
