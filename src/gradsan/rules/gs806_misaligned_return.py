"""GS806: a return that belongs to another step, or to another episode."""

from __future__ import annotations

from gradsan.judge.report import reasons
from gradsan.judge.returns.carried_from_itself import CarriedFromItself
from gradsan.judge.returns.drawn_apart import DrawnApart
from gradsan.judge.returns.flag_times import EndsOfOtherSteps
from gradsan.judge.returns.kept_rows import KeptRows
from gradsan.judge.returns.last_values import LastValues
from gradsan.judge.returns.misaligned import Judgement, Memory
from gradsan.judge.returns.misplaced_actions import ActionsOfOthers
from gradsan.judge.returns.next_actions import NextActions
from gradsan.judge.returns.next_choices import NextChoices
from gradsan.judge.returns.own_predictions import OwnPredictions
from gradsan.judge.returns.own_state_targets import OwnStateTargets
from gradsan.judge.returns.put_together import PutTogether
from gradsan.judge.returns.read_sums import ReadSums
from gradsan.judge.returns.reordered_apart import ReorderedApart
from gradsan.judge.returns.rewards_of_others import RewardsOfOthers
from gradsan.judge.returns.same_successors import SameSuccessors
from gradsan.judge.returns.series_of_returns import SeriesOfReturns
from gradsan.judge.returns.successors_of_others import SuccessorsOfOthers
from gradsan.judge.returns.unmasked_steps import SumsPastEnds
from gradsan.record.events import Backward
from gradsan.rules.base import Rule, Verdict, Verdicts

BY_THE_GRAPH: tuple[type[Judgement], ...] = (
    PutTogether,
    KeptRows,
    OwnPredictions,
    CarriedFromItself,
    SumsPastEnds,
    LastValues,
    EndsOfOtherSteps,
    ReorderedApart,
    ReadSums,
    NextChoices,
    NextActions,
)
BY_THE_ENVIRONMENT: tuple[type[Judgement], ...] = (
    OwnStateTargets,
    SameSuccessors,
    SuccessorsOfOthers,
    ActionsOfOthers,
    DrawnApart,
    RewardsOfOthers,
    SeriesOfReturns,
)


class MisalignedReturn(Rule):
    code = "GS806"
    name = "misaligned-return"
    severity = "error"
    needs_deep = True
    what = """
        The return (or advantage, or value target) of a step is made of rewards that do not belong to it: of those of
        the next episode, of those that came before it, of its own alone, or of none at all. Or a row of a batch is
        about several steps at once: its reward, its action or its next observation belongs to another step, or to
        another copy of the environment, than its observation. Or the action that its next state is valued with was
        chosen at the present one. Or a rollout is never emptied, and every update learns from all the old ones as well.
    """
    why = """
        A return says what followed an action. Where the running sum is not set to zero at the end of an episode, the
        last actions are praised for what the next episode brings. Where the sums are left in the order they were made
        in, from the last step to the first, early actions get what belongs to late ones. Where a transition is put away
        before its reward is known, every action is praised for what the one before it brought. Nothing raises: the
        shapes are right, and so is the gradient.
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
        memory = Memory()
        self._by_the_graph = [judgement(self.history, memory) for judgement in BY_THE_GRAPH]
        self._by_the_environment = [judgement(self.history, memory) for judgement in BY_THE_ENVIRONMENT]

    def on_backward(self, event: Backward) -> Verdicts:
        followed = self.history.experience.was_followed
        for judgement in (*self._by_the_graph, *(self._by_the_environment if followed else ())):
            for found in judgement.found_in(event):
                yield Verdict(found.culprit, found.message, found.sites, fix=found.fix)

    def could_not_look(self) -> str:
        book = self.history.experience
        return (
            reasons.NOT_FOLLOWED if self.history.iteration and book.was_lost and not book.was_followed else ""
        )


rule = MisalignedReturn
