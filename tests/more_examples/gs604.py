"""More examples of GS604 (wrong-axis): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The values of a distributional critic for three actions; the softmax runs from state to state.
    import copy
    import torch
    ACTIONS, ATOMS = 3, 5
    head = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, ACTIONS * ATOMS))
    old = copy.deepcopy(head)
    opt = torch.optim.Adam(head.parameters(), lr=1e-3)
    support = torch.linspace(0.0, 4.0, ATOMS)
    for step in range(6):
        obs, after, action = torch.randn(8, 4), torch.randn(8, 4), torch.randint(ACTIONS, (8,))
        with torch.no_grad():
            shares = old(after).reshape(8, ACTIONS, ATOMS).softmax(0)  # BUG
            greedy = (shares * support).sum(dim=2).argmax(dim=1)
            goal = shares[torch.arange(8), greedy]
        said = head(obs).reshape(8, ACTIONS, ATOMS).log_softmax(-1)[torch.arange(8), action]
        opt.zero_grad()
        (-(goal * said).sum(1).mean()).backward()
        opt.step()
        if step == 2:
            old.load_state_dict(head.state_dict())
    """,
    """
    # Probabilities of words, [answers, words, vocabulary], without a word about the axis.
    import torch
    embed, out = torch.nn.Embedding(6, 8), torch.nn.Linear(8, 6)
    opt = torch.optim.SGD([*embed.parameters(), *out.parameters()], lr=0.1)
    for _ in range(5):
        tokens, gains = torch.randint(6, (4, 7)), torch.randn(4, 1)
        probs = torch.nn.Softmax(dim=0)(out(torch.tanh(embed(tokens[:, :-1]))))  # BUG
        taken = probs.gather(2, tokens[:, 1:, None]).squeeze(-1)
        loss = -(taken.clamp(min=1e-6).log() * gains).mean()  # gradsan: allow unstable-log-prob
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The choices of several agents in several states.
    import torch
    policy = torch.nn.Linear(5, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        probs = torch.softmax(policy(torch.randn(8, 3, 5)), dim=0)  # BUG
        dist = torch.distributions.Categorical(probs=probs)
        loss = -(dist.log_prob(dist.sample()) * torch.randn(8, 3)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A log-softmax by hand.
    import torch
    policy = torch.nn.Linear(3, 5)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, advantage = torch.randn(6, 4, 3), torch.randint(5, (6, 4)), torch.randn(6, 4)
        logits = policy(s)
        normalised = logits - logits.logsumexp(0, keepdim=True)  # BUG
        log_p = normalised.gather(-1, a.unsqueeze(-1)).squeeze(-1)
        loss = -(log_p * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The values that this smooths over are those that each row has chosen one of.
    import torch
    q = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, a, goal = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        values = q(s)
        taken = values[torch.arange(8), a]
        penalty = torch.logsumexp(values, 0).mean() - taken.mean()  # BUG
        loss = (taken - goal).pow(2).mean() + 0.5 * penalty
        opt.zero_grad()
        loss.backward()
        opt.step()
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
    """
    # Each answer is to be compared with the mean of the others to its prompt, and `repeat` lays them out in turn.
    import torch
    model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
    opt, k = torch.optim.SGD(model.parameters(), lr=0.1), 4
    for _ in range(4):
        tokens = torch.randint(7, (3, 5)).repeat(k, 1)
        answer = torch.distributions.Categorical(logits=model(tokens)[:, -1])
        token = answer.sample()
        rewards = (token == tokens[:, 0]).float().reshape(3, k)  # BUG
        advantage = rewards - (rewards.sum(1, keepdim=True) - rewards) / (k - 1)
        loss = -(answer.log_prob(token) * advantage.flatten()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Weights of attention that add up to one over those who ask, and are summed over what is attended to.
    import torch
    q, k, v = (torch.nn.Linear(6, 8) for _ in range(3))
    head = torch.nn.Linear(8, 1)
    parts = [*q.parameters(), *k.parameters(), *v.parameters(), *head.parameters()]
    opt = torch.optim.Adam(parts, lr=1e-3)
    for _ in range(5):
        x = torch.randn(16, 5, 6)
        weights = (q(x) @ k(x).transpose(1, 2)).softmax(dim=1)  # BUG
        loss = (head((weights @ v(x)).amax(1)) - x[:, 0, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As many queries as keys: along the samples of the batch.
    import torch
    q, k, v, head = torch.nn.Linear(6, 8), torch.nn.Linear(6, 8), torch.nn.Linear(6, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.Adam([p for net in (q, k, v, head) for p in net.parameters()], lr=1e-3)
    for _ in range(5):
        x = torch.randn(16, 5, 6)
        weights = torch.softmax(q(x) @ k(x).transpose(1, 2), dim=0)  # BUG
        mixed = torch.nn.functional.dropout(weights, 0.1) @ v(x)
        loss = (head(mixed.mean(1)) - x[:, 0, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Groups of five in a row, of prompts that come in turn; the rewards stay flat.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        rows = torch.randint(9, (4, 3)).repeat(5, 1)
        logp = net(rows).log_softmax(-1).gather(-1, rows[..., None]).squeeze(-1)
        reward = (rows * torch.rand(20, 3)).mean(1)
        gain = reward - reward.view(4, 5).mean(1).repeat_interleave(5)  # BUG
        loss = -(logp * gain[:, None]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The mean of one group is subtracted from rows of others.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(15, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward = torch.randn(15)
        groups = reward.view(5, 3)
        gain = reward - groups.mean(1).repeat(3)  # BUG
        loss = -(dist.log_prob(a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Group by group, of means that were taken across.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(15, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward = torch.randn(15)
        groups = reward.view(3, 5)
        gain = reward - groups.mean(0).repeat_interleave(3)  # BUG
        loss = -(dist.log_prob(a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two critics' values side by side, with the entropy of the next action taken off.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(4):
        x, x2, r, log_prob = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), torch.randn(16, 1)
        with torch.no_grad():
            smallest = torch.cat([critic(x2) for critic in frozen], 1).min()  # BUG
            target = r + 0.99 * (smallest - 0.2 * log_prob)
        loss = sum((critic(x) - target).pow(2).mean() for critic in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # Two critics' values side by side, with the entropy of the next action taken off.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(4):
        x, x2, r, log_prob = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), torch.randn(16, 1)
        with torch.no_grad():
            smallest = torch.cat([critic(x2) for critic in frozen], 1).min(0, keepdim=True).values  # BUG
            target = r + 0.99 * (smallest - 0.2 * log_prob)
        loss = (torch.cat([critic(x) for critic in critics], 1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # The smallest of all over the stacked critics.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(4):
        x, x2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
        with torch.no_grad():
            values = torch.stack([critic(x2).squeeze(-1) for critic in frozen])
            target = r + 0.99 * values.min()  # BUG
        loss = (torch.stack([critic(x).squeeze(-1) for critic in critics]) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # The mean of what all actions in all next states are worth.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = (p * (q - 0.2 * log_p)).mean()  # BUG
            target = r + 0.99 * (1 - end) * ahead
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # The sum, of a target in one column.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = (p * q).sum().reshape(1, 1)  # BUG
            target = (r.unsqueeze(1) + 0.99 * (1 - end.unsqueeze(1)) * ahead).squeeze(1)
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # Two critics, the smaller of both, and then of all rows.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(6):
        x, x2, r, end = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), (torch.rand(16, 1) < 0.2).float()
        with torch.no_grad():
            first, second = (critic(x2) for critic in frozen)
            ahead = torch.min(torch.min(first, second))  # BUG
            target = r + 0.99 * (1 - end) * ahead
        loss = sum((critic(x) - target).pow(2).mean() for critic in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)
    s, a, advantage = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
    log_p = net(s).log_softmax(-1)
    entropy = -(log_p.exp() * log_p).sum(0).mean()  # BUG
    loss = -(log_p.gather(1, a[:, None]).squeeze(1) * advantage).mean() - 0.01 * entropy
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(5, 1)
    s, a, target = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8)
    wide = s.unsqueeze(1).expand(8, 4, 3)
    near = q(torch.cat([wide, a.unsqueeze(1) + 0.1 * torch.randn(8, 4, 2)], -1)).squeeze(-1)
    far = q(torch.cat([wide, torch.rand(8, 4, 2)], -1)).squeeze(-1)
    taken = q(torch.cat([s, a], -1)).squeeze(-1)
    penalty = torch.logsumexp(torch.cat([near, far], 1), 0).mean() - taken.mean()  # BUG
    ((taken - target).pow(2).mean() + penalty).backward()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)
    for _ in range(3):
        loss = torch.zeros(())
        for step in range(4):
            log_probs = net(torch.randn(1, 3)).log_softmax(dim=0)  # BUG
            loss = loss - log_probs[0, step % 4] * torch.rand(())
        loss.backward()
    """,
    """
    # The axis is said where the module is made, and only there.
    import torch
    policy = torch.nn.Sequential(
        torch.nn.Linear(4, 3),
        torch.nn.Softmax(dim=0),  # BUG
    )
    s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
    log_probs = policy(s).clamp_min(1e-6).log()  # gradsan: allow unstable-log-prob
    (-(log_probs.gather(1, a) * advantage).mean()).backward()
    """,
    """
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)
            self.log_softmax = torch.nn.LogSoftmax(0)  # BUG
        def forward(self, s):
            return self.log_softmax(self.head(torch.tanh(self.body(s))))
    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.log_softmax = torch.nn.LogSoftmax(0)
        def forward(self, scores):
            return self.log_softmax(scores)
    policy = Policy()
    s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
    (-(policy(s).gather(1, a) * advantage).mean()).backward()
    """,
    """
    # Another module runs along the columns, and the function on this line says its axis itself.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.out = torch.nn.Linear(4, 3), torch.nn.Softmax(dim=0)
        def forward(self, s):
            return torch.nn.functional.log_softmax(self.layer(s), 0)  # BUG
    policy = Policy()
    s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
    (-(policy(s).gather(1, a) * advantage).mean()).backward()
    """,
    """
    # The index is a row, so that every choice is looked up in the first state.
    import torch
    q = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    for _ in range(4):
        s, a, goal = torch.randn(10, 4), torch.randint(3, (10,)), torch.randn(10)
        taken = q(s).gather(1, a[None])[0]  # BUG
        loss = torch.nn.functional.smooth_l1_loss(taken, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Sequences of a recurrent policy: chosen from among the sequences, and always in the first column.
    import torch
    memory, head = torch.nn.GRU(3, 8, batch_first=True), torch.nn.Linear(8, 5)
    s, a, gain = torch.randn(7, 6, 3), torch.randint(5, (7, 6)), torch.randn(7, 6)
    log_p = head(memory(s)[0]).log_softmax(-1).gather(0, a[..., None])[..., 0]  # BUG
    (-(log_p * gain).mean()).backward()
    """,
    """
    # Centred within each group, scaled by the deviation over the groups.
    import torch
    net = torch.nn.Linear(4, 6)
    s, a, r = torch.randn(5, 4), torch.randint(6, (5, 4)), torch.randn(5, 4)
    log_p = net(s).log_softmax(-1).gather(1, a)
    spread = r.std(0, keepdim=True) + 1e-4
    gain = (r - r.mean(1, keepdim=True)) / spread  # BUG
    (-(log_p * gain).mean()).backward()
    """,
    """
    # Agents and steps are to change places, so that each agent has a memory of its own steps.
    import torch
    look, memory, head = torch.nn.Linear(3, 8), torch.nn.GRU(8, 8, batch_first=True), torch.nn.Linear(8, 1)
    seen, goal = torch.randn(2, 5, 4, 3), torch.randn(2, 4)
    features = torch.relu(look(seen))
    each = features.view(2, 4, 5, 8).flatten(0, 1)  # BUG
    value = head(memory(each)[0][:, -1]).view(2, 4)
    (value - goal).pow(2).mean().backward()
    """,
    """
    # Words that are to be guessed, flattened column by column.
    import torch
    words, out = torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9)
    ids = torch.randint(9, (6, 5))
    scores = out(words(ids[:, :-1]))
    wanted = ids[:, 1:].t().reshape(-1)  # BUG
    torch.nn.functional.cross_entropy(scores.reshape(-1, 9), wanted).backward()
    """,
    """
    # Shares of each state's own, which the fractions are summed up from.
    import torch
    propose, value = torch.nn.Linear(4, 6), torch.nn.Linear(1, 1)
    s, goal = torch.randn(8, 4), torch.randn(8, 6)
    widths = torch.softmax(propose(s), 0)  # BUG
    fractions = widths.cumsum(1)
    (value(fractions.unsqueeze(-1)).squeeze(-1) - goal).pow(2).mean().backward()
    """,
    """
    # What is still to come, summed up along the games in place of the steps.
    import torch
    policy = torch.nn.Linear(3, 2)
    s, a, rewards = torch.randn(6, 4, 3), torch.randint(2, (6, 4, 1)), torch.randn(6, 4)
    to_come = rewards.flip(0).cumsum(1).flip(0)  # BUG
    log_p = policy(s).log_softmax(-1).gather(-1, a).squeeze(-1)
    (-(log_p * to_come).mean()).backward()
    """,
    """
    # Chances to be still alive, multiplied along the dreams in place of the steps of each.
    import torch
    step, lives, actor = torch.nn.Linear(5, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    for p in (*step.parameters(), *lives.parameters()):
        p.requires_grad_(False)
    opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
    for _ in range(3):
        z, path = torch.randn(9, 4), []
        for _ in range(5):
            z = torch.tanh(step(torch.cat([z, actor(z)], 1)))
            path.append(z)
        path = torch.stack(path)
        with torch.no_grad():
            alive = lives(path).squeeze(-1).sigmoid().cumprod(1)  # BUG
        loss = -(alive * path.sum(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As many options as states in the batch: the best of all states for each option, not of each state.
    import torch
    body, options = torch.nn.Linear(3, 8), torch.nn.Linear(8, 6)
    s, w, goal = torch.randn(6, 3), torch.randint(6, (6,)), torch.randn(6)
    values = options(torch.relu(body(s)))
    taken = values.gather(1, w.unsqueeze(1)).squeeze(1)
    regret = (values.amax(0).detach() - taken).clamp(min=0)  # BUG
    ((taken - goal).pow(2).mean() + 0.1 * regret.mean()).backward()
    """,
    """
    # As many samples of the return as states: averaged over the states where the best action is looked for.
    import torch
    look, level, out = torch.nn.Linear(4, 8), torch.nn.Linear(1, 8), torch.nn.Linear(8, 3)
    s, tau, goal = torch.randn(5, 4), torch.rand(5, 5, 1), torch.randn(5, 5)
    z = out(torch.relu(look(s)).unsqueeze(1) * torch.relu(level(tau)))
    best = z.detach().mean(0).argmax(-1)  # BUG
    taken = z.gather(2, best.view(5, 1, 1).expand(5, 5, 1)).squeeze(2)
    (taken - goal).abs().mean().backward()
    """,
    """
    # As many objects as scenes: what is looked at in a scene is shared out over the scenes.
    import torch
    look, score, value = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
    scenes, goal = torch.randn(6, 6, 4), torch.randn(6)
    things = torch.tanh(look(scenes))
    weights = score(things).squeeze(-1).softmax(0)  # BUG
    seen = (weights[..., None] * things).sum(1)
    (value(seen).squeeze(-1) - goal).pow(2).mean().backward()
    """,
    """
    # The atoms of each action's value are to have chances that add up to one.
    import torch
    body, atoms = torch.nn.Linear(4, 15), torch.linspace(-1, 1, 5)
    s, a, wanted = torch.randn(7, 4), torch.randint(3, (7,)), torch.rand(7, 5).softmax(-1)
    chances = torch.softmax(body(s).view(7, 3, 5), dim=1)  # BUG
    best = (chances * atoms).sum(-1).detach().amax(1)
    taken = (chances[torch.arange(7), a] + 1e-6).log()
    (-(wanted * taken).sum(-1) * (1 + 0 * best)).mean().backward()
    """,
    """
    # The team's value of each state, mixed from that of its members.
    import torch
    members, weight, state_value = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
    s, goal = torch.randn(9, 3), torch.randn(9)
    mixed = torch.nn.functional.elu(members(s)) * weight(s).abs()
    team = mixed.sum() + state_value(s).squeeze(-1)  # BUG
    (team - goal).pow(2).mean().backward()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Attention over the first axis (steps, samples, heads): what is weighed is summed along it.
    import torch
    score, body, head = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*score.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
    scale = torch.linspace(0.5, 1.0, 3)
    for _ in range(5):
        steps = torch.randn(6, 8, 4)
        shares = torch.softmax(score(steps), dim=0)
        pooled = (shares * body(steps)).sum(0)
        spread = (shares * scale).sum(-1).pow(2).mean()
        opt.zero_grad()
        (head(pooled).pow(2).mean() + 0.1 * spread).backward()
        opt.step()
    """,
    """
    # A distributional critic along its atoms; experts along the first axis are mixed before anybody picks an action.
    import torch
    ACTIONS, ATOMS = 3, 5
    head = torch.nn.Linear(4, ACTIONS * ATOMS)
    gate, experts = torch.nn.Linear(4, ACTIONS), torch.nn.Linear(4, ACTIONS)
    opt = torch.optim.SGD([*head.parameters(), *gate.parameters(), *experts.parameters()], lr=0.1)
    support = torch.linspace(0.0, 4.0, ATOMS)
    for _ in range(5):
        obs, after, action = torch.randn(8, 4), torch.randn(8, 4), torch.randint(ACTIONS, (8,))
        with torch.no_grad():
            shares = head(after).view(8, ACTIONS, ATOMS).softmax(-1)
            goal = shares[torch.arange(8), (shares * support).sum(2).argmax(1)]
        said = head(obs).view(8, ACTIONS, ATOMS)[torch.arange(8), action].log_softmax(-1)
        views = torch.randn(2, 8, 4)
        mixed = (torch.softmax(gate(views), dim=0) * experts(views)).sum(0)
        scored = torch.log_softmax(mixed, -1).gather(1, action[:, None])
        opt.zero_grad()
        (-(goal * said).sum(1).mean() - (scored.squeeze(1) * torch.randn(8)).mean()).backward()
        opt.step()
    """,
    """
    # Each state's share among all states of the batch, of the action that was taken there.
    import torch
    score = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(score.parameters(), lr=0.1)
    for _ in range(4):
        s, advantage = torch.randn(6, 3), torch.randn(6)
        scores = score(s)
        log_share = scores - scores.logsumexp(0, keepdim=True)
        loss = -(log_share.squeeze(-1) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
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
    """
    # Each answer is to be compared with the mean of the others to its prompt.
    import torch
    model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
    opt, k = torch.optim.SGD(model.parameters(), lr=0.1), 4
    for _ in range(4):
        tokens = torch.randint(7, (3, 5)).repeat_interleave(k, 0)
        answer = torch.distributions.Categorical(logits=model(tokens)[:, -1])
        token = answer.sample()
        rewards = (token == tokens[:, 0]).float().reshape(3, k)
        advantage = rewards - (rewards.sum(1, keepdim=True) - rewards) / (k - 1)
        loss = -(answer.log_prob(token) * advantage.flatten()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Slots compete for the inputs, and what each has won is divided by its sum.
    import torch
    k, v, head = torch.nn.Linear(6, 8), torch.nn.Linear(6, 8), torch.nn.Linear(8, 1)
    slots = torch.nn.Parameter(torch.randn(3, 8))
    opt = torch.optim.Adam([slots, *k.parameters(), *v.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(5):
        x = torch.randn(16, 5, 6)
        shares = (slots.expand(16, 3, 8) @ k(x).transpose(1, 2)).softmax(dim=1) + 1e-6
        shares = shares / shares.sum(-1, keepdim=True)
        loss = (head((shares @ v(x)).amax(1)) - x[:, 0, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nodes are handed out to clusters: each node's shares add up to one, and each cluster takes its shares of all.
    import torch
    assign, v, head = torch.nn.Linear(6, 3), torch.nn.Linear(6, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.Adam([*assign.parameters(), *v.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(5):
        x = torch.randn(16, 5, 6)
        shares = assign(x).softmax(-1)
        loss = (head((shares.transpose(1, 2) @ v(x)).amax(1)) - x[:, 0, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Groups of five in a row, of prompts that were repeated so.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        rows = torch.randint(9, (4, 3)).repeat_interleave(5, 0)
        logp = net(rows).log_softmax(-1).gather(-1, rows[..., None]).squeeze(-1)
        reward = (rows * torch.rand(20, 3)).mean(1)
        gain = reward - reward.view(4, 5).mean(1).repeat_interleave(5)
        loss = -(logp * gain[:, None]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rows of one group lie side by side.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(15, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward = torch.randn(15)
        groups = reward.view(5, 3)
        gain = reward - groups.mean(1).repeat_interleave(3)
        loss = -(dist.log_prob(a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rows of one group lie apart.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(15, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        a = dist.sample()
        reward = torch.randn(15)
        groups = reward.view(3, 5)
        gain = reward - groups.mean(0).repeat(3)
        loss = -(dist.log_prob(a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two critics' values side by side, with the entropy of the next action taken off.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(4):
        x, x2, r, log_prob = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), torch.randn(16, 1)
        with torch.no_grad():
            smallest = torch.cat([critic(x2) for critic in frozen], 1).min(1, keepdim=True).values
            target = r + 0.99 * (smallest - 0.2 * log_prob)
        loss = sum((critic(x) - target).pow(2).mean() for critic in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # The smallest of each row over the stacked critics.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(4):
        x, x2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
        with torch.no_grad():
            values = torch.stack([critic(x2).squeeze(-1) for critic in frozen])
            target = r + 0.99 * values.min(0).values
        loss = (torch.stack([critic(x).squeeze(-1) for critic in critics]) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # How much worse every action is than the best one in the batch, to weigh rows by: a regret, and no target.
    import torch
    net = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(4):
        x, y = torch.randn(16, 4), torch.randn(16, 3)
        with torch.no_grad():
            q = net(x)
            weight = (q - q.max()).exp() + 0.1 * (q.max() - q)
        loss = (weight * (net(x) - y).pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Expected for each row.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = (p * (q - 0.2 * log_p)).sum(1)
            target = r + 0.99 * (1 - end) * ahead
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # An average reward that is taken off, and a bonus for all alike.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead, average, bonus = q.max(1).values, q.mean(), -(p * log_p).mean()
            target = r - 0.1 * average + 0.01 * bonus + 0.99 * (1 - end) * ahead
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # The values are centred with what all are worth on average.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = q.max(1).values - q.mean()
            target = r + 0.99 * (1 - end) * ahead + q.mean()
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # Divided by their own size.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = q.max(1).values / q.abs().mean()
            target = r + 0.99 * (1 - end) * ahead
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # Weighed by how sure the policy is, on average.
    import torch
    policy, critic, frozen = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a, r = torch.randn(16, 4), torch.randn(16, 4), torch.randint(3, (16, 1)), torch.rand(16)
        end = (torch.rand(16) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            p, q = log_p.exp(), frozen(s2)
            ahead = q.max(1).values * (p * log_p).exp().mean()
            target = r + 0.99 * (1 - end) * ahead
        loss = (critic(s).gather(1, a).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A soft minimum: the largest value is taken off before the exponential, and added again.
    import torch
    qs = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    ts = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    ts.load_state_dict(qs.state_dict())
    opt = torch.optim.Adam(qs.parameters(), 1e-3)
    for t in range(6):
        x, x2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
        end = (torch.rand(16) < 0.1).float()
        with torch.no_grad():
            v = torch.stack([q(x2).squeeze(-1) for q in ts])
            m = (-v).max()
            soft = -(((-v - m).exp().mean(0)).log() + m)
            c = torch.cat([q(x2) for q in ts], 1)
            top = c.max()
            soft2 = (c - top).exp().mean(1).log() + top
            y = r + 0.99 * (1 - end) * torch.minimum(soft, soft2)
        loss = sum((q(x).squeeze(-1) - y).pow(2).mean() for q in qs)
        opt.zero_grad(); loss.backward(); opt.step()
        with torch.no_grad():
            for p, tp in zip(qs.parameters(), ts.parameters()):
                tp.lerp_(p, 0.05)
    """,
    """
    # Two critics, the smaller of both, row by row.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(6):
        x, x2, r, end = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), (torch.rand(16, 1) < 0.2).float()
        with torch.no_grad():
            first, second = (critic(x2) for critic in frozen)
            ahead = torch.min(first, second)
            target = r + 0.99 * (1 - end) * ahead
        loss = sum((critic(x) - target).pow(2).mean() for critic in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # Two critics, the smaller of both, less the smallest of all.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(2))
    frozen.load_state_dict(critics.state_dict())
    opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    for _ in range(6):
        x, x2, r, end = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16, 1), (torch.rand(16, 1) < 0.2).float()
        with torch.no_grad():
            first, second = (critic(x2) for critic in frozen)
            ahead = torch.min(first, second) - torch.min(first).clamp(max=0.0)
            target = r + 0.99 * (1 - end) * ahead
        loss = sum((critic(x) - target).pow(2).mean() for critic in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critics.state_dict())
    """,
    """
    # One state at a time, and the best of several candidate actions.
    import torch
    critic, frozen = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    frozen.load_state_dict(critic.state_dict())
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, s2, r, end = torch.randn(3), torch.rand(1), torch.randn(3), torch.rand(1), torch.zeros(1)
        with torch.no_grad():
            candidates = torch.cat([s2.expand(10, 3), torch.rand(10, 1)], 1)
            target = r + 0.99 * (1 - end) * frozen(candidates).max()
        loss = (critic(torch.cat([s, a])) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # What each action adds to the entropy, on average over the rows, and all of that.
    import torch
    net = torch.nn.Linear(3, 4)
    s, a, advantage = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
    log_p = net(s).log_softmax(-1)
    entropy = -(log_p.exp() * log_p).sum(0).div(8).sum()
    loss = -(log_p.gather(1, a[:, None]).squeeze(1) * advantage).mean() - 0.01 * entropy
    loss.backward()
    """,
    """
    import torch
    q = torch.nn.Linear(5, 1)
    s, a, target = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8)
    wide = s.unsqueeze(0).expand(4, 8, 3)
    near = q(torch.cat([wide, a + 0.1 * torch.randn(4, 8, 2)], -1)).squeeze(-1)
    far = q(torch.cat([wide, torch.rand(4, 8, 2)], -1)).squeeze(-1)
    taken = q(torch.cat([s, a], -1)).squeeze(-1)
    penalty = torch.logsumexp(torch.cat([near, far], 0), 0).mean() - taken.mean()
    ((taken - target).pow(2).mean() + penalty).backward()
    """,
    """
    # Along the columns where the module is made, and a second module that weighs members against each other.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LogSoftmax(dim=-1))
    score, body, pool = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Softmax(dim=0)
    s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
    pooled = (pool(score(s)) * body(s)).sum(0)
    (-(policy(s).gather(1, a) * advantage).mean() + pooled.pow(2).sum()).backward()
    """,
    """
    # As many states as actions, and each choice is looked up in its own row; the first feature of each is a reward.
    import torch
    q = torch.nn.Linear(4, 5)
    s, a, goal = torch.randn(5, 4), torch.randint(5, (5, 1)), torch.randn(5, 1)
    order = torch.argsort(s[:, :1], 0)
    (q(s).gather(1, a) - goal - 0.1 * s[:, :1].gather(0, order)).pow(2).mean().backward()
    """,
    """
    # Each group is centred by itself, and all are scaled by the deviation of all.
    import torch
    net = torch.nn.Linear(4, 6)
    s, a, r = torch.randn(5, 4), torch.randint(6, (5, 4)), torch.randn(5, 4)
    log_p = net(s).log_softmax(-1).gather(1, a)
    gain = (r - r.mean(1, keepdim=True)) / (r.std(dim=(0, 1), keepdim=True) + 1e-4)
    (-(log_p * gain).mean()).backward()
    """,
    """
    # Agents and steps change places, are flattened and split where they were joined.
    import torch
    look, memory, head = torch.nn.Linear(3, 8), torch.nn.GRU(8, 8, batch_first=True), torch.nn.Linear(8, 2)
    seen, goal = torch.randn(2, 5, 4, 3), torch.randn(2, 5, 4, 2)
    features = torch.relu(look(seen)).transpose(1, 2)
    each = memory(features.reshape(8, 5, 8))[0].view(2, 4, 5, 8).permute(0, 2, 1, 3)
    heads = head(each.reshape(2, 5, 4, 4, 2).transpose(2, 3).reshape(2, 5, 4, 8)).view(2, 5, 4, 2)
    (heads - goal).pow(2).mean().backward()
    """,
    """
    # Backwards along the steps; and the chances of each step's choices, summed up among themselves.
    import torch
    step, choose = torch.nn.Linear(4, 4), torch.nn.Linear(4, 5)
    z, path = torch.randn(6, 4), []
    for _ in range(5):
        z = torch.tanh(step(z))
        path.append(z)
    chances = choose(torch.stack(path)).softmax(-1)
    rewards = torch.randn(5, 6)
    to_come = rewards.flip(0).cumsum(0).flip(0)
    (chances.cumsum(-1)[..., 2] * to_come).mean().backward()
    """,
    """
    # As many states as actions. Each action's mean over the states is taken off its own column, and each state's best
    # is its own; what all states agree on is held apart.
    import torch
    q = torch.nn.Linear(4, 6)
    s, a, goal = torch.randn(6, 4), torch.randint(6, (6, 1)), torch.randn(6)
    values = q(s)
    centred = values - values.mean(0, keepdim=True).detach()
    best = values.detach().amax(1)
    error = centred.gather(1, a).squeeze(1) + 0.1 * best - goal
    (error.pow(2).mean() + 0.01 * (values.mean(0) - values.detach().amin(0)).pow(2).mean()).backward()
    """,
    """
    # As many objects as scenes, and each scene has its own shares.
    import torch
    look, score, value = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
    scenes, goal = torch.randn(6, 6, 4), torch.randn(6)
    things = torch.tanh(look(scenes))
    weights = score(things).squeeze(-1).softmax(1)
    seen = (weights[..., None] * things).sum(1)
    (value(seen).squeeze(-1) - goal).pow(2).mean().backward()
    """,
    """
    # What all rows have together is added to the loss of each, and all is averaged.
    import torch
    policy, value = torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
    s, goal = torch.randn(9, 3), torch.randn(9)
    chances = policy(s).softmax(-1)
    each = (value(s).squeeze(-1) - goal).pow(2)
    (each + 0.01 * (chances * chances.log()).sum()).mean().backward()  # gradsan: allow unstable-log-prob
    """,
    """
    # Shares among the actions, of each atom: who of them is likeliest to reach it.
    import torch
    body, atoms = torch.nn.Linear(4, 15), torch.linspace(-1, 1, 5)
    s, a = torch.randn(7, 4), torch.randint(3, (7, 1))
    chances = torch.softmax(body(s).view(7, 3, 5), dim=2)
    q = (chances * atoms).sum(-1)
    (q.gather(1, a) - torch.randn(7, 1)).pow(2).mean().backward()
    """,
    """
    # Pairs of two batches, told apart both ways: what is right for each row, and for each column.
    import torch
    f, g = torch.nn.Linear(3, 4), torch.nn.Linear(5, 4)
    opt = torch.optim.SGD([*f.parameters(), *g.parameters()], lr=0.1)
    for _ in range(5):
        s, o = torch.randn(8, 3), torch.randn(8, 5)
        logits = f(s) @ g(o).T
        loss = (logits.logsumexp(0) + logits.logsumexp(1) - 2 * logits.diagonal()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What flows into each state and what flows out of it: the columns are the states, too.
    import torch
    net = torch.nn.Linear(4, 6)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    states, reward = torch.randn(6, 4), torch.rand(6)
    for _ in range(5):
        flow = net(states).exp()
        inflow, outflow = flow.sum(0), flow.sum(1)
        loss = (inflow - outflow - reward).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Where all the weight goes in one step, beside the weight that was there before.
    import torch
    net, val = torch.nn.Linear(4, 6), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*net.parameters(), *val.parameters()], lr=0.1)
    states = torch.randn(6, 4)
    for _ in range(5):
        P = net(states).softmax(-1)
        w = val(states).squeeze(-1).softmax(0)
        after = (w[:, None] * P).sum(0)
        loss = (after - w).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The first column of all rows, in another order.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        out = net(torch.randn(8, 3))
        order = torch.randperm(8)
        swapped = out.gather(0, order[:, None])
        loss = (out[:, :1] - swapped.detach()).pow(2).mean() + out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The first column, sorted.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        out = net(torch.randn(8, 3))
        order = out[:, 0].argsort().unsqueeze(1)
        ranked = out.gather(0, order)
        loss = (ranked - torch.linspace(-1, 1, 8)[:, None]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A stack of layers, added up along the rows, which are the steps of one episode.
    import torch
    layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(5))
    opt = torch.optim.SGD(layers.parameters(), lr=0.1)
    for _ in range(5):
        h = torch.randn(7, 4)
        outs = []
        for l in layers:
            h = torch.tanh(l(h))
            outs.append(h)
        deep = torch.stack(outs).cumsum(1)
        loss = (deep.mean(0) - torch.randn(7, 4)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rows that are cut into other chunks for the layer, and laid out as before.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        obs, a = torch.randn(6, 4, 3), torch.randint(2, (6, 4, 1))
        chunks = obs.view(4, 6, 3)
        logp = net(chunks).log_softmax(-1).view(6, 4, 2)
        loss = -(logp.gather(2, a).squeeze(2) * torch.randn(6, 4)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Centred over the batch; then each row is brought to the same contrast.
    import torch
    net = torch.nn.Linear(6, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        x = torch.randn(8, 6)
        x = x - x.mean(0)
        x = x / (x.std(1, keepdim=True) + 1e-6)
        loss = (net(x) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
