"""GS604: an operation runs over the batch where its result is used along the actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line
from gradsan.judge.shapes.answer_groups import MixedGroup, mixed_groups
from gradsan.judge.shapes.axes import (
    BY_SIZE,
    RESHAPING,
    ROWS,
    SPREADING,
    UNITS,
    UNKNOWN,
    Roles,
    is_torn,
    onward,
    roles,
)
from gradsan.judge.shapes.flat_orders import OtherOrder, other_orders
from gradsan.judge.shapes.normalised_otherwise import picked_across, picked_along
from gradsan.judge.shapes.pooling import pooled_for_each_row
from gradsan.judge.shapes.recurrences import ATTENTION, AlongTheBatch, along_the_batch
from gradsan.judge.shapes.turned_groups import Turned, turned_groups
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

NORMALISING = {"softmax", "log_softmax"}
CHOOSING = {"max", "argmax", "amax"}
CHOSEN = {"gather", "argmax", "max", "amax"}
CONSUMING = CHOSEN | {"sum", "logsumexp"}
SMALLER = {"min", "amin", "max", "amax"}
CANDIDATES = NORMALISING | CHOOSING | SMALLER | {"gather", "mean", "logsumexp", "cosine_similarity"}
MIXING = {"matmul", "mm", "bmm", "einsum", "linear", "addmm"}
COMBINING = {"add", "sub"}
TIMES = 4  # a line takes the same one of several agents' sequences by chance


class WrongAxis(Rule):
    code = "GS604"
    name = "wrong-axis"
    severity = "error"
    needs_deep = True
    what = """
        A softmax, a maximum, a `gather` or the mean of a dueling head runs over the batch, while its result is used
        along the actions; or a softmax runs over an axis of one element; or a recurrent layer or attention runs from
        sample to sample of the batch, because its input is not in the order it was made for.
    """
    why = """
        The shapes fit, so nothing raises. But the numbers of one state then depend on which other states are in
        the batch: a softmax over the batch does not sum to one for any state, a maximum over the batch is the value
        of another state, a mean over all shifts the values of a state by what the others are worth.
    """
    symptom = "The loss falls a little and stays; results change with the batch size, and acting on one state differs."
    fix = (
        "run it along the actions: `dim=-1` (with `keepdim=True` where the result meets what it was made of)"
    )
    deliberate = """
        Attention and pooling over rows are used along the rows, and are not reported. A softmax over the samples
        on purpose: allow it on the line.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(4, 3)
        log_probs = []
        for _ in range(4):
            p = torch.softmax(net(torch.randn(1, 4)), dim=0)  # BUG
            log_probs.append(p.gather(1, torch.multinomial(p, 1)).log())  # gradsan: allow unstable-log-prob
        (-(torch.cat(log_probs) * torch.randn(4, 1)).mean()).backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(policy(s), dim=0)  # BUG
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, advantage = torch.randn(8, 4), torch.randn(8)
        probs = policy(s).softmax(0)  # BUG
        dist = torch.distributions.Categorical(probs)
        (-(dist.log_prob(dist.sample()) * advantage).mean()).backward()
        """,
        """
        import torch
        value, advantage = torch.nn.Linear(4, 1), torch.nn.Linear(4, 3)
        s, a, target = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        each = advantage(s)
        q = value(s) + (each - each.mean())  # BUG
        (q.gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        q = torch.nn.Linear(4, 3)
        s, a, target = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        chosen = q(s).gather(0, a)  # BUG
        (chosen - target).pow(2).mean().backward()
        """,
        """
        import torch
        q = torch.nn.Linear(4, 3)
        s, s2, a, r = torch.randn(8, 4), torch.randn(8, 4), torch.randint(3, (8,)), torch.randn(8)
        with torch.no_grad():
            target = r + 0.9 * q(s2).max()  # BUG
        chosen = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        (chosen - target).pow(2).mean().backward()
        """,
        """
        import torch
        score = torch.nn.Linear(4, 1)  # one score for each of five objects
        objects, a, advantage = torch.randn(8, 5, 4), torch.randint(5, (8, 1)), torch.randn(8, 1)
        log_probs = score(objects).log_softmax(-1).squeeze(-1)  # BUG
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
        """
        import torch
        q = torch.nn.Linear(4, 3)
        s, a = torch.randn(8, 4), torch.randint(3, (8, 1))
        values = q(s)
        penalty = torch.logsumexp(values, dim=0).mean() - values.gather(1, a).mean()  # BUG
        penalty.backward()
        """,
        """
        import torch
        key, query, value = (torch.nn.Linear(4, 6) for _ in range(3))
        head = torch.nn.Linear(6, 1)
        own, others, target = torch.randn(8, 4), torch.randn(8, 3, 4), torch.randn(8)
        weights = torch.bmm(key(others), query(own).unsqueeze(2)).squeeze(2).softmax(0)  # BUG
        pooled = torch.bmm(weights.unsqueeze(1), value(others)).squeeze(1)
        (head(pooled).squeeze(1) - target).pow(2).mean().backward()
        """,
        """
        import torch
        score, body, head = torch.nn.Linear(4, 1), torch.nn.Linear(4, 6), torch.nn.Linear(6, 1)
        entities, target = torch.randn(8, 5, 4), torch.randn(8)
        weights = torch.softmax(score(entities), dim=0)  # BUG
        pooled = (weights * body(entities)).sum(1)
        (head(pooled).squeeze(1) - target).pow(2).mean().backward()
        """,
        """
        import torch
        model, encoder = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
        s, s2 = torch.randn(8, 4), torch.randn(8, 4)
        with torch.no_grad():
            latent = encoder(s2)
        (1 - torch.nn.functional.cosine_similarity(model(s), latent, dim=0)).mean().backward()  # BUG
        """,
        """
        import copy
        import torch
        net = torch.nn.Linear(4, 6)  # the value of two actions as a distribution over three atoms
        old = copy.deepcopy(net)
        s, s2, rows, a = torch.randn(8, 4), torch.randn(8, 4), torch.arange(8), torch.randint(2, (8,))
        with torch.no_grad():
            goal = old(s2).view(8, 2, 3).softmax(-1)[rows, a]
        log_probs = net(s).view(8, 2, 3).log_softmax(1)  # BUG
        (-(goal * log_probs[rows, a]).sum(-1).mean()).backward()
        """,
        """
        import torch
        one, two = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        s, s2, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
        with torch.no_grad():
            target = reward + 0.9 * torch.cat([one(s2), two(s2)]).min(0).values  # BUG
        ((one(s) - target).pow(2) + (two(s) - target).pow(2)).mean().backward()
        """,
        """
        import torch
        B, A, N = 8, 3, 5
        net = torch.nn.Linear(4, A * N)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s, a = torch.randn(B, 4), torch.randint(A, (B,))
            log_p = net(s).view(-1, A, N).log_softmax(0)  # BUG
            goal = torch.rand(B, N).softmax(-1)
            loss = -(goal * log_p[torch.arange(B), a]).sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 3)
        s, a = torch.randn(8, 5, 4), torch.randint(3, (8, 5))
        by_class = net(s).reshape(8, 3, 5)  # BUG
        torch.nn.functional.cross_entropy(by_class, a).backward()
        """,
        """
        import torch
        judge, policy = torch.nn.Linear(7, 1), torch.nn.Linear(4, 3)  # a reward that is learned
        s, a = torch.randn(8, 4), torch.randint(3, (8,))
        with torch.no_grad():
            pair = torch.cat([s, torch.nn.functional.one_hot(a, 3).float()], -1)
            reward = judge(pair).log_softmax(-1).squeeze(-1)  # BUG
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        (-(log_prob * (reward - torch.randn(8))).mean()).backward()
        """,
        """
        # No axis is said: of teams of agents PyTorch takes the first.
        import torch
        from torch.nn.functional import log_softmax
        policy = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(6, 2, 3), torch.randint(4, (6, 2, 1)), torch.randn(6, 2)
            log_probs = log_softmax(policy(s))  # BUG
            loss = -(log_probs.gather(2, a).squeeze(2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Each answer is to be compared with the others to its prompt.
        import torch
        model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
        opt, k = torch.optim.SGD(model.parameters(), lr=0.1), 4
        for _ in range(4):
            tokens = torch.randint(7, (3, 5)).repeat_interleave(k, 0)
            answer = torch.distributions.Categorical(logits=model(tokens)[:, -1])
            token = answer.sample()
            rewards = (token == tokens[:, 0]).float().view(-1, k)
            advantage = rewards - rewards.mean(0)  # BUG
            loss = -(answer.log_prob(token) * advantage.view(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The memory goes from window to window: `nn.LSTM` takes time first, unless it is told.
        import torch
        memory, head = torch.nn.LSTM(4, 6), torch.nn.Linear(6, 3)
        windows, a, target = torch.randn(8, 5, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        for _ in range(4):
            out, _ = memory(windows)  # BUG
            (head(out[:, -1]).gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        memory, head = torch.nn.GRU(4, 6, batch_first=True), torch.nn.Linear(6, 3)
        steps, a, target = torch.randn(5, 8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        for _ in range(4):
            out = memory(torch.relu(steps))[0].tanh()  # BUG
            (head(out)[-1].gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), 2)
        embed, value = torch.nn.Linear(4, 6), torch.nn.Linear(6, 1)
        frames, target = torch.randn(8, 5, 4), torch.randn(8, 1)
        for _ in range(4):
            summary = encoder(embed(frames))[:, 0]  # BUG
            (value(summary) - target).pow(2).mean().backward()
        """,
        """
        import copy
        import torch
        memory, q = torch.nn.GRU(4, 6), torch.nn.Linear(6, 3)
        old_memory, old_q = copy.deepcopy(memory), copy.deepcopy(q)
        s, a, r = torch.randn(8, 5, 4), torch.randint(3, (8, 5, 1)), torch.randn(8, 5)
        chosen = q(memory(s)[0]).gather(2, a).squeeze(2)  # BUG
        with torch.no_grad():
            best = old_q(old_memory(s)[0]).amax(2)  # BUG
        (chosen[:, :-1] - r[:, :-1] - 0.9 * best[:, 1:]).pow(2).mean().backward()
        """,
        """
        import torch
        memory, head = torch.nn.RNN(4, 6), torch.nn.Linear(6, 3)
        s, a, advantage = torch.randn(6, 5, 4), torch.randint(3, (6, 5)), torch.randn(6, 5)
        mask = (torch.arange(5) < torch.tensor([[3], [5], [2], [4], [5], [1]])).float()
        log_prob = torch.distributions.Categorical(logits=head(memory(s)[0])).log_prob(a)  # BUG
        (-(log_prob * mask * advantage).sum() / mask.sum()).backward()
        """,
        """
        import torch
        embed, memory, value = torch.nn.Linear(4, 6), torch.nn.LSTM(6, 6), torch.nn.Linear(6, 1)
        sequences, targets = torch.randn(30, 5, 4), torch.randn(30, 5)
        for rows in torch.randperm(30).split(10):
            out, _ = memory(embed(sequences[rows]).relu())  # BUG
            (value(out).squeeze(-1) - targets[rows]).pow(2).mean().backward()
        """,
        """
        # What was said by steps meets what was summed up by copies of the environment.
        import torch
        net, value = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
        log_probs, values, rewards = [], [], []
        for _ in range(5):
            s = torch.randn(8, 4)
            dist = torch.distributions.Categorical(logits=net(s))
            log_probs.append(dist.log_prob(dist.sample()))
            values.append(value(s).squeeze(1))
            rewards.append(torch.randn(8))
        returns = torch.stack(rewards, dim=1).flip(1).cumsum(1).flip(1).flatten()  # BUG
        values, log_probs = torch.stack(values).flatten(), torch.stack(log_probs).flatten()
        ((values - returns).pow(2).mean() - (log_probs * (returns - values.detach())).mean()).backward()
        """,
        """
        import torch
        net, q = torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)
        s, a, target = torch.randn(5, 8, 4), torch.randint(3, (5, 8)), torch.randn(5, 8)
        values = q(net(s.transpose(0, 1)).relu()).flatten(0, 1)  # BUG
        chosen = values.gather(1, a.reshape(-1, 1)).squeeze(1)
        (chosen - target.reshape(-1)).pow(2).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 3)
        s, a, advantages = torch.randn(5, 8, 4), torch.randint(3, (40,)), torch.randn(5, 8)
        log_prob = torch.distributions.Categorical(logits=net(s.flatten(0, 1))).log_prob(a)
        (-(log_prob * advantages.T.reshape(-1)).mean()).backward()  # BUG
        """,
        """
        import copy
        import torch
        critics = [torch.nn.Linear(4, 1) for _ in range(3)]
        targets = copy.deepcopy(critics)
        s, s2, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
        with torch.no_grad():
            worst = torch.stack([critic(s2) for critic in targets]).squeeze(-1).amin(1, keepdim=True)  # BUG
            goal = reward + 0.9 * worst
        (torch.stack([critic(s) for critic in critics]).squeeze(-1) - goal).pow(2).mean().backward()
        """,
        """
        import torch
        weight, bias = torch.nn.Parameter(torch.randn(3, 4, 1)), torch.nn.Parameter(torch.zeros(3, 1, 1))
        s, s2, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
        with torch.no_grad():
            values = torch.baddbmm(bias, s2.expand(3, -1, -1), weight).squeeze(-1)
            goal = reward + 0.9 * values.min(1, keepdim=True)[0]  # BUG
        (torch.baddbmm(bias, s.expand(3, -1, -1), weight).squeeze(-1) - goal).pow(2).mean().backward()
        # The scores of those who acted are data; of the same choices, the policy's are normalised over the actions.
        import torch
        policy = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        s, behaviour, a = torch.randn(8, 3), torch.randn(8, 4), torch.randint(4, (8,))
        new = policy(s).log_softmax(-1).gather(-1, a[:, None]).squeeze(-1)
        old = behaviour.log_softmax(0).gather(-1, a[:, None]).squeeze(-1)  # BUG
        loss = -((new - old).exp() * torch.randn(8)).mean()
        loss.backward()
        opt.step()
        """,
        """
        # Four rounds of three prompts: centred prompt by prompt, and left in that order.
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            ids = torch.randint(9, (12, 6))
            rewards = (ids[:, 1:] > 4).float().mean(1)
            groups = rewards.view(4, 3).t()
            gain = groups - groups.mean(1, keepdim=True)
            gain = gain.flatten()  # BUG
            log_prob = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            loss = -(log_prob * gain[:, None]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(4, 3)  # one state at a time
        log_probs = []
        for _ in range(4):
            p = torch.softmax(net(torch.randn(1, 4)), dim=-1)
            log_probs.append(p.gather(1, torch.multinomial(p, 1)).log())  # gradsan: allow unstable-log-prob
        (-(torch.cat(log_probs) * torch.randn(4, 1)).mean()).backward()
        """,
        """
        import torch
        score, body = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)  # pooling over a set that has one member so far
        items = torch.randn(1, 4)
        (score(items).softmax(0) * body(items)).sum(0).pow(2).sum().backward()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(policy(s), dim=1)
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
        """
        import torch
        score = torch.nn.Linear(4, 1)
        objects, a, advantage = torch.randn(8, 5, 4), torch.randint(5, (8, 1)), torch.randn(8, 1)
        log_probs = score(objects).log_softmax(1).squeeze(-1)
        (-(log_probs.gather(1, a) * advantage).mean()).backward()
        """,
        """
        import torch
        query, key = torch.nn.Linear(4, 6), torch.nn.Linear(4, 6)  # attention to the first and only step so far
        x = torch.randn(8, 1, 4)
        weight = (query(x) @ key(x).transpose(1, 2)).softmax(-1)
        (weight @ key(x)).pow(2).mean().backward()
        """,
        """
        import torch
        score, body = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)  # pooling over a set, three heads
        items = torch.randn(8, 4)
        pooled = (score(items).softmax(0) * body(items)).sum(0)
        pooled.pow(2).sum(-1).mean().backward()
        """,
        """
        import torch
        value, advantage = torch.nn.Linear(4, 1), torch.nn.Linear(4, 3)
        s, a, target = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        each = advantage(s)
        q = value(s) + each - each.mean(1, keepdim=True)
        (q.gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 3)  # shifted by its maximum: every row is the same up to a constant
        s, a = torch.randn(8, 4), torch.randint(3, (8, 1))
        x = net(s)
        x = x - x.max().detach()
        (-(x - x.exp().sum(1, keepdim=True).log()).gather(1, a)).mean().backward()
        """,
        """
        import torch
        first, second = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)  # the larger of two critics
        s, a, r = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8)
        with torch.no_grad():
            target = r + 0.9 * torch.stack([first(s), second(s)]).amax(0).amax(1)
        for q in (first, second):
            (q(s).gather(1, a).squeeze(1) - target).pow(2).mean().backward()
        """,
        """
        import torch
        encoder, q = torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)  # the strongest of five objects
        s, a, target = torch.randn(8, 5, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        pooled = encoder(s).max(1)[0]
        (q(pooled).gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        q, score = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
        s, a = torch.randn(8, 4), torch.randint(3, (8, 1))
        values = q(s)
        conservative = torch.logsumexp(values, dim=1).mean() - values.gather(1, a).mean()
        others = torch.logsumexp(score(s), dim=0) - score(s).mean()  # one sample against all
        (conservative + others.mean()).backward()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 3)  # normalised by hand over the units, and over the batch
        x = net(torch.randn(8, 4))
        layer = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
        batch = (x - x.mean(0)) / x.std(0)
        (layer - batch.detach()).pow(2).sum(-1).mean().backward()
        """,
        """
        import torch
        score, body, head = torch.nn.Linear(4, 1), torch.nn.Linear(4, 6), torch.nn.Linear(6, 1)  # steps first
        steps, target = torch.randn(5, 8, 4), torch.randn(8)
        pooled = (score(steps).softmax(0) * body(steps)).sum(0)
        (head(pooled).squeeze(1) - target).pow(2).mean().backward()
        """,
        """
        import torch
        slots, inputs, body = torch.randn(3, 6), torch.nn.Linear(4, 6), torch.nn.Linear(6, 2)  # slots compete
        x = inputs(torch.randn(8, 5, 4))
        weights = (slots @ x.transpose(1, 2)).softmax(1)
        filled = (weights / weights.sum(-1, keepdim=True)) @ x
        body(filled).pow(2).mean().backward()
        """,
        """
        import torch
        one, two = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        s, s2, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
        with torch.no_grad():
            target = reward + 0.9 * torch.cat([one(s2), two(s2)], 1).min(1, keepdim=True).values
        ((one(s) - target).pow(2) + (two(s) - target).pow(2)).mean().backward()
        """,
        """
        import copy
        import torch
        net = torch.nn.Linear(4, 6)
        old = copy.deepcopy(net)
        s, s2, rows, a = torch.randn(8, 4), torch.randn(8, 4), torch.arange(8), torch.randint(2, (8,))
        with torch.no_grad():
            goal = old(s2).view(8, 2, 3).softmax(-1)[rows, a]
        log_probs = net(s).view(8, 2, 3).log_softmax(-1)
        (-(goal * log_probs[rows, a]).sum(-1).mean()).backward()
        """,
        """
        import torch
        branches = torch.nn.Linear(4, 6)  # three choices of two each: picked along what is normalised
        s, a, advantage = torch.randn(8, 4), torch.randint(2, (8, 1, 3)), torch.randn(8)
        log_probs = branches(s).view(8, 2, 3).log_softmax(1).gather(1, a)
        (-(log_probs.sum((1, 2)) * advantage).mean()).backward()
        """,
        """
        import torch
        model, encoder = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
        s, s2 = torch.randn(8, 4), torch.randn(8, 4)
        with torch.no_grad():
            latent = encoder(s2)
        (1 - torch.nn.functional.cosine_similarity(model(s), latent)).mean().backward()
        one = torch.cosine_similarity(model(s[0]), latent[0], 0)
        (1 - one).backward()
        """,
        """
        import torch
        net, head = torch.nn.Linear(4, 6), torch.nn.Linear(30, 3)  # steps put side by side, heads, windows
        x = net(torch.randn(8, 5, 4))
        heads = x.view(8, 5, 2, 3).transpose(1, 2)
        flat = head(x.reshape(8, 30)) + x.reshape(40, 6).sum()
        (heads.pow(2).mean() + flat.pow(2).mean() + x.reshape(4, 2, 5, 6).sum(1).pow(2).mean()).backward()
        """,
        """
        import torch
        judge, policy = torch.nn.Linear(7, 1), torch.nn.Linear(4, 3)  # one score squashed alone, and over the batch
        s, a = torch.randn(8, 4), torch.randint(3, (8,))
        with torch.no_grad():
            score = judge(torch.cat([s, torch.nn.functional.one_hot(a, 3).float()], -1))
            reward = torch.nn.functional.logsigmoid(score).squeeze(-1) + score.squeeze(-1).softmax(0)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        (-(log_prob * reward).mean()).backward()
        """,
        """
        import torch
        query, key = torch.nn.Linear(4, 6), torch.nn.Linear(4, 6)  # a target that attends to the only step so far
        x, head = torch.randn(8, 1, 4), torch.nn.Linear(6, 1)
        with torch.no_grad():
            goal = (query(x) @ key(x).transpose(1, 2)).softmax(-1) @ key(x)
        (head(key(x).detach()) - goal.mean(-1, keepdim=True)).pow(2).mean().backward()
        """,
        """
        # No axis is said: of a table PyTorch takes the columns.
        import torch
        from torch.nn.functional import log_softmax
        policy = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(6, 2, 3), torch.randint(4, (12, 1)), torch.randn(12)
            log_probs = log_softmax(policy(s).flatten(0, 1))
            loss = -(log_probs.gather(1, a).squeeze(1) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # One after the other, and in turn.
        import torch
        model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
        opt, k = torch.optim.SGD(model.parameters(), lr=0.1), 4
        for turn in range(4):
            prompts = torch.randint(7, (3, 5))
            tokens = prompts.repeat(k, 1) if turn % 2 else prompts.repeat_interleave(k, 0)
            answer = torch.distributions.Categorical(logits=model(tokens)[:, -1])
            token = answer.sample()
            rewards = (token == tokens[:, 0]).float()
            rewards = rewards.view(k, -1) if turn % 2 else rewards.view(-1, k)
            advantage = rewards - rewards.mean(1 - turn % 2, keepdim=True)
            loss = -(answer.log_prob(token) * advantage.view(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        memory, head = torch.nn.LSTM(4, 6, batch_first=True), torch.nn.Linear(6, 3)
        windows, a, target = torch.randn(8, 5, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        out, _ = memory(windows)
        (head(out[:, -1]).gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        memory, head = torch.nn.LSTM(4, 6), torch.nn.Linear(6, 3)  # time first, as it was meant
        steps, a, target = torch.randn(5, 8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        out, _ = memory(steps)
        (head(out[-1]).gather(1, a) - target).pow(2).mean().backward()
        one, _ = memory(steps[:, :1])  # a single sequence
        (head(one[:, 0]).logsumexp(1) - target[:5, 0]).pow(2).mean().backward()
        """,
        """
        import torch
        memory, heads = torch.nn.GRU(4, 6), [torch.nn.Linear(6, 3) for _ in range(3)]  # a head for each agent
        steps, a, target = torch.randn(5, 3, 4), torch.randint(3, (5, 1)), torch.randn(5, 1)
        for _ in range(3):
            for agent, head in enumerate(heads):
                out, _ = memory(steps)
                (head(out[:, agent]).gather(1, a) - target).pow(2).mean().backward()
        """,
        """
        import torch
        memory, team = torch.nn.GRU(4, 6), torch.nn.MultiheadAttention(6, 2, batch_first=True)
        value = torch.nn.Linear(6, 1)  # memory along time, attention among three agents, what the first one hears
        steps, target = torch.randn(5, 3, 4), torch.randn(5, 1)
        out, _ = memory(steps)
        heard, _ = team(out, out, out)
        (value(heard[:, 0]) - target).pow(2).mean().backward()
        """,
        """
        import torch
        memory, value = torch.nn.GRU(4, 6), torch.nn.Linear(6, 1)
        steps, r = torch.randn(5, 8, 4), torch.randn(5, 8)
        mask = (torch.arange(5)[:, None] < torch.tensor([5, 5, 4, 4, 3, 2, 2, 1])).float()  # the longest first
        v = value(memory(steps)[0]).squeeze(2)
        ((v[:-1] - r[:-1] - 0.9 * v[1:].detach()) * mask[1:]).pow(2).mean().backward()
        (value(memory(steps)[0]).squeeze(2) * mask).pow(2).mean().backward()
        """,
        """
        import torch
        memory, value = torch.nn.LSTM(4, 6), torch.nn.Linear(6, 1)  # whole sequences of some of the copies
        steps, targets = torch.randn(5, 30, 4), torch.randn(5, 30)
        for envs in torch.randperm(30).split(10):
            out, _ = memory(steps[:, envs])
            (value(out).squeeze(-1) - targets[:, envs]).pow(2).mean().backward()
        """,
        """
        import torch
        memory, value = torch.nn.GRU(4, 6), torch.nn.Linear(6, 1)  # the mean of all agents, whoever they are
        steps, target = torch.randn(5, 3, 4), torch.randn(5, 1)
        out, _ = memory(steps)
        (value(out.mean(1)) - target).pow(2).mean().backward()
        """,
        """
        import torch
        net, value = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
        log_probs, values, rewards = [], [], []
        for _ in range(5):
            s = torch.randn(8, 4)
            dist = torch.distributions.Categorical(logits=net(s))
            log_probs.append(dist.log_prob(dist.sample()))
            values.append(value(s).squeeze(1))
            rewards.append(torch.randn(8))
        returns = torch.stack(rewards, dim=1).flip(1).cumsum(1).flip(1).T.flatten()
        values, log_probs = torch.stack(values).flatten(), torch.stack(log_probs).flatten()
        ((values - returns).pow(2).mean() - (log_probs * (returns - values.detach())).mean()).backward()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 1)  # minibatches of several sizes, of rows that are flat already
        s, target = torch.randn(40, 4), torch.randn(40)
        first = torch.stack([net(rows).squeeze(1) for rows in s.split(8)]).flatten()
        weight = torch.stack([rows.abs() for rows in target.split(5)]).flatten()
        ((first - target).pow(2) * weight).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(4, 3)  # both by copies
        s, a, target = torch.randn(5, 8, 4), torch.randint(3, (5, 8)), torch.randn(5, 8)
        values = net(s.transpose(0, 1)).flatten(0, 1)
        chosen = values.gather(1, a.T.reshape(-1, 1)).squeeze(1)
        (chosen - target.T.flatten()).pow(2).mean().backward()
        """,
        """
        import torch
        weight, bias = torch.nn.Parameter(torch.randn(3, 4, 1)), torch.nn.Parameter(torch.zeros(3, 1, 1))
        s, s2, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
        with torch.no_grad():
            values = torch.baddbmm(bias, s2.expand(3, -1, -1), weight).squeeze(-1)
            goal = reward + 0.9 * values.amin(0, keepdim=True)
        (torch.baddbmm(bias, s.expand(3, -1, -1), weight).squeeze(-1) - goal).pow(2).mean().backward()
        """,
        """
        import torch
        critics = [torch.nn.Linear(4, 1) for _ in range(3)]  # eight candidates for one state, the best of each critic
        s, options, reward = torch.randn(6, 4), torch.randn(6, 8, 4), torch.randn(6)
        with torch.no_grad():
            values = torch.stack([critic(options).squeeze(-1) for critic in critics])
            goal = reward + 0.9 * values.amax(2)
        (torch.stack([critic(s) for critic in critics]).squeeze(-1) - goal).pow(2).mean().backward()
        # Two sides of one table of likenesses, each normalised along the axis that it is picked from.
        import torch
        one, other = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
        opt = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
        table, pairs = one(torch.randn(8, 3)) @ other(torch.randn(8, 3)).T, torch.arange(8)
        across = table.log_softmax(1).gather(1, pairs[:, None]).mean()
        down = table.log_softmax(0).gather(0, pairs[None]).mean()
        loss = -(across + down)
        loss.backward()
        opt.step()
        """,
        """
        # Four rounds of three prompts: centred prompt by prompt, and turned back.
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            ids = torch.randint(9, (12, 6))
            rewards = (ids[:, 1:] > 4).float().mean(1)
            groups = rewards.view(4, 3).t()
            gain = groups - groups.mean(1, keepdim=True)
            gain = gain.t().flatten()
            log_prob = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            loss = -(log_prob * gain[:, None]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The answers are turned as well.
        import torch
        net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            ids = torch.randint(9, (12, 6))
            groups = (ids[:, 1:] > 4).float().mean(1).view(4, 3).t()
            gain = (groups - groups.mean(1, keepdim=True)).flatten()
            ids = ids.view(4, 3, 6).transpose(0, 1).reshape(12, 6)
            log_prob = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            loss = -(log_prob * gain[:, None]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._taken: dict[Site, list[int]] = {}  # the settings with which a line took something out

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for mixed in mixed_groups(graph, within):
            yield self._mixed(event, mixed)
        for found in along_the_batch(graph, within):
            if found.sure or self._is_always_taken(found.told):
                yield self._along_the_batch(event, found)
        for other in other_orders(graph, within):
            yield self._other_order(event, other)
        for turned in turned_groups(graph, within):
            yield self._turned(event, turned)
        candidates = [op for op in within.values() if op.name in CANDIDATES and op.facts.axes]
        reshaped = [op for op in within.values() if op.name in ("view", "reshape") and op.live]
        if not candidates and not reshaped:
            return
        known = roles(graph, within)
        for op in reshaped:
            source = next(graph.inputs(op), None)
            if source is not None and source.nid in known and is_torn(op, source, known[source.nid]):
                yield self._torn(event, op, source)
        for op in candidates:
            source = next(graph.inputs(op), None)
            if source is None or source.nid not in known:
                continue
            if _runs_over_one_unit(op, source, known) and (op.live or _is_learned(graph, op)):
                yield self._constant(event, op, source)
            used = (
                self._pooled(op, within)
                or picked_along(self.history, op, within)
                or picked_across(self.history, op, within)
            )
            if used is None and op.name in SMALLER and _of_joined_columns(self.history.graph, op, source):
                used = op if self._becomes_a_summand(op, source, within) else None
            if used is None and _runs_over_rows_of_members(op, source, known):
                used = self._smallest_for_all(op, source, within)
            if used is None and _runs_over_rows(op, source, known):
                used = self._misused(op, source, within, known)
            if used is not None:
                what = "one of the columns is chosen" if op.name == "logsumexp" else "its result is used"
                members = _runs_over_rows_of_members(op, source, known)
                where = (
                    f"over the {source.shape[1]} rows of each member" if members else _in_words(op, source)
                )
                yield Verdict(
                    op.site,
                    f"`{op.name}` of {list(source.shape)} runs {where}, and {what} for each row on "
                    f"{line(self.history, used.site)}",
                    [("wrong axis", op.site), ("used", used.site), ("backward", event.site)],
                    event.reached,
                )

    def _mixed(self, event: Backward, mixed: MixedGroup) -> Verdict:
        history, repeated = self.history, mixed.repeated
        culprit = (mixed.folded if mixed.wrong_form else mixed.mean).site
        return Verdict(
            culprit,
            f"the mean of {list(mixed.folded.shape)} along axis {mixed.mean.facts.axes[0]} is one of answers to "
            f"different prompts: `{repeated.name}` on {line(history, repeated.site)} made {mixed.answers} rows of each "
            f"of {mixed.prompts}, {'one after the other' if repeated.name == 'repeat_interleave' else 'in turn'}",
            [
                ("wrong axis", culprit),
                ("mean", mixed.mean.site),
                ("repeated", repeated.site),
                ("backward", event.site),
            ],
            event.reached,
            fix="after `repeat_interleave(k, 0)`: `rewards.view(-1, k)` and `mean(1)`; after `repeat(k, 1)`: "
            "`rewards.view(k, -1)` and `mean(0)`",
        )

    def _other_order(self, event: Backward, found: OtherOrder) -> Verdict:
        odd, usual = (" × ".join(map(str, order)) for order in (found.order, found.usual))
        return Verdict(
            found.odd.site,
            f"flattened from {odd} here, it meets what was flattened from {usual} on "
            f"{line(self.history, found.met.site)}: as many elements, and hardly one beside its own",
            [("other order", found.odd.site), ("met", found.met.site), ("backward", event.site)],
            event.reached,
            fix="give both the same axes in the same order before flattening: `torch.stack(parts)`, or "
            "`x.transpose(0, 1).flatten()`",
        )

    def _turned(self, event: Backward, found: Turned) -> Verdict:
        return Verdict(
            found.flattened.site,
            "the samples were laid out as groups, turned, and are flattened here as they lie: what "
            f"{line(self.history, found.met.site)} puts them together with is in the order from before, so each gets "
            "what belongs to another",
            [("other order", found.flattened.site), ("met", found.met.site), ("backward", event.site)],
            event.reached,
            fix="turn the groups back before flattening: `groups.t().flatten()`",
        )

    def _is_always_taken(self, taken: Op) -> bool:
        """Time after time the same one: where agents are trained one after the other, it is another each time."""
        met = self._taken.setdefault(taken.site, [])
        if len(met) < TIMES:
            met.append(taken.facts.settings)
        elif taken.facts.settings not in met:
            met[0] = taken.facts.settings
        return len(met) == TIMES and len(set(met)) == 1

    def _along_the_batch(self, event: Backward, found: AlongTheBatch) -> Verdict:
        op, history = found.op, self.history
        kind = "attention" if op.name == ATTENTION else f"`{op.name}`"
        return Verdict(
            op.site,
            f"{kind} of {list(op.shape)} runs along axis {found.axis}, from sample to sample of the batch: "
            f"{line(history, found.told.site)} {found.what}",
            [("wrong axis", op.site), ("other axis", found.told.site), ("backward", event.site)],
            event.reached,
            fix="say which axis is time: `batch_first=True` for what is `[batch, time, …]`, and nothing (the default) "
            "for `[time, batch, …]`, or exchange the axes before",
        )

    def _torn(self, event: Backward, op: Op, source: Op) -> Verdict:
        return Verdict(
            op.site,
            f"`{op.name}` makes {list(op.shape)} of {list(source.shape)}: the {source.shape[-1]} columns of a row are "
            "spread over several, and no axis is where it is looked for",
            [("wrong axis", op.site), ("backward", event.site)],
            event.reached,
            fix="exchange the axes with `transpose` or `permute`; `reshape` moves no number",
        )

    def _constant(self, event: Backward, op: Op, source: Op) -> Verdict:
        """Of one unit the softmax is one. A layer with one action may be configured so; scores of several rows that
        are to be compared with each other are not."""
        return Verdict(
            op.site,
            f"`{op.name}` of {list(source.shape)} runs along an axis of one element: its result is the same "
            f"whatever it is given{', and no gradient comes through' if op.live else ''}",
            [("wrong axis", op.site), ("backward", event.site)],
            event.reached,
            severity="error" if len(source.shape) > 2 else "warning",
            fix="run it along the axis of what is compared (`dim=1` of scores `[B, N, 1]`); for one unit, `sigmoid`",
        )

    def _pooled(self, op: Op, within: dict[ValueId, Op]) -> Op | None:
        """Attention whose weights were normalised over the batch."""
        over_rows = op.name == "softmax" and op.facts.axes == (0,) and len(op.shape) > 1
        return pooled_for_each_row(self.history.graph, op, within) if over_rows else None

    def _misused(
        self, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
    ) -> Op | None:
        if op.name in NORMALISING:
            return self._used_along_units(op, within, known)
        if op.name == "gather":
            return self._first_column_only(op, source)
        if op.name == "mean":
            return self._dueling(op, source, within)
        if op.name == "logsumexp":
            return self._chosen_from(source, within)
        if op.name == "cosine_similarity":
            return next(iter(onward(self.history.graph, op, within)), None)
        return self._chosen_otherwise(op, source, within, known)

    def _used_along_units(self, op: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]) -> Op | None:
        """Who takes one of the units of each row, sums over them or samples one; nobody who is content with rows."""
        found, stack, seen = None, [op], set()
        while stack:
            for user in onward(self.history.graph, value := stack.pop(), within):
                if user.nid in seen:
                    continue
                seen.add(user.nid)
                if user.name in MIXING or (user.name in CONSUMING and user.facts.axes == op.facts.axes):
                    return None
                if _takes_units(user, value, known) or _picks_one_of_each_row(user, value):
                    found = found or user
                elif user.name in BY_SIZE and user.shape == op.shape:
                    stack.append(user)
        return found

    def _first_column_only(self, op: Op, source: Op) -> Op | None:
        """`q.gather(0, a)` with an index for every row: of the columns, only the first is ever taken."""
        whole = op.facts.axes == (0,) and len(op.shape) == 2 and op.shape[1] == 1 < source.shape[1]
        return op if whole and op.shape[0] == source.shape[0] else None

    def _dueling(self, op: Op, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """What is subtracted from its own source, in a sum that also holds one value for each row."""
        graph = self.history.graph
        for user in onward(graph, op, within):
            if user.name != "sub":
                continue
            summands = list(self._summands(user))
            own = any(s.nid == source.nid for s in summands)
            column = (*source.shape[:1], *[1] * (len(source.shape) - 1))
            around = summands + [s for bigger in onward(graph, user, within) for s in self._summands(bigger)]
            if own and any(s.live and s.shape[:2] == column[:2] and s.name == "linear" for s in around):
                return user
        return None

    def _summands(self, op: Op) -> Iterator[Op]:
        if op.name not in COMBINING:
            yield op
            return
        for part in self.history.graph.inputs(op):
            yield from self._summands(part)

    def _chosen_otherwise(
        self, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
    ) -> Op | None:
        """Elsewhere on the way to this loss, values of the same form are chosen from along their units."""
        if not self._becomes_a_summand(op, source, within):
            return None
        for other in within.values():
            given = next(self.history.graph.inputs(other), None)
            if other.name not in CHOSEN or given is None or given.nid not in known or given.nid == source.nid:
                continue
            last = len(given.shape) - 1
            if (
                given.shape == source.shape
                and other.facts.axes == (last,)
                and known[given.nid][-1:] == (UNITS,)
            ):
                return other
        return None

    def _chosen_from(self, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """Who takes one of the units of each row of the very same value."""
        last = (len(source.shape) - 1,)
        users = onward(self.history.graph, source, within)
        return next((u for u in users if u.name in CHOSEN and u.facts.axes == last), None)

    def _smallest_for_all(self, op: Op, source: Op, within: dict[ValueId, Op]) -> Op | None:
        """The smallest value in the batch of each critic, as the target of every row."""
        return self._summand(op, within, lambda other: source.shape[1] in other.shape)

    def _becomes_a_summand(self, op: Op, source: Op, within: dict[ValueId, Op]) -> bool:
        """Whether it is scaled and added to something for each row that it is no part of: a target."""
        graph = self.history.graph
        return self._summand(op, within, lambda other: _has_rows_of(other, source, graph)) is not None

    def _summand(self, op: Op, within: dict[ValueId, Op], has_rows: Callable[[Op], bool]) -> Op | None:
        graph, stack, seen = self.history.graph, [op], set()
        while stack:
            value = stack.pop()
            for user in onward(graph, value, within):
                if user.nid in seen:
                    continue
                seen.add(user.nid)
                if user.name == "add":
                    others = [i for i in graph.inputs(user) if i.nid != value.nid and has_rows(i)]
                    if others and not any(i.live for i in others):
                        return user
                elif user.name in {"mul", "detach", "item", "float"} | RESHAPING | SPREADING:
                    stack.append(user)
        return None


def _runs_over_rows(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """Along axes that a layer was given, of several rows with several units each. What is chosen among agents or
    steps counts, too; a softmax over them is attention."""
    shape, words, axes = source.shape, known[source.nid], op.facts.axes
    fewest = 1 if op.name in NORMALISING else 2  # the softmax over one state is one, whatever it is given
    if len(shape) < 2 or shape[0] < fewest or shape[-1] < 2 or words[0] != ROWS or words[-1] != UNITS:
        return False
    if op.name in CHOOSING and len(shape) - 1 not in axes:
        return all(words[a] == ROWS and shape[a] > 1 for a in axes)
    if op.name == "log_softmax" and len(axes) == 1:  # no attention: that needs the weights themselves
        return words[axes[0]] == ROWS and (shape[axes[0]] > 1 or len(shape) == 2)
    return 0 in axes and (op.name not in NORMALISING or len(shape) == 2)


def _runs_over_rows_of_members(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """`[members, B]`, one value of each member of an ensemble for each row, and the smallest is one of the rows'."""
    if op.name not in SMALLER or op.facts.axes != (1,) or len(source.shape) not in (2, 3):
        return False
    if len(source.shape) == 3 and source.shape[2] > 1:
        return False
    return known[source.nid][:2] == (UNKNOWN, ROWS) and min(source.shape[:2]) > 1


def _has_rows_of(other: Op, source: Op, graph: Provenance) -> bool:
    parts = list(graph.inputs(source)) if source.name == "cat" else []
    return any(other.shape[:1] == value.shape[:1] for value in (source, *parts))


def _of_joined_columns(graph: Provenance, op: Op, source: Op) -> bool:
    """The smallest of all rows of several columns that were joined, `torch.cat([q1, q2]).min(0)`: stacked, they would
    have been compared row by row."""
    joined = source.name == "cat" and source.facts.axes == (0,) and op.facts.axes == (0,)
    parts = list(graph.inputs(source)) if joined else []
    return len(parts) > 1 and len({part.shape for part in parts}) == 1 and parts[0].shape[1:] in ((), (1,))


def _runs_over_one_unit(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(source.shape) - 1
    alone = last > 0 and source.shape[last] == 1 and known[source.nid][last] == UNITS
    return alone and op.name in NORMALISING and op.facts.axes == (last,)


def _is_learned(graph: Provenance, op: Op) -> bool:
    """A score that a network gives and that another loss uses as a number; not the choice of a distribution."""
    return "distribution" not in op.tags and bool(graph.value_params([op.nid]))


def _takes_units(user: Op, value: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(value.shape) - 1
    return user.name in CONSUMING and user.facts.axes == (last,) and known[value.nid][last] == UNITS


def _picks_one_of_each_row(user: Op, value: Op) -> bool:
    """`multinomial`, the parameters of a distribution, `x[torch.arange(n), a]`."""
    if user.name == "multinomial" or (
        "distribution" in user.tags and user.facts.axes == (len(value.shape) - 1,)
    ):
        return True
    one = value.shape[:1] + value.shape[2:]  # of `[B, A, N]` too, a distribution for each action
    return user.name == "getitem" and len(user.inputs) == 3 and user.shape == one


def _in_words(op: Op, source: Op) -> str:
    if len(op.facts.axes) == len(source.shape):
        return "over everything, rows and columns"
    width = source.shape[-1]
    return f"along axis {op.facts.axes[0]}, not along the {f'{width} columns' if width != 1 else 'last one'}"


rule = WrongAxis
