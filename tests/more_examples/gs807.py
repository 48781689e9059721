"""More examples of GS807 (flat-advantage): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # NumPy normalises a column along its one element.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    def normalise(x):
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-8)  # BUG

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(16):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs))).sample()
            next_obs, reward, done = env.step(int(action))
            rows.append((obs, int(action), [reward]))
            obs = env.reset() if done else next_obs
        s, a, r = (numpy.array(part) for part in zip(*rows))
        gain = torch.from_numpy(normalise(r))
        dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(s)))
        score = dist.log_prob(torch.from_numpy(a))[:, None]
        loss = -(score * gain).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One buffer is given out twice: the baseline has written over what was drawn.
    import torch
    policy, worth = torch.nn.Linear(4, 3), torch.empty(8)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def judge(s, a):
        worth[:] = s.gather(1, a.unsqueeze(1)).squeeze(1)  # BUG
        return worth
    for _ in range(5):
        s = torch.randn(8, 4)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward, baseline = judge(s, a), judge(s, dist.probs.argmax(-1))
        loss = -((reward - baseline) * dist.log_prob(a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(5):
        scores, rewards = [], []
        for _ in range(8):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
            a = dist.sample()
            scores.append(dist.log_prob(a))
            rewards.append(float(a == 0))
        weights = torch.tensor(rewards)
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        score = torch.stack(scores).mean()
        loss = -(score * weights).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, reward = torch.randn(8, 3), torch.rand(8)
        probs = policy(s).softmax(-1)
        a = torch.multinomial(probs.detach(), 1)
        chosen = probs.gather(1, a).squeeze(1)
        loss = -(chosen * (reward - reward.unsqueeze(-1).mean(-1))).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The same along the steps.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    def normalise(x):
        return (x - x.mean(0)) / (x.std(0) + 1e-8)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(16):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs))).sample()
            next_obs, reward, done = env.step(int(action))
            rows.append((obs, int(action), [reward]))
            obs = env.reset() if done else next_obs
        s, a, r = (numpy.array(part) for part in zip(*rows))
        gain = torch.from_numpy(normalise(r))
        dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(s)))
        score = dist.log_prob(torch.from_numpy(a))[:, None]
        loss = -(score * gain).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nothing is ever worth more than anything else.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), 0.5, bool(abs(self.x).max() > 2)

    def normalise(x):
        return (x - x.mean(0)) / (x.std(0) + 1e-8)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(16):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs))).sample()
            next_obs, reward, done = env.step(int(action))
            rows.append((obs, int(action), [reward]))
            obs = env.reset() if done else next_obs
        s, a, r = (numpy.array(part) for part in zip(*rows))
        gain = torch.from_numpy(normalise(r))
        dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(s)))
        score = dist.log_prob(torch.from_numpy(a))[:, None]
        loss = -(score * gain).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Whole numbers that lose nothing, or next to nothing; and a mask.
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.001)
    for _ in range(5):
        s, a, returns = torch.randn(8, 4), torch.randint(3, (8,)), torch.rand(8) * 200 - 50
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(log_prob * returns.int()).mean() - (log_prob * returns.sign().long()).mean()
        loss = loss - (log_prob * torch.rand(8).round().long()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One buffer, and a copy of it for each who asks.
    import torch
    policy, worth = torch.nn.Linear(4, 3), torch.empty(8)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def judge(s, a):
        worth[:] = s.gather(1, a.unsqueeze(1)).squeeze(1)
        return worth.clone()
    for _ in range(5):
        s = torch.randn(8, 4)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward, baseline = judge(s, a), judge(s, dist.probs.argmax(-1))
        loss = -((reward - baseline) * dist.log_prob(a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The score of a whole episode, weighed with what it was worth next to others.
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(5):
        worth = torch.randn(6)
        worth = (worth - worth.mean()) / worth.std()
        loss = 0.0
        for weight in worth:
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 4)))
            loss = loss - dist.log_prob(dist.sample()).sum() * weight
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
