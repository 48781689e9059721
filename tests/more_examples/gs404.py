"""More examples of GS404 (step-without-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):  # a first phase that is right
        opt.zero_grad()
        net(torch.randn(8, 3)).pow(2).mean().backward()
        opt.step()
    for _ in range(8):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        opt.step()  # BUG
        loss.backward()
    """,
    """
    # One of three losses that feed one step.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        opt.zero_grad()
        (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        (net(torch.randn(8, 3)) + 1.0).pow(2).mean().backward  # BUG
        net(torch.randn(8, 3)).abs().mean().backward()
        opt.step()
    """,
    """
    # The first of two phases; the second is right.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward  # BUG
        opt.step()
    for _ in range(6):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The critic is asked about the actions of long ago.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        critic_opt.step()
        actor_loss = -critic(torch.cat([s, a], -1)).mean()  # BUG
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
    """
    # The penalty differentiates inside of the loss; that is no backward for the step to take.
    import torch
    judge = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    def begin():
        opt.zero_grad()
        opt.step()  # BUG
    for _ in range(6):
        x = torch.randn(8, 3, requires_grad=True)
        (slope,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
        loss = judge(torch.randn(8, 3)).pow(2).mean() + (slope.norm(dim=1) - 1).pow(2).mean()
        begin()
        loss.backward()
    """,
    """
    # Each has a loss in a list; all of them ask the last.
    import torch
    nets = [torch.nn.Linear(3, 1) for _ in range(2)]
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    losses = []
    for net in nets:
        losses.append(lambda s: (net(s) - 1.0).pow(2).mean())
    def update(s):
        for opt, loss_of in zip(opts, losses):
            loss = loss_of(s)  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
    for _ in range(8):
        update(torch.randn(8, 3))
    """,
    """
    # The last of several phases that take turns; the others step on the same weights.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        for length in (3, 5):
            net(torch.randn(length, 3)).pow(2).mean().backward()
        opt.step()
        opt.zero_grad()
        for _ in range(2):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.step()  # BUG
            loss.backward()
            opt.zero_grad()
    """,
    """
    # The critic is asked on a line of its own, about stored actions.
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, stored, y = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
        critic_loss = (critic(torch.cat([s, stored], 1)) - y).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        own = actor(s).tanh()
        score = critic(torch.cat([s, stored], 1))  # BUG
        actor_loss = -score.mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # One of two phases steps for both, and finds nothing for the critic; what the actor's loss leaves there is
    # thrown away by right.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt, critic_opt = (torch.optim.SGD(n.parameters(), lr=0.1) for n in (actor, critic))
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        actor_opt.zero_grad()
        (actor(s) - a).pow(2).mean().backward()
        actor_opt.step(), critic_opt.step()
        actor_opt.zero_grad()
        (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
        actor_opt.step()
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        critic_opt.step()
        critic_opt.zero_grad()
    """,
    """
    # The critic is asked on a line of its own, about the actor's own actions.
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, stored, y = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
        critic_loss = (critic(torch.cat([s, stored], 1)) - y).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        own = actor(s).tanh()
        score = critic(torch.cat([s, own], 1))
        actor_loss = -score.mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
)
