"""More examples of GS606 (one-value-twice): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The module that holds both critics asks the first one twice.
    import torch
    class Twin(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q1, self.q2 = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        def forward(self, x):
            return self.q1(x), self.q1(x)  # BUG
    critic = Twin()
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, y = torch.randn(8, 4), torch.randn(8, 1)
        loss = sum((q - y).pow(2).mean() for q in critic(s))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same, with a line for each.
    import torch
    class Twin(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q1, self.q2 = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        def forward(self, x):
            first = self.q1(x)
            second = self.q1(x)  # BUG
            return first, second
    critic = Twin()
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, y = torch.randn(8, 4), torch.randn(8, 1)
        loss = sum((q - y).pow(2).mean() for q in critic(s))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = ()
