"""GS806: a return that belongs to another step, or to another episode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.lines.helper_lines import helper_line
from gradsan.judge.lines.kept_sums import summed_by_class
from gradsan.judge.lines.running_sums import added_at, carried_on_at, cut_at, filled_at
from gradsan.judge.lines.stored_rows import reward_stored_at, stored_at
from gradsan.judge.objective.weighed import Met, entries, is_score, laid_out_at, met_in, origin
from gradsan.judge.report import reasons
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns import reordered
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.carried_from_itself import carried_from_themselves
from gradsan.judge.returns.discounted_in_place import are_discounted_in_place
from gradsan.judge.returns.drawn_apart import drawn_apart
from gradsan.judge.returns.indexed_order import indexed_disorders
from gradsan.judge.returns.kept_rows import KeptBatch, KeptRows
from gradsan.judge.returns.misplaced_actions import MisplacedActions, actions_in
from gradsan.judge.returns.misplaced_rewards import MisplacedRewards, Whose, put_at, rewards_in
from gradsan.judge.returns.number_order import number_disorders
from gradsan.judge.returns.numpy_targets import arrival
from gradsan.judge.returns.own_predictions import own_predictions
from gradsan.judge.returns.own_state_targets import own_states_in
from gradsan.judge.returns.return_laws import FEWEST_PAIRS, SLOWEST, Law, ReturnRow, Series
from gradsan.judge.returns.rollout_order import Disorder, disorders
from gradsan.judge.returns.rollout_sums import rollouts, values_alone
from gradsan.judge.returns.same_successors import SameSuccessor, same_successors_in
from gradsan.judge.returns.shuffled_rollouts import ShuffledRollout
from gradsan.judge.returns.single_steps import SingleSteps
from gradsan.judge.returns.windows import crossings, discount_of, windows_behind
from gradsan.record.events import NOWHERE, Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

ENOUGH_BORDERS = 3  # ends of episodes that a return ran across
ENOUGH_UPDATES = 2  # in which the order was wrong
MOST_UPDATES = 8  # of a few steps each that are looked at together
OWN_STATE = "takes, at each of {steps} steps, the value of its own state where that of the next one belongs"
DRAWN_APART = "meets, at each of {rows} rows, the prediction for another row: they were not drawn together"
ONE_FOR_ALL = "takes, at all {rows} rows, the value of one and the same next observation, the newest"
TEXTS: dict[reordered.Disorder, str] = {
    "reversed": "holds, at {steps} steps, the returns from the last to the first: each is that of another step",
    "reversed sums of the past": "holds, at {steps} steps, sums of the rewards before another step: it runs with time "
    "and is put together against it",
    "late": "is, at each of {steps} steps, the return of the step after it: what its own action brought is not in it",
    "early": "is, at each of {steps} steps, the return of the step before it: it begins with what had been paid before "
    "its own action",
    "rewards before": "is made, at each of {steps} steps, of the reward of the step before it: what had been paid "
    "before its own action",
    "rewards after": "is made, at each of {steps} steps, of the reward of the step after it: what its own action "
    "brought is not in it",
    "by the copies": "is put in order copy by copy, and what it meets step by step, or the other way round: each of "
    "{steps} numbers is the return of another step",
    "sums of the past": "is carried on from the first step to the last, at each of {steps}: it holds the errors that "
    "came before, not those that follow",
}
WHERE: dict[reordered.Disorder, Callable[[History, Site], Site]] = {
    "reversed": filled_at, "early": reward_stored_at, "rewards before": reward_stored_at,
    "rewards after": reward_stored_at,
}  # fmt: skip
ACTIONS = {
    "before": "the action that `step` was given one step before the one that its observation is about",
    "after": "the action that `step` was given one step after the one that its observation is about",
    "elsewhere": "an action that `step` was given for another of its observations: they are in another order",
}
REWARDS: dict[Whose, str] = {
    "before": "adds, at each of {rows} rows, the reward of the step before the one that its observation is about: what "
    "was paid before the action was taken",
    "after": "adds, at each of {rows} rows, the reward of the step after the one that its observation is about",
    "of another copy": "adds, at each of {rows} rows, the reward that another copy of the environment was given",
    "elsewhere": "adds, at each of {rows} rows, the reward of another step than the one that its observation is about: "
    "they were not drawn together",
}


@dataclass(slots=True)
class _Seen:
    """What was found on one line so far."""

    crossed: int = 0
    stopped: int = 0
    valued: int = 0
    not_valued: int = 0
    looks_back: int = 0
    only_discounted: int = 0
    beside: int = 0
    values_alone: int = 0
    from_itself: int = 0
    disordered: int = 0
    own_actions: int = 0
    other_actions: int = 0
    misplaced: int = 0
    in_place: int = 0
    same_successor: int = 0
    drawn_apart: int = 0
    right: int = 0


class MisalignedReturn(Rule):
    code = "GS806"
    name = "misaligned-return"
    severity = "error"
    needs_deep = True
    what = """
        The return (or advantage, or value target) of a step is made of rewards that do not belong to it: of those of
        the next episode, of those that came before it, or of its own alone; or of none at all. Or a row of a batch is
        about several steps at once: its reward, its action or its next observation belongs to another step, or to
        another copy of the environment, than its observation. Or a rollout is never emptied, and every update learns
        from all the old ones as well.
    """
    why = """
        A return says what followed an action. Where the running sum is not set to zero at the end of an episode, the
        last actions are praised for what the next episode brings; where it is left in the order it was summed up in,
        early actions get what belongs to late ones. Where a transition is put away before its reward is known, every
        action is praised for what the one before it brought. Nothing raises: the shapes are right, and so is the
        gradient.
    """
    symptom = "The policy improves a little, then stalls or gets worse, above all where episodes are short."
    fix = "start anew at each end, `running = reward + gamma * running * (1 - done)`, and keep the order of time"
    deliberate = """
        Average-reward methods sum up differences to the mean reward over resets, and are not reported. A discounted
        return that is meant to run over resets: allow it on the line.
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

        env, policy = Walk(), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(4):
            seen, actions, rewards = [], [], []
            for _ in range(40):
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
                seen.append(obs)
                actions.append(action)
                obs, reward, terminated, truncated, _ = env.step(int(action))
                rewards.append(reward)
                if terminated:
                    obs, _ = env.reset()
            running, returns = 0.0, []
            for reward in reversed(rewards):
                running = reward + 0.9 * running  # BUG
                returns.insert(0, running)
            returns = torch.tensor(returns)
            dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
            loss = -(dist.log_prob(torch.stack(actions)) * returns).mean()
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

        env, policy = Walk(), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(12):
            seen, actions, rewards, over = [], [], [], False
            while not over:
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
                seen.append(obs)
                actions.append(action)
                obs, reward, terminated, truncated, _ = env.step(int(action))
                rewards.append(reward)
                over = terminated
            obs, _ = env.reset()
            running, returns = 0.0, []
            for reward in reversed(rewards):
                running = reward + 0.9 * running
                returns.append(running)  # BUG
            returns = torch.tensor(returns)
            dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
            loss = -(dist.log_prob(torch.stack(actions)) * returns).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The target asks about the state that the prediction is about.
        import numpy, torch

        class Walk:
            def __init__(self):
                self.random = numpy.random.default_rng(0)

            def reset(self):
                self.x, self.t = self.random.normal(size=3).astype("float32"), 0
                return self.x.copy()

            def step(self, action):
                self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
                self.t += 1
                return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

        env, critic = Walk(), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        obs = env.reset()
        for _ in range(6):
            rows = []
            for _ in range(32):
                next_obs, reward, done = env.step(1.0)
                rows.append((obs, reward, next_obs, float(done)))
                obs = env.reset() if done else next_obs
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            target = r + 0.99 * critic(s).squeeze(-1).detach() * (1 - end)  # BUG
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
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

        env, policy = Walk(), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(4):
            seen, actions, rewards, ends = [], [], [], []
            for _ in range(40):
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
                seen.append(obs)
                actions.append(action)
                obs, reward, terminated, truncated, _ = env.step(int(action))
                rewards.append(reward)
                ends.append(terminated)
                if terminated:
                    obs, _ = env.reset()
            running, returns = 0.0, []
            for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
                running = reward + 0.9 * running * (not end)
                returns.insert(0, running)
            returns = torch.tensor(returns)
            dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
            loss = -(dist.log_prob(torch.stack(actions)) * returns).mean()
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

        env, policy = Walk(), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        obs, _ = env.reset()
        for _ in range(4):
            rows = []
            for _ in range(40):
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
                next_obs, reward, terminated, _, _ = env.step(int(action))
                rows.append((obs, int(action), reward, terminated))
                obs = env.reset()[0] if terminated else next_obs
            s, a, r, end = (numpy.array(part) for part in zip(*rows))
            returns, running = numpy.zeros(40, dtype="float32"), 0.0
            for t in reversed(range(40)):
                running = 0.0 if end[t] else running
                running = r[t] + 0.9 * running
                returns[t] = running
            weight = torch.tensor((returns - returns.mean()) / returns.std())
            log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(s))).log_prob(torch.tensor(a))
            loss = -(log_prob * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch

        class World:  # without `reset`, and one copy only
            def __init__(self):
                self.x = torch.zeros(1, 3)
            def step(self, action):
                self.x = 0.5 * self.x + torch.randn(1, 3)
                return self.x, self.x[:, 0] + action

        world, policy = World(), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(4):
            scores, rewards, returns, total = [], [], [], 0.0
            for _ in range(8):
                choice = torch.distributions.Categorical(logits=policy(world.x))
                action = choice.sample()
                scores.append(choice.log_prob(action))
                rewards.append(float(world.step(action)[1]))
            for reward in reversed(rewards):
                total = reward + 0.9 * total
                returns.insert(0, total)
            loss = -(torch.cat(scores) * torch.tensor(returns)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._seen: dict[tuple[Site, bool], _Seen] = defaultdict(_Seen)  # weights and targets apart
        self._read: set[ValueId] = set()  # rollouts
        self._disorders: dict[Site, int] = {}
        self._alone: dict[Site, int] = {}  # sums of predictions and zeros
        self._parts: dict[Site, ShuffledRollout] = defaultdict(ShuffledRollout)
        self._short: dict[tuple[Site, bool], list[Series]] = defaultdict(list)  # updates of a few steps
        self._rows = KeptRows(self.history)
        self._single = SingleSteps(self.history)
        self._late = False  # the observations of this loss are those after their actions

    def on_backward(self, event: Backward) -> Verdicts:
        for look in (disorders, number_disorders, indexed_disorders):
            for found in look(self.history, event):
                yield from self._disorder(event, found)
        for batch in self._rows.kept_in(event) if event.call == "backward" else ():
            yield self._kept(event, batch)
        yield from self._own_predictions(event)
        yield from self._from_themselves(event)
        if not self.history.experience.was_followed:
            return
        yield from self._own_states(event)
        for same in same_successors_in(self.history, event):
            yield from self._same_successors(event, same)
        self._late = False
        for actions in actions_in(self.history, event):
            self._late = self._late or actions.whose == "before"
            yield from self._other_actions(event, actions)
        yield from self._drawn_apart(event)
        for rewards in rewards_in(self.history, event):
            yield from self._misplaced(event, rewards)
        for rewards in self._single.rewards_in(event):
            yield from self._misplaced(event, rewards, ENOUGH_UPDATES)
        series: dict[tuple[Site, int], tuple[Met, list[ReturnRow]]] = {}
        for met in met_in(self.history, event):
            if met.op.name == "mul" and not is_score(self.history, met.live):
                continue
            # A loop over the steps is one series; batches are one each.
            key = (met.op.site, 0 if len(met.numbers) == 1 else met.op.nid)
            series.setdefault(key, (met, []))[1].extend(entries(self.history, met))
        for met, rows in series.values():
            is_target = met.constant is not None and met.op.name != "mul"
            together = self._add_part(met, rows) if is_target else None
            yield from self._judge(event, met, Series(rows))
            if together is not None:
                yield from self._judge_parts(event, met, together)
            if met.constant is not None and is_target:
                yield from self._judge_rollout(event, met, rows)
                yield from self._judge_windows(event, met, met.constant)

    def _kept(self, event: Backward, batch: KeptBatch) -> Verdict:
        history, site = self.history, batch.joined.site
        weighed = line(history, batch.weighed.site)
        return Verdict(
            site,
            f"{value_at(history, site, 'the batch')} has {batch.now} rows, and the first {batch.before} are those of "
            f"the update before; so it was {batch.times} times in a row: the policy on {weighed} "
            "learns again and again from what older ones did",
            [("put together", site), ("loss", batch.weighed.site), ("backward", event.site)],
            fix="empty the rollout after each update (`memory.clear()`), before the next episode is put in",
        )

    def _own_predictions(self, event: Backward) -> Verdicts:
        for total, error in own_predictions(self.history, event):
            if total.nid in self._read:
                continue
            self._read.add(total.nid)
            times = self._alone[total.site] = self._alone.get(total.site, 0) + 1
            if times >= ENOUGH_UPDATES:
                yield Verdict(
                    total.site,
                    f"{value_at(self.history, total.site, 'the return')} is what the value learns on "
                    f"{line(self.history, error.site)} and is its own predictions plus zeros: no reward is in it",
                    [("return", total.site), ("loss", error.site), ("backward", event.site)],
                )

    def _from_themselves(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for write, steps in carried_from_themselves(graph, within):
            if write.nid in self._read:
                continue
            self._read.add(write.nid)
            times = self._alone[write.site] = self._alone.get(write.site, 0) + 1
            if times >= ENOUGH_UPDATES:
                yield Verdict(
                    write.site,
                    f"at each of {steps} steps, {value_at(self.history, write.site, 'the return')} goes on from its "
                    "own entry, which is still zero, not from the one of the next step: nothing that comes later "
                    "than one step is in it",
                    [("return", write.site), ("backward", event.site)],
                    fix="go on from the step behind: `adv[t] = delta + gamma * lam * adv[t + 1]`",
                )

    def _own_states(self, event: Backward) -> Verdicts:
        for found in own_states_in(self.history, event):
            seen = self._at(found.site, found.met)
            seen.from_itself += 1
            if seen.from_itself >= ENOUGH_UPDATES:
                text = OWN_STATE.format(steps=found.rows)
                yield self._verdict(event, found.met, found.site, text)

    def _drawn_apart(self, event: Backward) -> Verdicts:
        for met in met_in(self.history, event):
            found = (
                drawn_apart(self.history, met) if met.op.name != "mul" and met.constant is not None else None
            )
            if found is None or met.constant is None:
                continue
            seen = self._at(met.constant.site, met)
            seen.drawn_apart += 1
            if seen.drawn_apart >= ENOUGH_UPDATES:
                yield self._verdict(
                    event, met, found[0].site, DRAWN_APART.format(rows=found[1]), met.constant.site,
                    fix="take observations and returns with the same indices",
                )  # fmt: skip

    def _same_successors(self, event: Backward, found: SameSuccessor) -> Verdicts:
        seen = self._at(found.site, found.met)
        seen.same_successor += 1
        if seen.same_successor >= ENOUGH_UPDATES:
            yield self._verdict(
                event, found.met, found.site, ONE_FOR_ALL.format(rows=found.rows), stored_at(self.history, found.site),
                fix="keep a copy: `obs.copy()`; the environment writes what it sees into one array",
            )  # fmt: skip

    def _other_actions(self, event: Backward, found: MisplacedActions) -> Verdicts:
        seen, site = self._at(found.scored.site, found.met), found.scored.site
        seen.own_actions += found.whose == "own"
        seen.other_actions += found.whose != "own"
        if found.whose == "own" or seen.other_actions < ENOUGH_UPDATES or seen.own_actions:
            return
        text = ACTIONS[found.whose].format(rows=found.rows)
        yield Verdict(
            stored_at(self.history, site) if found.whose != "elsewhere" else site,
            f"{value_at(self.history, site, 'the score')} asks, at each of {found.rows} rows, about {text}",
            [("scored", site), ("loss", found.met.op.site), ("backward", event.site)],
            fix="keep an observation and the action that was chosen for it in one row",
        )

    def _misplaced(self, event: Backward, found: MisplacedRewards, updates: int = 1) -> Verdicts:
        if self._late and found.whose == "before":
            return
        seen = self._at(found.added.site, found.met)
        seen.in_place += found.whose == "own"
        seen.misplaced += updates * (found.whose != "own")
        if found.whose != "own" and seen.misplaced >= ENOUGH_UPDATES and not seen.in_place:
            text = REWARDS[found.whose].format(rows=found.rows)
            made = self._summed_at(found.met) if found.added.name in ARRIVING else found.added.site
            yield self._verdict(
                event, found.met, made, text, put_at(self.history, found),
                fix="keep an observation, its action and what they brought in one row, once the step is taken; draw all"
                " columns with the same indices",
            )  # fmt: skip

    def _disorder(self, event: Backward, found: Disorder) -> Verdicts:
        looks = self._disorders[found.joined.site] = self._disorders.get(found.joined.site, 0) + 1
        in_python = (
            found.joined.name in ARRIVING
        )  # then the numbers themselves obey a law, and one look is enough
        if looks < ENOUGH_UPDATES and not in_python:
            return
        what, steps = value_at(self.history, found.joined.site, "the return"), found.steps
        texts = {
            "the other way round": "are put together from the last to the first, and meet what was done from the first "
            "to the last",
            "from the front": "are summed from the first to the last: each holds what came before it, not what follows",
            "from empty places": "are summed from the first to the last, and each goes on from the place behind it, "
            "which is not filled yet: nothing that comes later is in it",
        }
        # What was summed up in Python is wrong where the list is filled, or the sum carried on.
        line_of = filled_at if found.how == "the other way round" else carried_on_at
        yield Verdict(
            line_of(self.history, found.joined.site) if in_python else found.joined.site,
            f"the returns of {steps} steps in {what} {texts[found.how]} ({line(self.history, found.op.site)})",
            [("return", found.joined.site), ("loss", found.op.site), ("backward", event.site)],
        )

    def _at(self, culprit: Site, met: Met) -> _Seen:
        return self._seen[culprit, met.op.name == "mul"]

    def _judge_rollout(self, event: Backward, met: Met, rows: list[ReturnRow]) -> Verdicts:
        """The loss sees a part of a rollout: read all of it, once."""
        if (op := values_alone(self.history, met)) is not None and op.nid not in self._read:
            self._read.add(op.nid)
            yield from self._without_rewards(event, met, op)
        for op, entries_of_all in rollouts(self.history, met, rows):
            series = Series(entries_of_all)
            if op.nid in self._read or not series.is_large_enough():
                continue
            if (law := _law(series)) is not None:
                self._read.add(op.nid)
                yield from self._crossings(event, met, op.site, series, law)
            elif (found := _cut_beside(series)) is not None:
                self._read.add(op.nid)
                yield from self._beside(event, met, op.site, *found)
            elif how := reordered.disorder_of_advantages(series):
                self._read.add(op.nid)
                yield from self._in_disorder(event, met, op.site, how, len(series.pairs))

    def _add_part(self, met: Met, rows: list[ReturnRow]) -> Series | None:
        """What was summed up outside of torch comes in shuffled parts: all that are of one rollout, together."""
        book, graph = self.history.experience, self.history.graph
        together = self._parts[met.op.site].add(
            rows, lambda: book.said_when_acting(graph.live_params([met.live.nid]))
        )
        return together if together is not None and together.is_large_enough() else None

    def _judge_parts(self, event: Backward, met: Met, series: Series) -> Verdicts:
        if (law := _law(series)) is not None:
            yield from self._crossings(event, met, self._summed_at(met), series, law)
        elif (found := _cut_beside(series)) is not None:
            yield from self._beside(event, met, self._summed_at(met), *found)

    def _summed_at(self, met: Met) -> Site:
        """Where a series was made."""
        if met.constant is None:
            return met.op.site
        made = origin(self.history, met.constant)
        arrived = arrival(self.history, met.constant)
        of_class = summed_by_class(self.history, arrived) if arrived is not None else NOWHERE
        return of_class if of_class and arrived is not None and made == arrived.site else made

    def _judge_windows(self, event: Backward, met: Met, target: Op) -> Verdicts:
        """n-step targets of shuffled rows: whether the rewards of a window stop with its episode."""
        book = self.history.experience
        if not book.successors or (rows := book.rows_behind(met.live, len(met.numbers))) is None:
            return
        windows = windows_behind(self.history, target, rows)
        if not windows or (found := summed_rewards(self.history, met)) is None:
            return
        op, totals = found
        if not (discount := discount_of(windows, totals)):
            return
        data = next(
            source for source in self.history.graph.inputs(op) if book.numbers.get(source.nid) == totals
        )
        culprit, arrived = origin(self.history, data), arrival(self.history, data)
        if arrived is not None and culprit == arrived.site:
            culprit = op.site  # where a batch came into torch is not where it was summed up: nobody saw that
        seen = self._at(culprit, met)
        crossed, stopped = crossings(windows, totals, discount)
        seen.crossed += crossed
        seen.stopped += stopped
        if crossed and seen.crossed >= ENOUGH_BORDERS and not seen.stopped:
            steps = max(len(w.rewards) for w in windows if w is not None)
            yield self._verdict(
                event, met, culprit,
                f"sums up {steps} steps each, discounted by {discount:.4g}, also across the ends of episodes: at "
                f"{seen.crossed} rows it holds rewards of the next episode",
            )  # fmt: skip

    def could_not_look(self) -> str:
        book = self.history.experience
        return (
            reasons.NOT_FOLLOWED if self.history.iteration and book.was_lost and not book.was_followed else ""
        )

    def _judge(self, event: Backward, met: Met, series: Series) -> Verdicts:
        culprit = self._summed_at(met)
        parts = self._together(culprit, met, series)
        series = Series.together(parts)
        if not series.is_large_enough():
            return
        seen, begins = self._at(culprit, met), self.history.experience.begins
        steps = len(series.pairs)
        if series.looks_back(begins):
            seen.looks_back += 1
            if seen.looks_back >= ENOUGH_UPDATES and not seen.right:
                text = f"is the sum of the rewards up to each of {steps} steps, not of those that follow it"
                yield self._verdict(event, met, culprit, text, carried_on_at(self.history, culprit))
        elif series.is_only_discounted(begins) or are_discounted_in_place(series, begins):
            seen.only_discounted += 1
            if seen.only_discounted >= ENOUGH_UPDATES and not seen.right:
                text = f"is, at each of {steps} steps, the discounted reward of that step alone: none that follow"
                arrived = arrival(self.history, met.constant) if met.constant is not None else None
                inside = helper_line(self.history, arrived, culprit) if arrived is not None else culprit
                yield self._verdict(event, met, culprit, text, inside)
        elif (law := _law(series)) is not None:
            # Predictions of weights that have been stepped since are not those that the targets were made of.
            if met.op.name == "mul" or self._parts[met.op.site].begins:
                yield from self._crossings(event, met, culprit, series, law)
        elif (found := _cut_beside(series)) is not None:
            yield from self._beside(event, met, culprit, *found)
        elif series.bootstraps_from_itself():
            seen.from_itself += 1
            if seen.from_itself >= ENOUGH_UPDATES and not seen.right:
                text = OWN_STATE.format(steps=steps)
                yield self._verdict(event, met, culprit, text)
        elif how := reordered.disorder_of(parts, begins) or self._of_advantages(met, series):
            yield from self._in_disorder(event, met, culprit, how, steps)

    def _of_advantages(self, met: Met, series: Series) -> reordered.Disorder:
        """Of targets that were summed up outside of torch, where the predictions are those they were made of."""
        predicted = all(later.prediction is not None for _, later in series.pairs)
        return reordered.disorder_of_advantages(series) if met.op.name != "mul" and predicted else ""

    def _together(self, culprit: Site, met: Met, series: Series) -> list[Series]:
        """An update of a few steps tells too little: several of them are looked at together."""
        if len(series.pairs) >= FEWEST_PAIRS:
            return [series]
        waiting = self._short[culprit, met.op.name == "mul"]
        if series.pairs:
            waiting.append(series)
        parts = waiting[-MOST_UPDATES:]
        if sum(len(part.pairs) for part in parts) >= FEWEST_PAIRS:
            waiting.clear()
        return parts

    def _in_disorder(
        self, event: Backward, met: Met, culprit: Site, how: reordered.Disorder, steps: int
    ) -> Verdicts:
        seen = self._at(culprit, met)
        seen.disordered += 1
        if how == "early" and self._late:
            return
        if seen.disordered >= ENOUGH_UPDATES and not seen.right:
            # In the wrong order it is the list that is wrong, not the sum.
            where = WHERE.get(how, carried_on_at)(self.history, culprit)
            if how == "by the copies" and met.constant is not None:
                where = laid_out_at(self.history, met.constant)
            yield self._verdict(event, met, culprit, TEXTS[how].format(steps=steps), where)

    def _beside(self, event: Backward, met: Met, culprit: Site, by: int, ends: int) -> Verdicts:
        seen = self._at(culprit, met)
        seen.beside += ends
        if seen.beside >= ENOUGH_BORDERS and not seen.stopped:
            word = "before" if by < 0 else "after"
            yield self._verdict(
                event, met, culprit,
                f"starts anew one step {word} the end of each of {seen.beside} episodes, and runs on across the end "
                f"itself: the flags of the ends are one step off",
                cut_at(self.history, culprit),
            )  # fmt: skip

    def _without_rewards(self, event: Backward, met: Met, op: Op) -> Verdicts:
        seen = self._at(op.site, met)
        seen.values_alone += 1
        if seen.values_alone >= ENOUGH_UPDATES and not seen.right:
            yield self._verdict(
                event, met, op.site,
                f"is its own predictions plus zeros, at all {op.shape[0]} steps: no reward is in it",
            )  # fmt: skip

    def _crossings(self, event: Backward, met: Met, culprit: Site, series: Series, law: Law) -> Verdicts:
        seen = self._at(culprit, met)
        seen.right += 1
        yield from self._values_past_ends(event, met, culprit, series, law)
        crossed, stopped = series.crossings(law)
        seen.crossed += crossed
        seen.stopped += stopped
        if crossed and seen.crossed >= ENOUGH_BORDERS and not seen.stopped:
            yield self._verdict(
                event, met, culprit, _across(law, seen.crossed), carried_on_at(self.history, culprit)
            )

    def _values_past_ends(
        self, event: Backward, met: Met, culprit: Site, series: Series, law: Law
    ) -> Verdicts:
        seen = self._at(culprit, met)
        valued, not_valued = series.values_past_ends(law, self._ends_that_cut())
        seen.valued += valued
        seen.not_valued += not_valued
        if valued and seen.valued >= ENOUGH_BORDERS and not seen.not_valued:
            yield self._verdict(
                event, met, culprit,
                f"takes the value of the state that the next episode begins with, at all {seen.valued} steps where the"
                f" environment said that one was over",
                added_at(self.history, culprit),
            )  # fmt: skip

    def _ends_that_cut(self) -> tuple[str, ...]:
        """The ends at which the next start is no state that follows. Copies that start anew by themselves say only
        that they have: where the sum is cut there, the value has to be."""
        environments = self.history.experience.environments
        by_themselves = all(e.copies > 1 or e.together for e in environments)
        return ("terminated", "done", "ended") if by_themselves else ("terminated", "done")

    def _verdict(
        self, event: Backward, met: Met, made: Site, text: str, culprit: Site = NOWHERE, fix: str = ""
    ) -> Verdict:
        what = value_at(self.history, made, "the return")
        used = "weighs a log-probability" if met.op.name == "mul" else "is what the value learns"
        return Verdict(
            culprit or made,
            f"{what} {used} on {line(self.history, met.op.site)} and {text}",
            [("return", made), ("loss", met.op.site), ("backward", event.site)],
            fix=fix,
        )


def _law(series: Series) -> Law | None:
    """How each number is computed from the next one, if it is a return at all."""
    law = series.backward_law(with_predictions=False)
    if not law.exact and all(following.prediction is not None for _, following in series.pairs):
        law = series.backward_law(with_predictions=True)
    # A share of the next prediction that is negative: these are no predictions but the other summand.
    is_return = law.exact and series.adds_up(law) and law.next < 1.0 + 1e-4 and law.value > -1e-4
    return law if is_return and not series.is_differential(law) else None


def _cut_beside(series: Series) -> tuple[int, int] | None:
    """By how many steps the ends are missed, and how often."""
    predicted = all(later.prediction is not None for _, later in (*series.pairs, *series.borders))
    ways = [False, True] if predicted else [False]
    for by in (-1, 1):
        for with_predictions in ways:
            if ends := series.cut_beside_the_ends(by, with_predictions):
                return by, ends
    return None


def _across(law: Law, ends: int) -> str:
    discount = law.next + law.value
    factor = f" discounted by {discount:.4g}" if discount < SLOWEST else ""
    return (
        f"goes on across the ends of episodes: the environment said at {ends} steps that one was over, and each holds"
        f" what the next episode brought,{factor} as if there were none"
    )


rule = MisalignedReturn
