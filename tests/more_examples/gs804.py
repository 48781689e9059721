"""More examples of GS804 (ratio-always-one): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A quotient of probabilities.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        for _ in range(3):
            with torch.no_grad():
                old = policy(s).gather(1, a)  # BUG
            ratio = policy(s).gather(1, a) / (old + 1e-8)
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A density that was written out, without its constants, and multiplied over the joints.
    import torch
    mean, spread = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([*mean.parameters(), spread], lr=0.01)
    def density(s, a):
        return (torch.exp(-0.5 * ((a - mean(s)) / spread) ** 2) / spread).prod(dim=1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8)
        for _ in range(3):
            old = density(s, a).detach()  # BUG
            ratio = density(s, a) / old
            loss = -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
GOOD: tuple[str, ...] = (
    """
    # Probabilities that were kept; nothing is clipped around one but the ratio.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            old = policy(s).gather(1, a)
            scale = critic(s).abs().mean() + 1.0
        for _ in range(3):
            ratio = policy(s).gather(1, a) / old
            value = (critic(s).exp() / scale).clamp(0.1, 9.0)
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean() + value.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # `p / p.detach()` is a way to write a plain policy gradient.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        for _ in range(3):
            chosen = policy(s).gather(1, a)
            loss = -(chosen / chosen.detach() * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
