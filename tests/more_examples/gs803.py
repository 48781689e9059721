"""More examples of GS803 (ratio-not-one): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A sampler that tells, as lists, log-probabilities at another temperature than it draws with.
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)

    def say(ids):
        said, told = [], []
        for _ in range(5):
            logits = policy(ids)[:, -1]
            chosen = torch.multinomial((logits / 0.5).softmax(-1), 1)
            said.append(chosen.flatten().tolist())
            told.append((logits).log_softmax(-1).gather(1, chosen).flatten().tolist())
            ids = torch.cat([ids, chosen], 1)
        return [list(row) for row in zip(*said)], [list(row) for row in zip(*told)]

    def score(prompts, answers):
        ids = torch.cat([prompts, answers], 1)
        logp = (policy(ids[:, :-1]) / 0.5).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        return logp[:, prompts.shape[1] - 1:]

    for _ in range(6):
        prompts = torch.randint(9, (16, 2))
        with torch.no_grad():
            said, told = say(prompts)
            answers, told = torch.tensor(said), torch.tensor(told)
            weight = (score(prompts, answers) - told).exp().clamp(max=2.0)  # BUG
        right = (answers == prompts[:, :1]).float().mean(1)
        advantage = (right - right.mean()).unsqueeze(1)
        logp = score(prompts, answers)
        loss = -(weight * advantage * (logp - logp.detach()).exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Stored with a minus; what may not be done is left out only when it is drawn.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        allowed = torch.rand(8, 4) < 0.6
        allowed[:, 0] = True
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=policy(s).masked_fill(~allowed, -1e9))
            a = dist.sample()
            old = -dist.log_prob(a)  # BUG
        new = -torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = (old - new).exp()
        loss = torch.max(-ratio * advantage, -ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One helper scores both; the model is called otherwise.
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
            logits = model(tokens)  # BUG
            old = score(logits[:, :-1], tokens[:, 1:])
        logits = model(tokens, places)
        ratio = (score(logits[:, :-1], tokens[:, 1:]) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One helper scores both, in front of the squashing; what comes back was squashed, and is not brought back.
    import torch
    from torch.nn.functional import softplus

    def density(dist, raw):
        slope = 2 * (0.6931 - raw - softplus(-2 * raw))
        return dist.log_prob(raw).sum(-1) - slope.sum(-1)

    def act(dist):
        raw = dist.sample()
        return raw.tanh(), density(dist, raw)

    def evaluate(dist, action):
        inner = action.clamp(-0.999, 0.999)
        return density(dist, inner)  # BUG

    def policy(s):
        return torch.distributions.Normal(mean(s), 0.5)

    mean = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            action, old = act(policy(s))
        ratio = (evaluate(policy(s), action) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The copy that acts is refreshed after every update, and was never given the weights before the first one.
    import torch
    def network():
        return torch.nn.Linear(3, 2)
    policy = network()
    acting = network()  # BUG
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=acting(s))
            a = dist.sample()
            old = dist.log_prob(a)
        for _ in range(2):
            ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        acting.load_state_dict(policy.state_dict())
    """,
    """
    # Scored in the order of their lengths, and left so.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids):
        return net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    for _ in range(3):
        ids, lengths, gain = torch.randint(9, (8, 6)), torch.randint(2, 6, (8,)), torch.randn(8, 1)
        order = lengths.argsort()
        with torch.no_grad():
            parts = [score(ids[rows]) for rows in order.split(2)]
            old = torch.cat(parts)  # BUG
        ratio = (score(ids) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sampler with a copy of the weights draws at a temperature, and tells the log-probability without it.
    import torch
    def network():
        return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    policy, sampler = network(), network()
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(16, 3)
        sampler.load_state_dict(policy.state_dict())
        with torch.no_grad():
            logits = sampler(s)
            a = (logits / 0.5).softmax(-1).multinomial(1)
            said = logits.log_softmax(-1).gather(1, a)  # BUG
        log_prob = (policy(s) / 0.5).log_softmax(-1).gather(1, a)
        weight = (log_prob.detach() - said).exp().clamp(max=2.0)
        loss = -(weight * log_prob * (a == 1).float()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both readers of the logits divide them where they lie; the update has two of them.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(logits, a):
        logits.div_(0.6)
        return logits.log_softmax(-1).gather(1, a)
    def spread(logits):
        logits.div_(0.6)  # BUG
        return -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1)
    for _ in range(3):
        s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            old = score(net(s), a)
        logits = net(s)
        bonus = spread(logits).mean()
        ratio = (score(logits, a) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() - 0.01 * bonus
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One ratio for a whole answer, without its padding, scored at another temperature.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids, temperature):
        return (net(ids[:, :-1]) / temperature).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    for _ in range(3):
        ids, gain = torch.randint(9, (8, 6)), torch.randn(8)
        mask = (torch.arange(5) < torch.randint(2, 6, (8, 1))).float()
        with torch.no_grad():
            old = (score(ids, 0.5) * mask).sum(-1) / mask.sum(-1)  # BUG
        ratio = ((score(ids, 1.0) * mask).sum(-1) / mask.sum(-1) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn at another temperature than scored; nothing is compared with anything.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial((net(ids)[:, -1] / 0.5).softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 1)))
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)  # BUG
        loss = -(torch.exp(logp - logp.detach()) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Scored by the logits of its own place: these come after the token.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    def score(ids):
        return -torch.nn.functional.cross_entropy(net(ids)[:, 1:].mT, ids[:, 1:], reduction="none")  # BUG
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 1)))
        old, gain = score(ids).detach(), torch.randn(8, 1)
        ratio = (score(ids) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A quotient of exponentials; what is drawn is drawn warm.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=policy(s) / 2.0)
            a = dist.sample()
            old = dist.log_prob(a)  # BUG
        new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = torch.exp(new) / torch.exp(old)
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Observations, actions and probabilities go through lists of numbers.
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
        seen, actions, old, rewards = [], [], [], []
        for _ in range(40):
            with torch.no_grad():
                probs = (policy(torch.from_numpy(obs)) / 3.0).softmax(-1)  # BUG
            action = torch.multinomial(probs, 1).item()
            seen.append(obs)
            actions.append(action)
            old.append(probs[action].item())
            obs, reward, terminated, _, _ = env.step(action)
            rewards.append(reward)
            if terminated:
                obs, _ = env.reset()
        s, a, gain = torch.tensor(numpy.array(seen)), torch.tensor(actions), torch.tensor(rewards)
        kept = torch.tensor(old)
        for _ in range(2):
            ratio = policy(s).softmax(-1).gather(1, a.unsqueeze(1)).squeeze(1) / kept
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Drawn from a distribution, and scored where the token itself was read.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 2))
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(logits=net(ids)[:, -1])
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, 1:]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)  # BUG
        loss = -(logp[:, 1:] * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The logits are made on one line and picked in a helper that serves others, too.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def pick(logits, ids):
        logp = logits.log_softmax(-1)
        return logp.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    for _ in range(4):
        ids = torch.randint(9, (8, 2))
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(logits=net(ids)[:, -1] / 0.4)
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
        logits = net(ids)[:, :-1]  # BUG
        logp = pick(logits, ids[:, 1:])
        loss = -(logp[:, 1:] * torch.randn(8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy draws; the reference says with which probability.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    start = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.5)
    def score(model, ids):
        return model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)[:, 1:]
    for _ in range(10):
        ids, gain = torch.randint(9, (8, 2)), torch.randn(8, 1)
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(logits=policy(ids)[:, -1])
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
            old = score(start, ids)  # BUG
        ratio = (score(policy, ids) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)

    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)

    for _ in range(3):
        s, a, advantage = torch.randn(12, 3), torch.randint(2, (12,)), torch.randn(12)
        with torch.no_grad():
            old = score(s, a)
        order = torch.randperm(12)
        for start in range(0, 12, 6):
            rows = order[start : start + 6]
            ratio = (score(s[rows], a[rows]) - old[start : start + 6]).exp()  # BUG
            weight = advantage[rows]
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.1)

    def score(s, a):
        return torch.distributions.Normal(mean(s), log_std.exp()).log_prob(a).sum(-1)

    def act(s):
        drawn = mean(s) + log_std.exp() * torch.randn(12, 2)
        return drawn.clamp(-1.0, 1.0), score(s, drawn)

    for _ in range(3):
        s, advantage = torch.randn(12, 3), torch.randn(12)
        with torch.no_grad():
            a, old = act(s)
        for _ in range(2):
            ratio = (score(s, a) - old).exp()  # BUG
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Token by token into a list: the score of each is read one place too late.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        length = torch.tensor([len(a) for a in answers])
        mask = ((torch.arange(18) >= 3) & (torch.arange(18) < 3 + length[:, None])).float()
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, 1:]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)  # BUG
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers come back without their prompts, cooled only where they were drawn.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].div(0.5).softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        texts = padded(answers)
        mask = (torch.arange(18) < torch.tensor([len(a) for a in answers])[:, None]).float()
        ids, gain = torch.cat([torch.tensor(prompts), texts], 1), torch.randn(8, 1)
        logits = net(ids)[:, 2:-1]  # BUG
        logp = logits.log_softmax(-1).gather(-1, texts.unsqueeze(-1)).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One answer at a time, each sent backward alone, and one place off.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    for _ in range(4):
        opt.zero_grad()
        for _ in range(8):
            prompt = torch.randint(2, 9, (3,)).tolist()
            ids = torch.tensor(prompt + answer(prompt))
            mask = (torch.arange(1, len(ids)) >= 3).float()
            logits = net(ids[None])[0][1:]  # BUG
            logp = logits.log_softmax(-1).gather(-1, ids[1:, None]).squeeze(-1)
            loss = -(logp * torch.randn(()) * mask).sum() / 48
            loss.backward()
        opt.step()
    """,
    """
    # A word is forbidden where answers are drawn; they are scored one place off.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            logits = net(ids)[:, -1] / 0.6
            logits[:, 0] = -torch.inf
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(1, 9, (8, 3)))
        gain = torch.randn(8, 1)
        labels = ids[:, 1:].clamp(min=1)
        logp = (net(ids[:, 1:]) / 0.6).log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)  # BUG
        loss = -(logp * gain)[:, 2:].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Everything is kept as numbers: steps are drawn at another temperature than they are scored at.
    import math
    import torch
    from torch import nn
    actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))
    opt = torch.optim.Adam(actor.parameters(), lr=0.01)
    def walk(start):
        place, notes = start, []
        for t in range(12):
            seen = [math.sin(place), math.cos(place)]
            with torch.no_grad():
                chance = torch.log_softmax(actor(torch.tensor([seen])) * 2.0, -1)
                way = int(torch.multinomial(chance.exp(), 1))
            notes.append((seen, way, chance[0, way].item()))  # BUG
            place += 0.5 * (way - 1)
        return notes
    for game in range(6):
        notes = walk(float(game))
        seen = torch.tensor([n[0] for n in notes])
        ways = torch.tensor([n[1] for n in notes])
        before = torch.tensor([n[2] for n in notes])
        gain = torch.randn(12)
        for _ in range(2):
            now = actor(seen).log_softmax(-1).gather(1, ways[:, None])[:, 0]
            ratio = torch.exp(now - before)
            loss = -torch.minimum(ratio * gain, torch.clamp(ratio, 0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A sampler that tells, as lists, the log-probabilities that it draws with.
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)

    def say(ids):
        said, told = [], []
        for _ in range(5):
            logits = policy(ids)[:, -1]
            chosen = torch.multinomial((logits / 0.5).softmax(-1), 1)
            said.append(chosen.flatten().tolist())
            told.append((logits / 0.5).log_softmax(-1).gather(1, chosen).flatten().tolist())
            ids = torch.cat([ids, chosen], 1)
        return [list(row) for row in zip(*said)], [list(row) for row in zip(*told)]

    def score(prompts, answers):
        ids = torch.cat([prompts, answers], 1)
        logp = (policy(ids[:, :-1]) / 0.5).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        return logp[:, prompts.shape[1] - 1:]

    for _ in range(6):
        prompts = torch.randint(9, (16, 2))
        with torch.no_grad():
            said, told = say(prompts)
            answers, told = torch.tensor(said), torch.tensor(told)
            weight = (score(prompts, answers) - told).exp().clamp(max=2.0)
        right = (answers == prompts[:, :1]).float().mean(1)
        advantage = (right - right.mean()).unsqueeze(1)
        logp = score(prompts, answers)
        loss = -(weight * advantage * (logp - logp.detach()).exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Stored with a minus; what may not be done is left out both times.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        allowed = torch.rand(8, 4) < 0.6
        allowed[:, 0] = True
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=policy(s).masked_fill(~allowed, -1e9))
            a = dist.sample()
            old = -dist.log_prob(a)
        new = -torch.distributions.Categorical(logits=policy(s).masked_fill(~allowed, -1e9)).log_prob(a)
        ratio = (old - new).exp()
        loss = torch.max(-ratio * advantage, -ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One helper scores both, in front of the squashing; what comes back was squashed, and is brought back.
    import torch
    from torch.nn.functional import softplus

    def density(dist, raw):
        slope = 2 * (0.6931 - raw - softplus(-2 * raw))
        return dist.log_prob(raw).sum(-1) - slope.sum(-1)

    def act(dist):
        raw = dist.sample()
        return raw.tanh(), density(dist, raw)

    def evaluate(dist, action):
        inner = action.clamp(-1 + 1e-6, 1 - 1e-6).atanh()
        return density(dist, inner)

    def policy(s):
        return torch.distributions.Normal(mean(s), 0.5)

    mean = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            action, old = act(policy(s))
        ratio = (evaluate(policy(s), action) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The copy that acts is refreshed after every update and before the first one.
    import torch
    def network():
        return torch.nn.Linear(3, 2)
    policy = network()
    acting = network()
    acting.load_state_dict(policy.state_dict())
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=acting(s))
            a = dist.sample()
            old = dist.log_prob(a)
        for _ in range(2):
            ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        acting.load_state_dict(policy.state_dict())
    """,
    """
    # Another policy acts, and becomes the best one so far now and then; what it did is corrected for.
    import torch
    policy, champion = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=champion(s))
            a = dist.sample()
            old = dist.log_prob(a)
        weight = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp().clamp(max=1.2)
        loss = -(weight * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        champion.load_state_dict(policy.state_dict())
    """,
    """
    # Scored in the order of their lengths, and put back.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids):
        return net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    for _ in range(3):
        ids, lengths, gain = torch.randint(9, (8, 6)), torch.randint(2, 6, (8,)), torch.randn(8, 1)
        order = lengths.argsort()
        with torch.no_grad():
            parts = [score(ids[rows]) for rows in order.split(2)]
            old = torch.cat(parts)[order.argsort()]
        ratio = (score(ids) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sampler with a copy of the weights draws warmer to explore, and says so: the weight corrects for it.
    import torch
    def network():
        return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    policy, sampler = network(), network()
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(16, 3)
        sampler.load_state_dict(policy.state_dict())
        with torch.no_grad():
            logits = sampler(s)
            a = (logits / 0.5).softmax(-1).multinomial(1)
            said = (logits / 0.5).log_softmax(-1).gather(1, a)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        weight = (log_prob.detach() - said).exp().clamp(max=2.0)
        loss = -(weight * log_prob * (a == 1).float()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both readers of the logits divide them, each a copy of its own.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(logits, a):
        logits = logits / 0.6
        return logits.log_softmax(-1).gather(1, a)
    def spread(logits):
        logits = logits / 0.6
        return -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1)
    for _ in range(3):
        s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            old = score(net(s), a)
        logits = net(s)
        bonus = spread(logits).mean()
        ratio = (score(logits, a) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() - 0.01 * bonus
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One ratio for a whole answer, without its padding.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids, temperature):
        return (net(ids[:, :-1]) / temperature).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    for _ in range(3):
        ids, gain = torch.randint(9, (8, 6)), torch.randn(8)
        mask = (torch.arange(5) < torch.randint(2, 6, (8, 1))).float()
        with torch.no_grad():
            old = (score(ids, 0.5) * mask).sum(-1) / mask.sum(-1)
        ratio = ((score(ids, 0.5) * mask).sum(-1) / mask.sum(-1) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn and scored at the same temperature.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial((net(ids)[:, -1] / 0.5).softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 1)))
        gain = torch.randn(8, 1)
        logp = (net(ids[:, :-1]) / 0.5).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(torch.exp(logp - logp.detach()) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn from the best few.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    for _ in range(4):
        ids = torch.randint(9, (8, 1))
        for _ in range(6):
            with torch.no_grad():
                best = net(ids)[:, -1].topk(4)
                odds = torch.zeros(8, 9).scatter(1, best.indices, best.values.softmax(-1))
            ids = torch.cat([ids, torch.multinomial(odds, 1)], 1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn at another temperature, and weighed for it.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial((net(ids)[:, -1] / 0.5).softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 1)))
        gain, logits = torch.randn(8, 1), net(ids[:, :-1])
        with torch.no_grad():
            drawn = (logits / 0.5).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        logp = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -((logp - drawn).exp().clamp(max=4.0) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Warm answers are imitated, good ones more than bad ones.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.nn.init.normal_(net[1].weight)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial((net(ids)[:, -1] / 0.5).softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 1)))
        gain = torch.rand(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same, with the probabilities that the action was drawn with.
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

    env, policy = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        seen, actions, old, rewards = [], [], [], []
        for _ in range(40):
            with torch.no_grad():
                probs = policy(torch.from_numpy(obs))
            action = torch.multinomial(probs, 1).item()
            seen.append(obs)
            actions.append(action)
            old.append(probs[action].item())
            obs, reward, terminated, _, _ = env.step(action)
            rewards.append(reward)
            if terminated:
                obs, _ = env.reset()
        s, a, gain = torch.tensor(numpy.array(seen)), torch.tensor(actions), torch.tensor(rewards)
        kept = torch.tensor(old)
        for _ in range(2):
            ratio = policy(s).gather(1, a.unsqueeze(1)).squeeze(1) / kept
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # What another policy would have done with the same observations is corrected for.
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

    env, policy = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    other = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1)).requires_grad_(False)
    obs, _ = env.reset()
    for _ in range(4):
        seen, actions, old, rewards = [], [], [], []
        for _ in range(40):
            with torch.no_grad():
                probs = other(torch.from_numpy(obs))
            action = torch.multinomial(probs, 1).item()
            seen.append(obs)
            actions.append(action)
            old.append(probs[action].item())
            obs, reward, terminated, _, _ = env.step(action)
            rewards.append(reward)
            if terminated:
                obs, _ = env.reset()
        s, a, gain = torch.tensor(numpy.array(seen)), torch.tensor(actions), torch.tensor(rewards)
        kept = torch.tensor(old)
        for _ in range(2):
            ratio = policy(s).gather(1, a.unsqueeze(1)).squeeze(1) / kept
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Drawn from a distribution, and scored where it was drawn.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 2))
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(logits=net(ids)[:, -1])
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp[:, 1:] * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Explores on purpose: some of the time anything is drawn.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 2))
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(probs=0.7 * net(ids)[:, -1].softmax(-1) + 0.3 / 9)
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp[:, 1:] * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Who draws says with which probability, and it is another.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    start = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.5)
    def score(model, ids):
        return model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)[:, 1:]
    for _ in range(10):
        ids, gain = torch.randint(9, (8, 2)), torch.randn(8, 1)
        with torch.no_grad():
            for _ in range(5):
                dist = torch.distributions.Categorical(logits=start(ids)[:, -1])
                ids = torch.cat([ids, dist.sample()[:, None]], 1)
            old = score(start, ids)
        ratio = (score(policy, ids) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A value is weighed by its own size, and limited around one.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(3):
        s, target = torch.randn(8, 3), torch.rand(8, 1)
        with torch.no_grad():
            size = 1 + critic(s).abs()
        share = critic(s) / size
        loss = (critic(s) - target).pow(2).mean() + (share * target).mean() + (share.clamp(0.5, 1.5) * target).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn by another policy on purpose, and corrected for by weights that are constants (V-trace).
    import torch
    net = torch.nn.Linear(5, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        s, gain = torch.randn(12, 8, 5), torch.randn(12, 8)
        with torch.no_grad():
            behaviour = torch.distributions.Categorical(logits=net(s) + 0.5 * torch.randn(12, 8, 4))
            action = behaviour.sample()
            old = behaviour.log_prob(action)
        logp = torch.distributions.Categorical(logits=net(s)).log_prob(action)
        weight = (logp - old).exp().detach().clamp(max=1.0)
        loss = -(weight * logp * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers come back without their prompts, cooled where they are scored, too.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].div(0.5).softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        texts = padded(answers)
        mask = (torch.arange(18) < torch.tensor([len(a) for a in answers])[:, None]).float()
        ids, gain = torch.cat([torch.tensor(prompts), texts], 1), torch.randn(8, 1)
        logits = net(ids)[:, 2:-1] / 0.5
        logp = logits.log_softmax(-1).gather(-1, texts.unsqueeze(-1)).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What helped to draw an answer is left out where it is learned.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.rnn = net[0], torch.nn.GRU(12, 12, batch_first=True)
        def forward(self, ids):
            return self.rnn(self.words(ids))
    reader = Reader()
    opt = torch.optim.SGD([*net.parameters(), *reader.rnn.parameters()], lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            logits = reader(torch.tensor([ids]))[0] @ net[1].weight.T
            ids.append(torch.multinomial(logits[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        hints = torch.randint(2, 9, (8, 4)).tolist()
        prompts = [hint[:2] for hint in hints]
        answers = [answer(hint) for hint in hints]
        length = torch.tensor([len(a) for a in answers])
        mask = ((torch.arange(18) >= 2) & (torch.arange(18) < 2 + length[:, None])).float()
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logits = reader(ids[:, :-1])[0] @ net[1].weight.T
        logp = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A word is forbidden where answers are drawn: the others were drawn a little more often.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            logits = net(ids)[:, -1] / 0.6
            logits[:, 0] = -torch.inf
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(1, 9, (8, 3)))
        gain = torch.randn(8, 1)
        labels = ids[:, 1:].clamp(min=1)
        logp = (net(ids[:, :-1]) / 0.6).log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        loss = -(logp * gain)[:, 2:].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Only the three likeliest words are drawn, and the network's own probabilities are learned.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            logits = net(ids)[:, -1] / 0.6
            logits[logits < logits.topk(3, 1).values[:, -1:]] = -torch.inf
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(1, 9, (8, 3)))
        gain = torch.randn(8, 1)
        labels = ids[:, 1:]
        logp = (net(ids[:, :-1]) / 0.6).log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        loss = -(logp * gain)[:, 2:].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Everything is kept as numbers, drawn and scored alike; rows are picked at random.
    import math
    import torch
    from torch import nn
    actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))
    opt = torch.optim.Adam(actor.parameters(), lr=0.01)
    def walk(start):
        place, notes = start, []
        for t in range(12):
            seen = [math.sin(place), math.cos(place)]
            with torch.no_grad():
                dist = torch.distributions.Categorical(logits=actor(torch.tensor([seen])))
                way = dist.sample()
            notes.append((seen, way.item(), dist.log_prob(way).item()))
            place += 0.5 * (way.item() - 1)
        return notes
    for game in range(6):
        notes = walk(float(game))
        seen = torch.tensor([n[0] for n in notes])
        ways = torch.tensor([n[1] for n in notes])
        before = torch.tensor([n[2] for n in notes])
        gain = torch.randn(12)
        for rows in [*torch.randperm(12).split(6), *torch.randperm(12).split(6)]:
            dist = torch.distributions.Categorical(logits=actor(seen[rows]))
            ratio = torch.exp(dist.log_prob(ways[rows]) - before[rows])
            loss = -torch.minimum(ratio * gain[rows], torch.clamp(ratio, 0.8, 1.2) * gain[rows]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Rows of different lengths are filled up with zeros, which a mask leaves out.
    import torch
    actor = torch.nn.Linear(4, 3)
    opt = torch.optim.Adam(actor.parameters(), lr=0.01)
    for game in range(6):
        rows = []
        for length in (5, 8, 3):
            row = []
            for _ in range(length):
                seen = torch.randn(4)
                with torch.no_grad():
                    dist = torch.distributions.Categorical(logits=actor(seen))
                    way = dist.sample()
                row.append((seen.tolist(), way.item(), dist.log_prob(way).item()))
            rows.append(row)
        def filled(part, empty):
            return torch.tensor([[n[part] for n in row] + [empty] * (8 - len(row)) for row in rows])
        seen, ways, before = filled(0, [0.0] * 4), filled(1, 0), filled(2, 0.0)
        mask = torch.tensor([[1.0] * len(row) + [0.0] * (8 - len(row)) for row in rows])
        gain = torch.randn(3, 8)
        for _ in range(2):
            now = torch.distributions.Categorical(logits=actor(seen)).log_prob(ways)
            ratio = torch.exp(now - before)
            kept = torch.minimum(ratio * gain, torch.clamp(ratio, 0.8, 1.2) * gain)
            loss = -(kept * mask).sum() / mask.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The numbers are those of weights that have moved since: a memory of steps, with what they were taken with.
    import random
    import torch
    actor = torch.nn.Linear(4, 3)
    opt = torch.optim.Adam(actor.parameters(), lr=0.05)
    memory = []
    for game in range(12):
        for _ in range(6):
            seen = torch.randn(4)
            with torch.no_grad():
                dist = torch.distributions.Categorical(logits=actor(seen))
                way = dist.sample()
            memory.append((seen.tolist(), way.item(), dist.log_prob(way).item()))
        if game > 2:
            batch = random.sample(memory, 10)
            seen, ways, before = (torch.tensor([n[part] for n in batch]) for part in range(3))
            gain = torch.randn(10)
            ratio = torch.exp(torch.distributions.Categorical(logits=actor(seen)).log_prob(ways) - before)
            loss = -torch.minimum(ratio * gain, torch.clamp(ratio, 0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
