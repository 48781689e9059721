"""More examples of GS203 (undifferentiable-action): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The critic learns beside the actor, and its judgement is lost; what is left is a score with the same weight
    # for all draws, whose gradient is zero on average.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        action = dist.sample()  # BUG
        score = dist.log_prob(action).sum(-1)
        loss = (0.2 * score - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
        opt.zero_grad()
        (loss + 1e-3 * mean.pow(2).mean()).backward()
        opt.step()
    """,
    """
    # A soft actor with actions that are counted: what the critic says of one is a constant.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(16, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        action = dist.sample()  # BUG
        score = dist.log_prob(action)
        with torch.no_grad():
            q = critic(s).gather(1, action[:, None])[:, 0]
        loss = (0.2 * score - q).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The draw passes its gradient straight through.
    import torch
    gate, body, head = torch.nn.Linear(4, 8), torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*gate.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
    for _ in range(4):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        p = torch.sigmoid(gate(x))
        mask = torch.bernoulli(p) - p.detach() + p
        loss = (head(mask * body(x)) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Drawn with gradients on; the policy learns by the score, and a frozen reference scores the same draw.
    import copy
    import torch
    policy = torch.nn.Linear(3, 5)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        a = torch.multinomial(policy(s).softmax(-1), 1)
        score = policy(s).log_softmax(-1).gather(1, a)
        with torch.no_grad():
            before = reference(s).log_softmax(-1).gather(1, a)
        k3 = (before - score).exp() - (before - score) - 1
        loss = (-score * torch.randn(8, 1) + 0.1 * k3).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A model that is fed its own draws, and learns from what came instead.
    import torch
    cell, head = torch.nn.GRUCell(3, 8), torch.nn.Linear(8, 6)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    for _ in range(4):
        steps, state, loss = torch.randn(5, 8, 3), torch.zeros(8, 8), 0.0
        given = steps[0]
        for following in steps[1:]:
            state = cell(given, state)
            mean, log_std = head(state).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            loss = loss - dist.log_prob(following).mean()
            given = dist.sample()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A judgement of the draw that weighs its score; the same score evenly weighed beside it, as a guess of the
    # entropy.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        action = dist.sample()
        score = dist.log_prob(action).sum(-1)
        value = critic(torch.cat([s, action], -1)).squeeze(-1)
        advantage = torch.randn(8) - value.detach()
        loss = (0.01 * score - score * advantage).mean() + 0.1 * (value - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with `rsample`.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        action = dist.rsample()
        score = dist.log_prob(action).sum(-1)
        loss = (0.2 * score - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The critic weighs the score, and the entropy is a sample.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(16, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        action = dist.sample()
        score = dist.log_prob(action)
        with torch.no_grad():
            q = critic(s).gather(1, action[:, None])[:, 0]
        loss = -(score * q).mean() + 0.01 * score.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What the critic says is only subtracted to be shown beside the loss.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(16, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        action = dist.sample()
        score = dist.log_prob(action)
        with torch.no_grad():
            q = critic(s).gather(1, action[:, None])[:, 0]
        loss = -(score * torch.randn(16)).mean() - q.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
