"""More examples of GS204 (unused-parameter): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A term that is missing from the sum: the line that adds up is named.
    import torch
    pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(8):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(pi(s), -1)
        policy_loss = -(log_probs.gather(1, a) * ret).mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        value_loss = (v(s) - ret).pow(2).mean()
        loss = policy_loss - 0.01 * entropy  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # All are added up, and the last of them is sent backward.
    import torch
    pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(8):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(pi(s), -1)
        policy_loss = -(log_probs.gather(1, a) * ret).mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        value_loss = (v(s) - ret).pow(2).mean()
        total = 0.0
        for loss in (policy_loss, -0.01 * entropy, value_loss):
            total = total + loss
        opt.zero_grad()
        loss.backward()  # BUG
        opt.step()
    """,
    """
    # Two losses, and a backward for one of them.
    import torch
    pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(8):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(pi(s), -1)
        policy_loss = -(log_probs.gather(1, a) * ret).mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        value_loss = (v(s) - ret).pow(2).mean()  # BUG
        opt.zero_grad()
        policy_loss.backward()
        opt.step()
    """,
    """
    # Of an ensemble only the last member's loss is sent backward; what the actor's leaves in the others is cleared.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    actor = torch.nn.Linear(3, 1)
    critic_opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    for update in range(24):
        s, a, y = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
        losses = []
        for critic in critics:
            loss = (critic(torch.cat([s, a], 1)) - y).pow(2).mean()
            losses.append(loss)
        critic_opt.zero_grad()
        loss.backward()  # BUG
        critic_opt.step()
        x = torch.cat([s, actor(s).tanh()], 1)
        actor_loss = -torch.cat([critic(x) for critic in critics], 1).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A sum that is only shown, beside a backward of each.
    import torch
    pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(8):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        log_probs = torch.log_softmax(pi(s), -1)
        policy_loss = -(log_probs.gather(1, a) * ret).mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        value_loss = (v(s) - ret).pow(2).mean()
        shown = (policy_loss + value_loss - 0.01 * entropy).item()
        opt.zero_grad()
        (policy_loss - 0.01 * entropy).backward()
        value_loss.backward()
        opt.step()
    """,
    """
    # All members learn.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    actor = torch.nn.Linear(3, 1)
    critic_opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    for update in range(24):
        s, a, y = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
        losses = []
        for critic in critics:
            loss = (critic(torch.cat([s, a], 1)) - y).pow(2).mean()
            losses.append(loss)
        critic_opt.zero_grad()
        sum(losses).backward()
        critic_opt.step()
        x = torch.cat([s, actor(s).tanh()], 1)
        actor_loss = -torch.cat([critic(x) for critic in critics], 1).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
    """
    # One member learns at a time; the losses of the others are only logged.
    import torch
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    actor = torch.nn.Linear(3, 1)
    critic_opt = torch.optim.SGD(critics.parameters(), lr=0.01)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    for update in range(24):
        s, a, y = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
        losses = []
        for critic in critics:
            loss = (critic(torch.cat([s, a], 1)) - y).pow(2).mean()
            losses.append(loss)
        critic_opt.zero_grad()
        losses[update % 3].backward()
        critic_opt.step()
        x = torch.cat([s, actor(s).tanh()], 1)
        actor_loss = -torch.cat([critic(x) for critic in critics], 1).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
)
