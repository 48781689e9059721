"""More examples of GS205 (unoptimized-parameter): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The names tell which of the optimizers was meant for it.
    import torch
    dynamics, reward_model, value = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    model_opt = torch.optim.SGD(dynamics.parameters(), lr=0.1)  # BUG
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        after = dynamics(s)
        loss = (after - s.roll(1, 0)).pow(2).mean() + (reward_model(after) - s[:, :1]).pow(2).mean()
        loss = loss + (value(after.detach()) - s[:, 1:2]).pow(2).mean()
        model_opt.zero_grad()
        value_opt.zero_grad()
        loss.backward()
        model_opt.step()
        value_opt.step()
    """,
    """
    # A spread that is a plain tensor: the module does not know it as a parameter.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.nn.Linear(3, 2)
            self.log_std = torch.zeros(2, requires_grad=True)  # BUG
        def forward(self, x):
            return torch.distributions.Normal(self.mean(x), self.log_std.exp())
    policy = Policy()
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        dist = policy(torch.randn(16, 3))
        a = dist.sample()
        gain = -a.pow(2).sum(-1)
        loss = -(dist.log_prob(a).sum(-1) * (gain - gain.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.nn.Linear(3, 2)
            self.log_std = torch.zeros(2, requires_grad=True)
        def forward(self, x):
            return torch.distributions.Normal(self.mean(x), self.log_std.exp())
    policy = Policy()
    opt = torch.optim.SGD([*policy.parameters(), policy.log_std], lr=0.01)
    for _ in range(8):
        dist = policy(torch.randn(16, 3))
        a = dist.sample()
        gain = -a.pow(2).sum(-1)
        loss = -(dist.log_prob(a).sum(-1) * (gain - gain.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
