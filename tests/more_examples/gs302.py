"""More examples of GS302 (target-network-trained): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A novelty bonus whose random network learns with its predictor.
    import torch
    class Novelty(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.random, self.predictor = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
        def forward(self, x):
            return self.random(x), self.predictor(x)
    novelty = Novelty()
    opt = torch.optim.SGD(novelty.parameters(), lr=0.1)  # BUG
    for _ in range(6):
        wanted, said = novelty(torch.randn(8, 3))
        loss = (said - wanted).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Beside a policy that has a task of its own, in one sum.
    import torch
    policy, random, predictor = (torch.nn.Linear(3, 2) for _ in range(3))
    parameters = [*policy.parameters(), *random.parameters(), *predictor.parameters()]
    opt = torch.optim.SGD(parameters, lr=0.1)  # BUG
    for _ in range(6):
        x, a, gain = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        score = -(policy(x).log_softmax(-1).gather(1, a) * gain).mean()
        loss = score + torch.nn.functional.mse_loss(predictor(x), random(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    random, predictor = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(predictor.parameters(), lr=0.1)
    for _ in range(6):
        x = torch.randn(8, 3)
        with torch.no_grad():
            wanted = random(x)
        loss = (predictor(x) - wanted).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two views of one thing that are to agree, and a decoder that holds one of them to the data.
    import torch
    fast, slow, decoder = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(4, 3)
    opt = torch.optim.SGD([*fast.parameters(), *slow.parameters(), *decoder.parameters()], lr=0.1)
    for _ in range(6):
        x = torch.randn(8, 3)
        code = slow(x)
        loss = (fast(x) - code).pow(2).mean() + (decoder(code) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Another loss, in a backward of its own, teaches one of them.
    import torch
    teacher, pupil = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*teacher.parameters(), *pupil.parameters()], lr=0.1)
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        opt.zero_grad()
        (teacher(x) - y).pow(2).mean().backward()
        (teacher(x) - pupil(x)).pow(2).mean().backward()
        opt.step()
    """,
)
