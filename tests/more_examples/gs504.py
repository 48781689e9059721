"""More examples of GS504 (clip-misplaced): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A large batch in parts: what was limited after the first is limited again after each of the others.
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(4):
        states, goals = torch.randn(12, 3), torch.randn(12, 1)
        opt.zero_grad()
        for s, goal in zip(states.chunk(3), goals.chunk(3)):
            loss = torch.nn.functional.smooth_l1_loss(net(s), goal) / 3
            loss.backward()
            torch.nn.utils.clip_grad_value_(net.parameters(), 0.05)  # BUG
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # In parts, and limited when all of them are there.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        states, goals = torch.randn(12, 3), torch.randn(12, 1)
        opt.zero_grad()
        for part, (s, goal) in enumerate(zip(states.chunk(3), goals.chunk(3))):
            ((net(s) - goal).pow(2).mean() / 3).backward()
            if part == 2:
                torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
    """,
    """
    # Each of two losses is followed by a limit for what is there by then.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        out = net(torch.randn(8, 3))
        policy_loss = out[:, 0].mean()
        value_loss = (out[:, 1] - 1.0).pow(2).mean()
        opt.zero_grad()
        for loss in (policy_loss, value_loss):
            loss.backward(retain_graph=loss is policy_loss)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
    """,
    """
    # Every part has a step of its own.
    import torch
    nets = [torch.nn.Linear(3, 1) for _ in range(2)]
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    for _ in range(5):
        s = torch.randn(8, 3)
        for net, opt in zip(nets, opts):
            opt.zero_grad()
            (net(s) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
    """,
)
