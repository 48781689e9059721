"""More examples of GS603 (log-prob-not-reduced): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Two answers are compared at every place for itself.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    old = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    F = torch.nn.functional
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def words(model, ids):
        scores = model(ids)[:, :-1].log_softmax(-1)
        return scores.gather(-1, ids[:, 1:, None]).squeeze(-1)  # BUG

    for _ in range(4):
        good, bad = torch.randint(9, (6, 7)), torch.randint(9, (6, 7))
        with torch.no_grad():
            before = words(old, good) - words(old, bad)
        margin = words(net, good) - words(net, bad) - before
        loss = -F.logsigmoid(0.1 * margin).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both in one batch, of different lengths, and no reference.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    old = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    F = torch.nn.functional
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    lengths = torch.tensor([3, 5, 6, 4, 6, 2, 5, 4])
    for _ in range(4):
        given, ids = torch.randint(9, (8, 6)), torch.randint(9, (8, 6))
        mask = (torch.arange(6) < lengths[:, None]).float()
        picked = net(given).log_softmax(-1).gather(-1, ids[..., None])[..., 0]
        words = picked * mask  # BUG
        good, bad = words[:4], words[4:]
        loss = F.softplus(-(good - bad)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(7, 1)
    s = torch.randn(8, 4)
    dist = torch.distributions.Normal(actor(s), 0.5)
    a = dist.rsample()
    log_prob = dist.log_prob(a).sum(0)  # BUG
    loss = (0.1 * log_prob - critic(torch.cat([s, a], -1))).mean()
    loss.backward()
    """,
    """
    import torch
    actor = torch.nn.Linear(4, 3)
    log_probs, returns = [], torch.randn(8, 1)
    for _ in range(8):
        dist = torch.distributions.Normal(actor(torch.randn(4)), 1.0)
        log_probs.append(dist.log_prob(dist.sample()))  # BUG
    (-(torch.stack(log_probs) * returns).mean()).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 6)  # an action of two parts, with three choices each
    s, advantage = torch.randn(8, 4), torch.randn(8, 1)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=net(s).view(8, 2, 3))
        action = dist.sample()
        old = dist.log_prob(action)  # BUG
    new = torch.distributions.Categorical(logits=net(s).view(8, 2, 3)).log_prob(action)  # BUG
    ratio = (new - old).exp()
    (-torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()).backward()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(7, 1)
    s = torch.randn(8, 4)
    dist = torch.distributions.Normal(actor(s), 0.5)
    raw = dist.rsample()
    a = raw.tanh()
    joints = dist.log_prob(raw)
    log_prob = (joints - torch.log(1 - a.pow(2) + 1e-6).sum(-1, keepdim=True)).sum(-1, keepdim=True)  # BUG
    (0.1 * log_prob - critic(torch.cat([s, a], -1))).mean().backward()
    """,
    """
    # The squashing of all actions of the batch, taken from the log-probability of each.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    s = torch.randn(8, 3)
    dist = torch.distributions.Normal(actor(s), 0.5)
    raw = dist.rsample()
    a = raw.tanh()
    squash = (1 - a.pow(2) + 1e-6).log().sum()  # BUG
    log_prob = dist.log_prob(raw).sum(-1) - squash
    (0.1 * log_prob - critic(torch.cat([s, a], -1)).squeeze(-1)).mean().backward()
    """,
    """
    # A density written by hand, summed over everything: one number that the value of each action meets.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(8, 3)
        mean, raw = actor(s).chunk(2, -1)
        std = torch.nn.functional.softplus(raw) + 1e-3
        noise = torch.randn_like(mean)
        action = torch.tanh(mean + std * noise)
        density = -0.5 * noise.pow(2) - std.log() - 0.919
        log_prob = (density - torch.log(1 - action.pow(2) + 1e-6)).sum()  # BUG
        loss = (0.1 * log_prob - critic(torch.cat([s, action], -1))).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Written by hand for a ratio, and left with a column for each dimension.
    import math
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.1)
    def likelihood(x, mu):
        return -0.5 * (((x - mu) / log_std.exp()) ** 2 + 2 * log_std + math.log(2 * math.pi))  # BUG
    for _ in range(3):
        s, advantage = torch.randn(8, 3), torch.randn(8, 1)
        with torch.no_grad():
            action = mean(s) + log_std.exp() * torch.randn(8, 2)
            old = likelihood(action, mean(s))
        for _ in range(2):
            ratio = (likelihood(action, mean(s)) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The block for the old one has a column for each dimension, and all of them hold the same number.
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    old_log_prob = torch.zeros(8, 3)
    for _ in range(4):
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 1)
        with torch.no_grad():
            old_log_prob[:] = torch.distributions.Normal(policy(s), 1.0).log_prob(a).sum(-1, keepdim=True)
        for _ in range(2):
            log_prob = torch.distributions.Normal(policy(s), 1.0).log_prob(a).sum(-1, keepdim=True)
            ratio = (log_prob - old_log_prob).exp()  # BUG
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Written out without its constants; the ratio has a column for every joint.
    import torch
    mean, log_std = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.01)
    def score(s, a):
        return -((a - mean(s)) ** 2) / (2 * torch.exp(log_std) ** 2) - log_std  # BUG
    for _ in range(3):
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
        old = score(s, a).detach()
        for _ in range(2):
            ratio = torch.exp(score(s, a) - old)
            loss = -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # With the logarithm of what it is divided by.
    import torch
    net, wide = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    opt = torch.optim.SGD([*net.parameters(), *wide.parameters()], lr=0.01)
    for _ in range(3):
        s, advantage = torch.randn(8, 4), torch.randn(8, 1)
        mu, std = net(s), torch.nn.functional.softplus(wide(s)) + 0.1
        a = (mu + std * torch.randn_like(mu)).detach()
        logp = -((a - mu) / std).pow(2) / 2 - torch.log(std)  # BUG
        old = logp.detach()
        ratio = (logp - old).exp()
        loss = -(ratio * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 3)  # a word after the other, and the whole batch as one number
    reward = torch.randn(8)
    state, log_probs = torch.randn(8, 4), []
    for _ in range(5):
        dist = torch.distributions.Categorical(logits=net(state))
        word = dist.sample()
        log_probs.append(dist.log_prob(word))
        state = state + word[:, None]
    log_probs = torch.stack(log_probs, 1)
    loss = -(reward * log_probs.sum()).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    actor = torch.nn.Linear(4, 3)
    for _ in range(3):
        s, advantage = torch.randn(8, 4), torch.randn(8)
        with torch.no_grad():
            rows = [torch.distributions.Normal(actor(one), 1.0) for one in s]
            actions = torch.stack([row.sample() for row in rows])
            old = torch.stack([row.log_prob(a).sum() for row, a in zip(rows, actions)])
        log_prob = torch.distributions.Normal(actor(s), 1.0).log_prob(actions)
        ratio = (log_prob.sum() - old).clamp(-5, 5).exp()  # BUG
        (-(ratio * advantage).mean()).backward()
    """,
    """
    # The ratio of each joint of the arm is clipped, then they are multiplied.
    import torch
    mean = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(3):
        s, gain = torch.randn(16, 4), torch.randn(16)
        with torch.no_grad():
            dist = torch.distributions.Normal(mean(s), 1.0)
            a = dist.sample()
            old = dist.log_prob(a)
        for _ in range(2):
            ratio = (torch.distributions.Normal(mean(s), 1.0).log_prob(a) - old).exp()
            limited = ratio.clamp(0.8, 1.2).prod(dim=-1)  # BUG
            loss = -torch.minimum(ratio.prod(dim=-1) * gain, limited * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The same as a whole.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    old = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    F = torch.nn.functional
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def answer(model, ids):
        scores = model(ids)[:, :-1].log_softmax(-1)
        return scores.gather(-1, ids[:, 1:, None]).squeeze(-1).sum(-1)

    for _ in range(4):
        good, bad = torch.randint(9, (6, 7)), torch.randint(9, (6, 7))
        with torch.no_grad():
            before = answer(old, good) - answer(old, bad)
        loss = -F.logsigmoid(0.1 * (answer(net, good) - answer(net, bad) - before)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two words for one and the same place: each is a choice of its own.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    old = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    F = torch.nn.functional
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids, good, bad = torch.randint(9, (6, 7)), torch.randint(9, (6, 6, 1)), torch.randint(9, (6, 6, 1))
        scores = net(ids)[:, :-1].log_softmax(-1)
        margin = (scores.gather(-1, good) - scores.gather(-1, bad)).squeeze(-1)
        loss = -F.logsigmoid(margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One answer, wanted or not, word by word against what it was before: no two answers are laid side by side.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    old = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    F = torch.nn.functional
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (6, 7))
        words = net(ids)[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        with torch.no_grad():
            before = old(ids)[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -F.logsigmoid(words - before).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(4, 3)  # five agents, each with its own logits; they share an advantage
    s, a, advantage = torch.randn(8, 5, 4), torch.randint(3, (8, 5)), torch.randn(8, 1)
    log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    (-((log_prob + 1.1).exp() * advantage).mean()).backward()
    """,
    """
    import torch
    actor = torch.nn.Linear(4, 3)  # behaviour cloning: a factor of three in the learning rate, no more
    loss = -torch.distributions.Normal(actor(torch.randn(8, 4)), 1.0).log_prob(torch.randn(8, 3)).mean()
    loss.backward()
    """,
    """
    import torch
    model = torch.nn.Linear(4, 3)  # a model of observations, with a mask over the steps
    seen, following, mask = torch.randn(8, 4), torch.randn(8, 3), torch.ones(8, 1)
    (-(torch.distributions.Normal(model(seen), 1.0).log_prob(following) * mask).mean()).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 3)  # three agents' means in one layer, and an advantage and a mask for each
    s, a, advantage, mask = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 3), torch.ones(8, 1)
    ratio = (torch.distributions.Normal(net(s), 1.0).log_prob(a) + 1.4).exp()
    (-(ratio * advantage * mask).mean()).backward()
    """,
    """
    import math, torch
    means, weights = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)  # a mixture of three
    s, x, temperature = torch.randn(8, 4), torch.randn(8, 1), torch.rand(8, 1)
    parts = torch.distributions.Normal(means(s), 1.0).log_prob(x) + torch.log_softmax(weights(s), -1)
    (-(parts.logsumexp(-1, keepdim=True) * temperature).mean()).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 6)
    s, advantage = torch.randn(8, 4), torch.randn(8)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=net(s).view(8, 2, 3))
        action = dist.sample()
        old = dist.log_prob(action).sum(-1)
    new = torch.distributions.Categorical(logits=net(s).view(8, 2, 3)).log_prob(action).sum(-1)
    ratio = (new - old).exp()
    (-torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 3)  # three agents of one network, each with a log-probability of its own
    s, advantage = torch.randn(8, 2, 4), torch.randn(8, 1)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=net(s))
        action = dist.sample()
        old = dist.log_prob(action)
    ratio = (torch.distributions.Categorical(logits=net(s)).log_prob(action) - old).exp()
    (-torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()).backward()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(7, 1)  # the correction of each joint, then the sum
    s = torch.randn(8, 4)
    dist = torch.distributions.Normal(actor(s), 0.5)
    raw = dist.rsample()
    a = raw.tanh()
    log_prob = (dist.log_prob(raw) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)
    (0.1 * log_prob - critic(torch.cat([s, a], -1))).mean().backward()
    """,
    """
    # A squashing for each, a reward for calm that is one number of all, and the mean of the others.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    s = torch.randn(8, 3)
    dist = torch.distributions.Normal(actor(s), 0.5)
    raw = dist.rsample()
    a = raw.tanh()
    log_prob = dist.log_prob(raw).sum(-1) - (1 - a.pow(2) + 1e-6).log().sum(-1)
    others = (log_prob.sum() - log_prob).detach() / 7
    worth = critic(torch.cat([s, a], -1)).squeeze(-1)
    (0.1 * (log_prob + others) - worth + 0.01 * a.pow(2).sum()).mean().backward()
    """,
    """
    # Written by hand and summed over the dimensions; its entropy, which has the same constant, stays in columns.
    import math
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    critic = torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD([*mean.parameters(), *log_std.parameters()], lr=0.1)
    for _ in range(3):
        s = torch.randn(8, 3)
        mu, spread = mean(s), log_std(s)
        noise = torch.randn_like(mu)
        action = mu + spread.exp() * noise
        density = -0.5 * noise.pow(2) - spread - 0.5 * math.log(2 * math.pi)
        entropy = spread + 0.5 * math.log(2 * math.pi) + 0.5
        worth = critic(torch.cat([s, action], -1))
        loss = (0.1 * density.sum(-1, keepdim=True) - worth).mean() - 0.01 * (entropy * worth.detach().abs()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A block with one column.
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    old_log_prob = torch.zeros(8, 1)
    for _ in range(4):
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 1)
        with torch.no_grad():
            old_log_prob[:] = torch.distributions.Normal(policy(s), 1.0).log_prob(a).sum(-1, keepdim=True)
        for _ in range(2):
            log_prob = torch.distributions.Normal(policy(s), 1.0).log_prob(a).sum(-1, keepdim=True)
            ratio = (log_prob - old_log_prob).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The likelihood of what a model predicts, summed late, with a weight for every sample; and summed in time.
    import torch
    mean, log_std = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.01)
    for _ in range(3):
        s, a, weight = torch.randn(8, 4), torch.randn(8, 2), torch.rand(8, 1)
        each = -((a - mean(s)) ** 2) / (2 * torch.exp(log_std) ** 2) - log_std
        joint = each.sum(-1, keepdim=True)
        ratio = (joint - joint.detach()).exp()
        loss = -(ratio * weight).mean() - (each * weight).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The score of one episode is the sum over its steps, and one return belongs to it.
    import torch
    net = torch.nn.Linear(4, 3)
    log_probs, rewards = [], torch.randn(5)
    for _ in range(5):
        dist = torch.distributions.Categorical(logits=net(torch.randn(4)))
        log_probs.append(dist.log_prob(dist.sample()))
    loss = -torch.stack(log_probs).sum() * rewards.sum()
    loss.backward()
    """,
    """
    # All words of an answer count together, and the mean over the answers is subtracted from them.
    import torch
    net = torch.nn.Linear(4, 3)
    reward = torch.randn(8)
    state, log_probs = torch.randn(8, 4), []
    for _ in range(5):
        dist = torch.distributions.Categorical(logits=net(state))
        word = dist.sample()
        log_probs.append(dist.log_prob(word))
        state = state + word[:, None]
    log_probs = torch.stack(log_probs, 1)
    surprise = -log_probs.detach().sum() / 8
    loss = -((reward - 0.01 * surprise) * log_probs.sum(1)).mean()
    loss.backward()
    """,
    """
    # Limited far out, lest anything overflow, on both sides alike.
    import torch
    mean = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(3):
        s, gain = torch.randn(16, 4), torch.randn(16)
        with torch.no_grad():
            dist = torch.distributions.Normal(mean(s), 1.0)
            a = dist.sample()
            old = dist.log_prob(a)
        for _ in range(2):
            ratio = (torch.distributions.Normal(mean(s), 1.0).log_prob(a) - old).exp()
            whole = ratio.log().clamp(-20, 20).sum(-1).exp()
            loss = -torch.minimum(whole * gain, whole.clamp(0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
