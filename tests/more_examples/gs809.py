"""More examples of GS809 (reversed-sync): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The reference was to begin as the policy does, and is loaded from itself.
    import torch
    policy, reference = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    reference.load_state_dict(reference.state_dict())  # BUG
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(16, 3)
        with torch.no_grad():
            wanted = reference(s).softmax(-1)
        loss = -(wanted * policy(s).log_softmax(-1)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # By hand, and the target began with weights of its own: nothing but the sync says whose copy it is.
    import torch
    q, lagged = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    def sync(into, source):
        for old, new in zip(into.parameters(), source.parameters()):
            old.data.copy_(new.data)  # BUG
    for i in range(12):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 1.0 + 0.9 * lagged(s2).amax(1)
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 2:
            sync(q, lagged)
    """,
    """
    # A mixed state dict is made line by line, and loaded afterwards.
    import copy, torch
    net = torch.nn.Linear(4, 2)
    target = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        x, r = torch.randn(16, 4), torch.rand(16)
        y = r + 0.9 * target(x + 1).max(1).values.detach()
        loss = (net(x)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own, mixed = net.state_dict(), target.state_dict()
        for key in mixed:
            mixed[key] = 0.99 * own[key] + 0.01 * mixed[key]  # BUG
        target.load_state_dict(mixed)
    """,
    """
    # A fast target, and its weights exchanged: nine tenths are new.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(12):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 1.0 + 0.9 * target(s2).amax(1)
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for new, old in zip(q.parameters(), target.parameters()):
                old.lerp_(new, 1 - 0.1)  # BUG
    """,
    """
    # The sync runs once before there is an optimizer: by then nobody can tell which of the networks will be trained.
    import torch
    class Team:
        def __init__(self):
            self.q, self.old_q = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
            self.mix, self.old_mix = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            self.refresh()
            self.opt = torch.optim.SGD([*self.q.parameters(), *self.mix.parameters()], lr=0.1)
        def refresh(self):
            self.old_q.load_state_dict(self.q.state_dict())
            self.mix.load_state_dict(self.old_mix.state_dict())  # BUG
        def learn(self, s, s2):
            with torch.no_grad():
                goal = 1.0 + 0.9 * self.old_mix(self.old_q(s2))
            loss = (self.mix(self.q(s)) - goal).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
    team = Team()
    for i in range(9):
        team.learn(torch.randn(8, 3), torch.randn(8, 3))
        if i % 3 == 2:
            team.refresh()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Loaded from itself, for nothing: a teacher of another form, and a network that no loss knows.
    import torch
    net, teacher, spare = torch.nn.Linear(3, 4), torch.nn.Linear(5, 4), torch.nn.Linear(3, 4)
    teacher.load_state_dict(teacher.state_dict())
    spare.load_state_dict(spare.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(16, 5)
        with torch.no_grad():
            wanted = teacher(s)
        loss = (net(s[:, :3]) - wanted).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Back to the weights of the start for every task; no loss knows the network that keeps them.
    import torch
    net, start = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(12):
        if i % 3 == 0:
            for own, first in zip(net.parameters(), start.parameters()):
                own.data.copy_(first.data)
        loss = (net(torch.randn(8, 3)) - torch.randn(8, 2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The slow weights are moved towards the fast ones, which start from them again; they serve as a target, too.
    import torch
    fast, slow = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(fast.parameters(), lr=0.1)
    for i in range(24):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 1.0 + 0.9 * slow(s2).amax(1)
        loss = (fast(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 4 == 3:
            for old, new in zip(slow.parameters(), fast.parameters()):
                old.data.add_(0.5 * (new.data - old.data))
                new.data.copy_(old.data)
    """,
    """
    # A mixed state dict is made line by line, and loaded afterwards.
    import copy, torch
    net = torch.nn.Linear(4, 2)
    target = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        x, r = torch.randn(16, 4), torch.rand(16)
        y = r + 0.9 * target(x + 1).max(1).values.detach()
        loss = (net(x)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own, mixed = net.state_dict(), target.state_dict()
        for key in mixed:
            mixed[key] = 0.01 * own[key] + 0.99 * mixed[key]
        target.load_state_dict(mixed)
    """,
)
