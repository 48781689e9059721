"""More examples of GS206 (orphaned-optimizer): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A helper that is given both, as it should be, asks the wrong one.
    import copy
    import torch
    import torch.nn.functional as F

    def errors(net, slow, s, a, r, after):
        with torch.no_grad():
            best = net(after).argmax(1, keepdim=True)
            goal = r + 0.9 * slow(after).gather(1, best).squeeze(1)
        chosen = slow(s).gather(1, a).squeeze(1)  # BUG
        return F.smooth_l1_loss(chosen, goal)

    net = torch.nn.Linear(3, 2)
    slow = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for update in range(8):
        s, a, r = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        loss = errors(net, slow, s, a, r, torch.randn(8, 3))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 3 == 2:
            slow.load_state_dict(net.state_dict())
    """,
    """
    # It was given one that acts and never learns.
    import torch
    behaviour, policy = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(behaviour.parameters(), lr=0.1)  # BUG
    for _ in range(6):
        s = torch.randn(8, 3)
        with torch.no_grad():
            a = behaviour(s).argmax(-1, keepdim=True)
        loss = -policy(s).log_softmax(-1).gather(1, a).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # It was given the network of the phase before, which is done with.
    import torch
    from torch import nn
    encoder, policy = nn.Linear(3, 2), nn.Linear(3, 2)
    opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for _ in range(6):
        opt.zero_grad()
        (encoder(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        opt.step()
    opt = torch.optim.SGD(encoder.parameters(), lr=0.1)  # BUG
    for _ in range(6):
        opt.zero_grad()
        (policy(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    # A stacked ensemble: the optimizer has the members, not what they were stacked to.
    import copy
    import torch
    members = [torch.nn.Linear(3, 1) for _ in range(4)]
    opt = torch.optim.SGD([p for m in members for p in m.parameters()], lr=0.1)
    params, buffers = torch.func.stack_module_state(members)  # BUG
    base = copy.deepcopy(members[0]).to("meta")
    for _ in range(6):
        run = torch.vmap(lambda p, b, x: torch.func.functional_call(base, (p, b), (x,)), (0, 0, None))
        loss = (run(params, buffers, torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A checkpoint holds a variable that is learned, and takes its place.
    import io
    import torch

    class Temperature:
        def __init__(self):
            self.log_alpha = torch.zeros(1, requires_grad=True)
            self.opt = torch.optim.SGD([self.log_alpha], lr=0.1)

        def restore(self, file):
            state = torch.load(file, weights_only=True)
            step = state["step"]
            self.log_alpha = state["log_alpha"]  # BUG
            return step

        def update(self):
            loss = -(self.log_alpha * torch.randn(8)).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    first, again, file = Temperature(), Temperature(), io.BytesIO()
    torch.save({"log_alpha": first.log_alpha, "step": 3}, file)
    file.seek(0)
    again.restore(file)
    for _ in range(6):
        again.update()
    """,
    """
    # The copied optimizer owns copies of its own, not the copied network.
    import copy
    import torch
    def train(net, opt):
        for _ in range(8):
            opt.zero_grad()
            (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            opt.step()
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    train(net, opt)
    child = copy.deepcopy(net)
    child_opt = copy.deepcopy(opt)  # BUG
    train(child, child_opt)
    """,
    """
    # Both belong to one object, and the copy that follows is asked for what is to be learnt.
    import copy
    import torch

    class Agent:
        def __init__(self):
            self.online = torch.nn.Linear(3, 2)
            self.slow = copy.deepcopy(self.online)
            self.opt = torch.optim.SGD(self.online.parameters(), lr=0.1)

        def act(self, state):
            with torch.no_grad():
                return self.online(state).argmax(1)

        def update(self, state):
            chosen = self.slow(state).gather(1, self.act(state)[:, None]).squeeze(1)  # BUG
            loss = (chosen - 1.0).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    agent = Agent()
    for number in range(12):
        agent.update(torch.randn(8, 3))
        if number % 4 == 3:
            agent.slow.load_state_dict(agent.online.state_dict())
    """,
    """
    # The target predicts as well, and the network that is trained is asked by nobody.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 1.0 + 0.9 * target(s2).amax(1)
        predicted = target(s)[:, 0]  # BUG
        loss = (predicted - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The optimizer was given the copy, and another one is asked for both sides: it is the optimizer that is wrong.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    acting = copy.deepcopy(q)
    opt = torch.optim.SGD(acting.parameters(), lr=0.1)  # BUG
    for _ in range(6):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 1.0 + 0.9 * q(s2).amax(1)
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A method that makes the networks is called once more in the middle of the run; the optimizer keeps the first ones.
    import torch

    class Agent:
        def __init__(self):
            self.build()
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def build(self):
            self.net = torch.nn.Linear(3, 1)

        def start_over(self):
            self.build()  # BUG

        def update(self):
            loss = (self.net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    agent = Agent()
    for update in range(12):
        if update == 5:
            agent.start_over()
        agent.update()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The same, with the gradient handed over by reference.
    import torch
    shared, local = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(shared.parameters(), lr=0.1)
    for _ in range(8):
        local.load_state_dict(shared.state_dict())
        loss = (local(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        local.zero_grad()
        loss.backward()
        for theirs, ours in zip(shared.parameters(), local.parameters()):
            theirs._grad = ours.grad
        opt.step()
    """,
    """
    import copy
    import torch
    members = [torch.nn.Linear(3, 1) for _ in range(4)]
    params, buffers = torch.func.stack_module_state(members)
    base = copy.deepcopy(members[0]).to("meta")
    opt = torch.optim.SGD(params.values(), lr=0.1)
    for _ in range(6):
        run = torch.vmap(lambda p, b, x: torch.func.functional_call(base, (p, b), (x,)), (0, 0, None))
        loss = (run(params, buffers, torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Copied together, they belong to each other.
    import copy
    import torch
    def train(net, opt):
        for _ in range(8):
            opt.zero_grad()
            (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            opt.step()
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    train(net, opt)
    child, child_opt = copy.deepcopy((net, opt))
    train(child, child_opt)
    """,
    """
    # Networks and optimizer are made anew together.
    import torch

    class Agent:
        def __init__(self):
            self.build()

        def build(self):
            self.net = torch.nn.Linear(3, 1)
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def update(self):
            loss = (self.net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    agent = Agent()
    for update in range(12):
        if update == 5:
            agent.build()
        agent.update()
    """,
)
