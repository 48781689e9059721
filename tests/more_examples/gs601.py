"""More examples of GS601 (broadcast-loss): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Summed as a whole: every return meets every log-probability.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, returns = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        log_p = policy(s).log_softmax(-1).gather(1, a).squeeze(1)
        loss = -1 * torch.sum(returns.unsqueeze(-1) * log_p)  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Importance weights of a prioritised replay, after the loss has averaged.
    import torch
    q = torch.nn.Linear(3, 2)
    s, a, y, weights = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1), torch.rand(8, 1)
    loss = (weights * torch.nn.functional.mse_loss(q(s).gather(1, a), y)).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(3, 2)
    s, a, y, weights = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.rand(8)
    error = q(s).gather(1, a).squeeze(1) - y
    td = error.pow(2).mean()
    loss = torch.mean(td * weights)  # BUG
    loss.backward()
    """,
    """
    import torch
    q, q_old = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    s, s2, reward = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
    with torch.no_grad():
        target = reward + 0.9 * q_old(s2).max(1, keepdim=True)[0]
    loss = (q(s) - target).pow(2).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 5)
    predicted, target, levels = net(torch.randn(8, 3)), torch.randn(8, 5), torch.linspace(0.1, 0.9, 5)
    error = target.unsqueeze(1) - predicted.unsqueeze(2)
    weight = (levels - (error.detach() < 0).float()).abs()  # BUG
    (weight * error.abs()).sum(2).mean().backward()
    """,
    """
    import torch
    head = torch.nn.Linear(4, 9)
    hidden, tokens, reward = torch.randn(6, 6, 4), torch.randint(9, (6, 6)), torch.randn(6)
    mask = torch.ones(6, 6).tril()
    log_prob = torch.distributions.Categorical(logits=head(hidden)).log_prob(tokens) * mask
    weight = reward / mask.sum(1)
    (-(log_prob * weight).sum(1).mean()).backward()  # BUG
    """,
    """
    import torch
    policy, critic = torch.nn.Linear(4, 9), torch.nn.Linear(4, 1)
    steps, tokens, reward = torch.randn(6, 6, 4), torch.randint(9, (6, 6)), torch.randn(6)
    advantage = reward - critic(steps[:, 0]).squeeze(-1).detach()
    log_prob = torch.distributions.Categorical(logits=policy(steps)).log_prob(tokens)
    (-(log_prob * advantage).mean()).backward()  # BUG
    """,
    """
    import torch
    net, old = torch.nn.Linear(3, 8), torch.nn.Linear(3, 8)  # eight quantiles, a batch of eight
    states, rewards = torch.randn(50, 3), torch.randn(50)
    batch = torch.randint(50, (8,))
    with torch.no_grad():
        goal = rewards[batch] + 0.9 * old(states[batch])  # BUG
    error = goal.unsqueeze(1) - net(states[batch]).unsqueeze(2)
    error.abs().mean().backward()
    """,
    """
    import torch
    q = torch.nn.Linear(3, 1)
    prediction, target = q(torch.randn(8, 3)), torch.randn(8, 1)
    loss = torch.nn.functional.mse_loss(prediction, target.unsqueeze(-1))  # BUG
    loss.backward()
    """,
    """
    import torch
    v = torch.nn.Linear(3, 1)
    value, returns = v(torch.randn(8, 3)).squeeze(-1), torch.randn(8)
    loss = 0.5 * (returns.unsqueeze(-1) - value).pow(2).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    pi = torch.nn.Linear(3, 2)
    s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    log_prob = torch.distributions.Categorical(logits=pi(s)).log_prob(a)
    loss = -(log_prob.unsqueeze(-1) * advantage).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(3, 2)
    s, a, target = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    chosen = q(s)[:, a]  # BUG
    loss = torch.nn.functional.smooth_l1_loss(chosen, target)
    loss.backward()
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    chunk, reward, going = torch.randn(7, 6, 3), torch.randn(6, 6), torch.ones(6, 6)
    values = critic(chunk)
    with torch.no_grad():
        target = reward.unsqueeze(-1) + going * values[1:]  # BUG
    (values[:-1] - target).pow(2).mean().backward()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, adv = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        loss = -torch.min(ratio * adv.unsqueeze(-1), ratio.clamp(0.8, 1.2) * adv).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # How long each answer is, as a column of whole numbers.
    import torch
    model = torch.nn.Linear(4, 6)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        lengths, reward = torch.randint(1, 6, (8, 1)), torch.randn(8)
        score = model(torch.randn(8, 4)).mul(torch.arange(6) < lengths).sum(-1)
        loss = -(score / lengths * reward).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Everybody's order on everybody's points.
    import torch
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        points = torch.rand(8, 5, 2)
        dist = torch.distributions.Categorical(logits=net(points).squeeze(-1))
        order = torch.stack([dist.sample() for _ in range(3)], 1)
        log_prob = torch.stack([dist.log_prob(order[:, i]) for i in range(3)], 1).sum(1)
        path = points[:, order]  # BUG
        length = (path[:, :, 1:] - path[:, :, :-1]).norm(dim=-1).sum(-1)
        loss = ((length - length.mean()) * log_prob).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # `log_prob` of a column: the actions of the whole batch, in every row.
    import torch
    pi = torch.nn.Linear(3, 2)
    s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
    dist = torch.distributions.Categorical(logits=pi(s))
    log_prob = dist.log_prob(a)  # BUG
    loss = -(log_prob * advantage).mean() - 0.01 * dist.entropy().mean()
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(3):
        s, a, target = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16)
        chosen = q(s)[:, a]  # BUG
        loss = torch.nn.functional.smooth_l1_loss(chosen, target[None].expand_as(chosen))
        opt.zero_grad()
        loss.backward()
        opt.step()
    # Two live values that meet row by row in one term, and all with all in the other.
    import torch
    judge = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    chosen, rejected = judge(torch.randn(8, 3)).squeeze(1), judge(torch.randn(8, 3)).squeeze(1)
    loss = -torch.nn.functional.logsigmoid(chosen - rejected).mean()
    loss = loss + 0.01 * (chosen + rejected.unsqueeze(-1)).pow(2).mean()  # BUG
    loss.backward()
    opt.step()
    """,
    """
    # A clipped value loss whose clipped side pairs every row with every other.
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.1)
    value, old, returns = v(torch.randn(8, 3)).squeeze(-1), torch.randn(8), torch.randn(8)
    clipped = old + (value - old).clamp(-0.2, 0.2)
    loss = torch.max((value - returns) ** 2, (clipped.unsqueeze(-1) - returns) ** 2).mean()  # BUG
    loss.backward()
    opt.step()
    """,
    """
    # What an ensemble says `[E, B]` becomes `[E, B, 1]`, against one target for each row.
    import torch
    heads = torch.nn.ModuleList(torch.nn.Linear(3, 1) for _ in range(2))
    opt = torch.optim.SGD(heads.parameters(), lr=0.1)
    s, target = torch.randn(8, 3), torch.randn(8)
    said = torch.stack([head(s).squeeze(-1) for head in heads])
    loss = (said.unsqueeze(-1) - target).pow(2).mean()  # BUG
    loss.backward()
    opt.step()
    """,
    """
    # The weight of a score, put together on the line of the loss: everybody's score against everybody's value.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    s, a = torch.randn(8, 3), torch.randint(4, (8, 1))
    score, value = policy(s).log_softmax(-1).gather(1, a), critic(s)
    loss = (score * (score.unsqueeze(-1) - value).detach()).mean()  # BUG
    loss.backward()
    opt.step()
    """,
    """
    # The targets are written into a copy of the table, in the columns that the whole batch has chosen.
    import torch
    q = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    s, actions, targets = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    predicted = q(s)
    table = predicted.detach().clone()
    table[:, actions] = targets.unsqueeze(1)  # BUG
    loss = (predicted - table).pow(2).mean()
    loss.backward()
    opt.step()
    """,
    """
    # As many answers as tokens: the mean of each answer is laid along the tokens.
    import torch
    net = torch.nn.Linear(3, 6)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        s, rewards = torch.randn(6, 3), torch.randn(6, 6)
        mask = (torch.arange(6) < torch.randint(2, 7, (6, 1))).float()
        centre = (rewards * mask).sum(1) / mask.sum(1)
        gain = rewards - centre  # BUG
        loss = -(net(s).log_softmax(-1) * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of the two ways out of a function, one keeps its column.
    import copy
    import torch
    class Agent:
        def __init__(self, double=True):
            self.q = torch.nn.Linear(4, 3)
            self.slow, self.double = copy.deepcopy(self.q), double
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.01)
        def following(self, s2):
            with torch.no_grad():
                if self.double:
                    best = self.q(s2).argmax(1, keepdim=True)
                    return self.slow(s2).gather(1, best)  # BUG
                return self.slow(s2).max(1).values
        def update(self, s, a, r, s2):
            goal = r + 0.9 * self.following(s2)
            loss = (self.q(s).gather(1, a).squeeze(1) - goal).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.slow.load_state_dict(self.q.state_dict())
    agent = Agent()
    for _ in range(4):
        agent.update(torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8), torch.randn(8, 4))
    """,
    """
    import torch
    pi = torch.nn.Linear(3, 2)
    s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    log_prob = pi(s).log_softmax(-1)[:, a][:, 0]  # BUG
    loss = -(log_prob * advantage).mean()
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(3, 2)
    s, a = torch.randn(8, 3), torch.randint(2, (8, 1))
    loss = (q(s).gather(1, a) - s[:, :1] * (a.squeeze(-1) - 1)).pow(2).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    pi = torch.nn.Linear(3, 4)
    s, words = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
    advantage = torch.randn(6, 5).sum(1, keepdim=True)
    log_prob = pi(s).log_softmax(-1).gather(-1, words[..., None]).squeeze(-1)
    loss = -(log_prob * advantage[:, None]).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    pi = torch.nn.Linear(3, 4)
    s, words = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
    advantage = torch.randn(6, 5).mean(1, keepdim=True)

    def score():
        return pi(s).log_softmax(-1).gather(-1, words[..., None]).squeeze(-1)

    ratio = (score() - score().detach()).exp()
    weighted = torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None])  # BUG
    (-weighted.mean()).backward()
    """,
    """
    # As many answers as words in each: what the answers earned is told by the words that are scored.
    import torch
    from torch.nn.functional import one_hot
    class Writer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = torch.nn.GRU(5, 8, batch_first=True), torch.nn.Linear(8, 5)
        def forward(self, words):
            return self.out(self.rnn(one_hot(words, 5).float())[0])
    writer = Writer()
    opt = torch.optim.SGD(writer.parameters(), lr=0.1)
    for _ in range(3):
        words = torch.randint(5, (6, 7))
        reward = (words[:, 1:] != words[:, :-1]).float().mean(1)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
        scores = writer(words[:, :-1]).log_softmax(-1).gather(2, words[:, 1:, None]).squeeze(2)
        loss = -(scores * advantage).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same behind groups of answers.
    import torch
    words_in, out = torch.nn.Embedding(5, 8), torch.nn.Linear(8, 5)
    opt = torch.optim.SGD([*words_in.parameters(), *out.parameters()], lr=0.1)
    for _ in range(3):
        prompt = torch.randint(5, (2, 1)).repeat_interleave(3, 0)
        answer = torch.randint(5, (6, 6))
        reward = (answer == prompt).float().sum(-1)
        groups = reward.view(2, 3)
        centred = groups - groups.mean(1, keepdim=True)
        advantage = (centred / (groups.std(1, keepdim=True) + 1e-4)).reshape(-1)
        seen = torch.cat([prompt, answer[:, :-1]], 1)
        log_prob = torch.distributions.Categorical(logits=out(words_in(seen).tanh())).log_prob(answer)
        ratio = (log_prob - log_prob.detach()).exp()
        loss = -(ratio * advantage).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The returns of as many walks as there are steps in each, asked of where they went.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        seen, taken = torch.randn(5, 5, 3), torch.randint(2, (5, 5))
        right = (taken != 0).sum(1) / 5.0
        dist = torch.distributions.Categorical(logits=policy(seen))
        loss = -(dist.log_prob(taken) * (right - right.mean())).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    q = torch.nn.Linear(3, 2)
    s, a, y, weights = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1), torch.rand(8, 1)
    loss = (weights * torch.nn.functional.mse_loss(q(s).gather(1, a), y, reduction="none")).mean()
    loss.backward()
    """,
    """
    # One coefficient for each of four heads, whose losses were averaged over the batch.
    import torch
    net, coefficients = torch.nn.Linear(3, 4), torch.tensor([1.0, 0.5, 0.2, 0.1])
    loss = ((net(torch.randn(8, 3)) - 1.0).pow(2).mean(0) * coefficients).sum()
    loss.backward()
    """,
    """
    # The scores of one episode, weighed with what all of it brought.
    import torch
    policy = torch.nn.Linear(3, 2)
    s, a, rewards = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
    log_prob = policy(s).log_softmax(-1).gather(1, a).squeeze(1).sum()
    loss = -(log_prob * rewards).sum()
    loss.backward()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 5)
    predicted, target, levels = net(torch.randn(8, 3)), torch.randn(8, 5), torch.linspace(0.1, 0.9, 5)
    error = target.unsqueeze(1) - predicted.unsqueeze(2)
    weight = (levels.view(1, 5, 1) - (error.detach() < 0).float()).abs()
    (weight * error.abs()).sum(2).mean().backward()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 5)
    predicted, target, levels = net(torch.randn(8, 3)), torch.randn(8, 5), torch.linspace(0.1, 0.9, 5)
    error = target.t().unsqueeze(-1) - predicted
    weight = torch.where(error < 0, 1 - levels, levels)
    (weight * error.abs()).mean().backward()
    """,
    """
    import torch
    heads, old = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)  # two critics in one layer, one target for both
    s, s2, reward = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
    with torch.no_grad():
        target = reward + 0.9 * old(s2).min(1, keepdim=True)[0]
    (heads(s) - target).pow(2).mean().backward()
    """,
    """
    import torch
    policy, critic = torch.nn.Linear(4, 9), torch.nn.Linear(4, 1)
    steps, tokens, reward = torch.randn(6, 6, 4), torch.randint(9, (6, 6)), torch.randn(6)
    advantage = reward - critic(steps[:, 0]).squeeze(-1).detach()
    discount = torch.linspace(0.5, 1.0, 6)  # along the steps, on purpose
    log_prob = torch.distributions.Categorical(logits=policy(steps)).log_prob(tokens)
    (-(log_prob * advantage[:, None] * discount).mean()).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(4, 1)  # steps by environments: a bias for each environment, then the mean of the steps
    x = net(torch.randn(6, 6, 4)).squeeze(-1)
    centred = x - x.mean(0)
    ((centred * x.std(0)).sum(0) - centred[0].detach()).pow(2).mean().backward()
    """,
    """
    import torch
    net, old = torch.nn.Linear(3, 8), torch.nn.Linear(3, 8)
    states, rewards, cost = torch.randn(50, 3), torch.randn(50), torch.linspace(0, 1, 8)
    batch = torch.randint(50, (8,))
    with torch.no_grad():
        goal = rewards[batch].unsqueeze(1) + 0.9 * old(states[batch]) - cost  # one of each unit, on purpose
    error = goal.unsqueeze(1) - net(states[batch]).unsqueeze(2)
    error.abs().mean().backward()
    """,
    """
    # A sum of pairs, averaged over all of them, is the sum of both means: costly, not wrong.
    import torch
    net = torch.nn.Linear(4, 1)
    first, second = net(torch.randn(8, 4)), net(torch.randn(8, 4)).squeeze(-1)
    loss = -first.tanh() + 0.5 * second.pow(2)  # gradsan: allow broadcast-loss
    loss.mean().backward()
    """,
    """
    # As many columns as rows, chosen on purpose: each is compared with a row of its own.
    import torch
    net = torch.nn.Linear(3, 16)
    order, target = torch.randperm(8), torch.randn(8, 8)
    (net(torch.randn(8, 3))[:, order] - target).pow(2).mean().backward()
    """,
    """
    # An energy distance of samples and data; and every step weighed with all rewards that follow.
    import torch
    net, pi = torch.nn.Linear(3, 1), torch.nn.Linear(3, 2)
    x, y = net(torch.randn(8, 3)).squeeze(1), torch.randn(8)
    energy = 2 * (x[:, None] - y).abs().mean() - (x[:, None] - x).abs().mean()
    s, a, rewards = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    log_prob = torch.distributions.Categorical(logits=pi(s)).log_prob(a)
    follows = torch.ones(8, 8).triu()
    (energy - (log_prob[:, None] * rewards * follows).mean()).backward()
    """,
    """
    # Each answer by its own length, each order on its own points; and the same few points for all.
    import torch
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        points, lengths = torch.rand(8, 5, 2), torch.randint(1, 6, (8, 1))
        dist = torch.distributions.Categorical(logits=net(points).squeeze(-1))
        order = torch.stack([dist.sample() for _ in range(3)], 1)
        log_prob = torch.stack([dist.log_prob(order[:, i]) for i in range(3)], 1).sum(1) / lengths.squeeze(1)
        path = points.gather(1, order.unsqueeze(-1).expand(-1, -1, 2))
        length = (path[:, 1:] - path[:, :-1]).norm(dim=-1).sum(-1)
        corner = net(points[:, torch.tensor([0, 1, 2, 3, 4, 0, 1, 2])]).squeeze(-1).mean(0)
        loss = ((length - length.mean()) * log_prob).mean() + (corner - length).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Every action of every row, and every answer of the batch to every question: axes that are told apart.
    import torch
    pi = torch.nn.Linear(3, 4)
    s, a, q = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(4, 8)
    dist = torch.distributions.Categorical(logits=pi(s))
    expected = (dist.log_prob(torch.arange(4)[:, None]) * q).sum(0).mean()
    others = dist.log_prob(a[:, None])
    contrast = (others.diagonal() - others.logsumexp(0)).mean()
    (expected - contrast - dist.log_prob(a).mean()).backward()
    """,
    """
    # Every answer against every other, beside the pairs that belong together: a ranking is meant.
    import torch
    judge = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    chosen, rejected = judge(torch.randn(8, 3)).squeeze(1), judge(torch.randn(8, 3)).squeeze(1)
    loss = (chosen - rejected - 1.0).pow(2).mean()
    loss = loss - torch.nn.functional.logsigmoid(chosen.unsqueeze(-1) - rejected).mean()
    loss.backward()
    opt.step()
    """,
    """
    # Atoms against their support: each pair weighs what it should, and the axes are told apart.
    import torch
    net = torch.nn.Linear(3, 5)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    support = torch.linspace(-1.0, 1.0, 5)
    wanted = (torch.randn(8, 1) + 0.9 * support).clamp(-1.0, 1.0)
    near = (1 - (wanted.unsqueeze(-1) - support).abs() / 0.5).clamp(min=0.0)
    with torch.no_grad():
        projected = (torch.rand(8, 5, 1) * near).sum(1)
    loss = -(projected * net(torch.randn(8, 3)).log_softmax(-1)).sum(-1).mean()
    loss.backward()
    opt.step()
    """,
    """
    # Quantiles of several critics against all quantiles of the target, with a level for each.
    import torch
    heads = torch.nn.ModuleList(torch.nn.Linear(3, 5) for _ in range(2))
    opt = torch.optim.SGD(heads.parameters(), lr=0.1)
    s, target, level = torch.randn(5, 3), torch.randn(5), torch.linspace(0.1, 0.9, 5)
    error = torch.stack([head(s) for head in heads]).unsqueeze(-1) - target
    loss = ((level[:, None] - (error.detach() > 0).float()).abs() * error.pow(2)).sum(2).mean()
    loss.backward()
    opt.step()
    """,
    """
    # One place in each row; whole rows, again and again; and a few columns of all rows.
    import torch
    q = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    s, actions, targets = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    predicted = q(s)
    table = predicted.detach().clone()
    table[torch.randint(8, (8,))] = targets.unsqueeze(1)
    table[:, torch.tensor([0, 3])] = targets.unsqueeze(1)
    table[torch.arange(8), actions] = targets
    loss = (predicted - table).pow(2).mean()
    loss.backward()
    opt.step()
    """,
    """
    # As many answers as tokens: the mean of each answer stays a column.
    import torch
    net = torch.nn.Linear(3, 6)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        s, rewards = torch.randn(6, 3), torch.randn(6, 6)
        mask = (torch.arange(6) < torch.randint(2, 7, (6, 1))).float()
        centre = (rewards * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
        gain = rewards - centre
        loss = -(net(s).log_softmax(-1) * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # In a kernel every row is a column, too: it is centred both ways.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        s, r = torch.randn(6, 3), torch.randn(6, 1)
        kernel = (s @ s.T).exp()
        centred = kernel - kernel.mean(1) - kernel.mean(0)[:, None] + kernel.mean()
        error = net(s) - r
        loss = (error * (centred @ error)).mean() + error.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Each return against all of them: that is the mean as a baseline.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    s, a, returns = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8)
    score = policy(s).log_softmax(-1).gather(1, a)
    loss = -(score * (returns.unsqueeze(-1) - returns)).mean()
    loss.backward()
    opt.step()
    """,
    """
    # Both ways out give what is flat.
    import copy
    import torch
    class Agent:
        def __init__(self, double=True):
            self.q = torch.nn.Linear(4, 3)
            self.slow, self.double = copy.deepcopy(self.q), double
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.01)
        def following(self, s2):
            with torch.no_grad():
                if self.double:
                    best = self.q(s2).argmax(1, keepdim=True)
                    return self.slow(s2).gather(1, best).squeeze(1)
                return self.slow(s2).max(1).values
        def update(self, s, a, r, s2):
            goal = r + 0.9 * self.following(s2)
            loss = (self.q(s).gather(1, a).squeeze(1) - goal).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.slow.load_state_dict(self.q.state_dict())
    agent = Agent()
    for _ in range(4):
        agent.update(torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8), torch.randn(8, 4))
    """,
    """
    # The first of the columns that were asked for, for every row.
    import torch
    pi = torch.nn.Linear(3, 4)
    s, order, advantage = torch.randn(8, 3), torch.tensor([2, 0, 1]), torch.randn(8)
    log_prob = pi(s).log_softmax(-1)[:, order][:, 0]
    loss = -(log_prob * advantage).mean()
    loss.backward()
    """,
    """
    import torch
    pi = torch.nn.Linear(3, 4)
    s, words = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
    advantage = torch.randn(6, 5).sum(1, keepdim=True)
    log_prob = pi(s).log_softmax(-1).gather(-1, words[..., None])
    loss = -(log_prob * advantage[:, None]).mean()
    loss.backward()
    """,
    """
    # Every weight for every row, told apart afterwards.
    import torch
    pi = torch.nn.Linear(3, 4)
    s, words = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
    weights = torch.rand(6, 1, 1)
    log_prob = pi(s).log_softmax(-1).gather(-1, words[..., None]).squeeze(-1)
    loss = -(log_prob * weights).mean((1, 2)).max()
    loss.backward()
    """,
    """
    # A weight for each word; each answer's for its sum; and words that stand in rows by right.
    import torch
    words_in, out = torch.nn.Embedding(5, 8), torch.nn.Linear(8, 5)
    opt = torch.optim.SGD([*words_in.parameters(), *out.parameters()], lr=0.1)
    for i in range(4):
        answer = torch.randint(5, (6, 7))
        hits = (answer[:, 1:] == answer[:, :-1]).float()
        per_place = hits.mean(0)  # belongs to the words
        reward = hits.mean(1)
        scores = out(words_in(answer[:, :-1]).tanh()).log_softmax(-1).gather(2, answer[:, 1:, None]).squeeze(2)
        by_word = (scores * (hits - per_place)).mean() + (scores * per_place * 0.9 ** torch.arange(6)).mean()
        loss = -by_word - (scores.sum(1) * reward).mean() - (scores.t() * reward).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A model of where each state leads: its columns are the states, as its rows are.
    import torch
    model, value = torch.nn.Linear(4, 6), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*model.parameters(), *value.parameters()], lr=0.1)
    states, reward = torch.randn(6, 4), torch.randn(6)
    for _ in range(5):
        v = value(states).squeeze(1)
        leads_to = model(states).softmax(-1)
        after = (leads_to * v.detach()).sum(1)
        fit = (v - (reward + 0.9 * after).detach()).pow(2).mean()
        loss = fit + (after - reward).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Successor features by state: how often each state is met after each, and what it pays there.
    import torch
    states, reward = torch.randn(5, 3), torch.rand(5)
    visits, value = torch.nn.Linear(3, 5), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*visits.parameters(), *value.parameters()], lr=0.05)
    for _ in range(5):
        v = value(states)[:, 0]
        error = v - reward - 0.5 * v.detach()
        worth = (torch.nn.functional.softplus(visits(states)) * reward).sum(-1)
        loss = (worth - v.detach()).square().mean() + error.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
