"""More examples of GS405 (gradient-wiped): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A layer begins anew in between: that is no update by hand.
    import torch
    body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    def fit(updates):
        for _ in range(updates):
            loss = (head(torch.tanh(body(torch.randn(8, 3)))) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # BUG
    fit(8)
    torch.nn.init.zeros_(head.weight)
    fit(8)
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(10):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()  # BUG
    """,
    """
    # Behaviour cloning comes first, and forgets to step.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randint(2, (8,))
        opt.zero_grad()
        torch.nn.functional.cross_entropy(policy(s), a).backward()  # BUG
    for _ in range(8):
        s, a, r = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        loss = -(policy(s).log_softmax(-1).gather(1, a).squeeze(1) * r).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A worker's gradient is handed to the shared network, whose optimizer never steps.
    import torch
    shared, local = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(shared.parameters(), lr=0.1)  # BUG
    for _ in range(8):
        local.load_state_dict(shared.state_dict())
        local.zero_grad()
        (local(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        for theirs, ours in zip(shared.parameters(), local.parameters()):
            theirs.grad = ours.grad.clone()
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    def clear():
        for p in critic.parameters():
            if p.grad is not None:
                p.grad.zero_()  # BUG
    for _ in range(6):
        s = torch.randn(8, 3)
        loss = (critic(s) - s[:, :1]).pow(2).mean()
        loss.backward()
        clear()
        with torch.no_grad():
            for p in critic.parameters():
                p -= 0.1 * p.grad
    """,
    """
    # The policy learns once for every ten updates of the baseline, or would.
    import torch
    policy, baseline = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    baseline_opt = torch.optim.SGD(baseline.parameters(), lr=0.1)
    for _ in range(6):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        score = policy(s).log_softmax(-1).gather(1, a)
        policy_opt.zero_grad()
        (-(score * (ret - baseline(s).detach())).mean()).backward()  # BUG
        for _ in range(10):
            baseline_opt.zero_grad()
            (baseline(s) - ret).pow(2).mean().backward()
            baseline_opt.step()
    """,
    """
    # Nothing ever steps; that the weights are put back to what they were does not train them.
    import torch
    policy = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for k in range(8):
        opt.zero_grad()
        (policy(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()  # BUG
        if k == 2:
            saved = [p.detach().clone() for p in policy.parameters()]
        if k == 5:
            with torch.no_grad():
                for p, before in zip(policy.parameters(), saved):
                    p.copy_(before)
    """,
    """
    # One helper's worth of clearing too much: only what the actor's loss leaves in the critic is applied.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()
        actor_opt.zero_grad()
        critic_opt.zero_grad()  # BUG
        actor_loss.backward()
        critic_opt.step()
        actor_opt.step()
    """,
    """
    # A helper that others call at the right time.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    def clear(*optimizers):
        for optimizer in optimizers:
            optimizer.zero_grad()
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        clear(critic_opt)
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        clear(actor_opt, critic_opt)  # BUG
        (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
        critic_opt.step()
        actor_opt.step()
    """,
    """
    # One sum feeds two networks; one of their optimizers clears its share before it steps, the other takes its own.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(8):
        s, a, r = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        v = critic(s).squeeze(-1)
        logp = torch.distributions.Categorical(logits=actor(s)).log_prob(a)
        critic_opt.zero_grad()
        ((r - v).pow(2).mean() - (logp * (r - v).detach()).mean()).backward()
        actor_opt.zero_grad()  # BUG
        critic_opt.step()
        actor_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        collected = []
        for _ in range(2):
            opt.zero_grad()
            (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            collected.append([p.grad.clone() for p in net.parameters()])
        for p, first, second in zip(net.parameters(), *collected):
            p.grad = (first + second) / 2
        opt.step()
    """,
    """
    # An update that is given up now and then.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(24):
        opt.zero_grad()
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        loss.backward()
        if i % 4 < 2:
            continue
        opt.step()
    """,
    """
    # The same, cleared where it is given up.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(24):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        loss.backward()
        if i % 2:
            opt.zero_grad()
            continue
        opt.step()
        opt.zero_grad()
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    def clear():
        for p in critic.parameters():
            if p.grad is not None:
                p.grad.zero_()
    for _ in range(6):
        s = torch.randn(8, 3)
        loss = (critic(s) - s[:, :1]).pow(2).mean()
        clear()
        loss.backward()
        with torch.no_grad():
            for p in critic.parameters():
                p -= 0.1 * p.grad
    """,
    """
    # The actor's loss comes first, and what it leaves in the critic is cleared by right.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        actor_opt.zero_grad()
        (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        critic_opt.step()
        actor_opt.step()
    """,
    """
    # What the actor's loss leaves with the critic is cleared by right, and the critic learns in every other round only.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for i in range(12):
        s = torch.randn(8, 3)
        if i % 2 == 0:
            (critic(torch.cat([s, torch.randn(8, 2)], 1)) - s[:, :1]).pow(2).mean().backward()
            critic_opt.step()
        actor_opt.zero_grad()
        (-critic(torch.cat([s, actor(s)], 1)).mean()).backward()
        critic_opt.zero_grad()
        actor_opt.step()
        critic_opt.step()
    """,
)
