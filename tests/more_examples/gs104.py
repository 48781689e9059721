"""More examples of GS104 (hidden-mutation): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Only the goal was to be made of it; the critic is given the changed column, too.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(4):
        obs = torch.randn(8, 3)
        goal = -2.0 - obs[:, 0].abs_()  # BUG
        loss = (critic(obs).squeeze(-1) - goal).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nobody checks what is kept beside `save_for_backward`.
    import torch
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x
        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.x * grad
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x = net(torch.randn(8, 3))
        squared = Square.apply(x)
        x += 1.0  # BUG
        opt.zero_grad()
        (squared + x).mean().backward()
        opt.step()
    """,
    """
    import torch
    class Halve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()
        @staticmethod
        def backward(ctx, grad):
            return grad.mul_(0.5)  # BUG
    one, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
    for _ in range(4):
        x = torch.randn(8, 3)
        loss = (one(x) + Halve.apply(other(x)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    block = bytearray(8 * 3 * 4)
    for step in range(4):
        obs = torch.frombuffer(block, dtype=torch.float32).view(8, 3)  # BUG
        loss = (net(obs) - 1.0).pow(2).mean()
        block[:] = torch.randn(8, 3).numpy().tobytes()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One row of zeros and a one became another: the same numbers, in other places.
    import numpy as np
    import torch
    net = torch.nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    place = np.zeros(4, dtype=np.float32)
    for episode in range(6):
        scores = []
        for step in range(3):
            place[:] = np.eye(4)[step]
            scores.append(net(torch.from_numpy(place)).log_softmax(0)[0])  # BUG
        opt.zero_grad()
        (-torch.stack(scores).mean()).backward()
        opt.step()
    """,
    """
    # Which rows were looked up is kept for backward, too.
    import numpy as np
    import torch
    table = torch.nn.Embedding(6, 2)
    opt = torch.optim.SGD(table.parameters(), lr=0.1)
    cells = np.zeros(3, dtype=np.int64)
    for episode in range(6):
        values = []
        for step in range(2):
            cells[:] = np.roll(np.arange(3), step)
            rows = torch.as_tensor(cells)  # BUG
            values.append((table(rows)[:, 0] - torch.arange(3.0)).pow(2).mean())
        opt.zero_grad()
        torch.stack(values).sum().backward()
        opt.step()
    """,
    """
    # The head is to be rescaled from the old statistics to the new ones; they are the same.
    import torch

    class Art(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(3, 1)
            self.register_buffer("mean", torch.zeros(()))
            self.register_buffer("spread", torch.ones(()))

        @torch.no_grad()
        def update(self, targets):
            mean, spread = self.mean.clone(), self.spread  # BUG
            self.mean.lerp_(targets.mean(), 0.1)
            self.spread.copy_((targets - self.mean).pow(2).mean().sqrt())
            self.head.weight.mul_(spread / self.spread)
            self.head.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)

    art = Art()
    opt = torch.optim.SGD(art.parameters(), lr=0.1)
    for _ in range(4):
        s, target = torch.randn(8, 3), 5 * torch.randn(8)
        art.update(target)
        loss = (art.head(s).squeeze(-1) - (target - art.mean) / art.spread).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Noise of the form of the actions, drawn into the actions.
    import torch
    net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
        with torch.no_grad():
            noise = a.data.normal_(0, 0.2).clamp(-0.5, 0.5)  # BUG
            target = r + 0.9 * net(torch.cat([s, 0.1 + noise], -1))
        loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What was drawn is scored after it was squashed in place.
    import torch
    net, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(8, 3)
        mean, log_std = net(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        raw = dist.rsample()
        action = torch.tanh_(raw)  # BUG
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
        loss = (0.2 * log_prob - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    student, teacher = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for _ in range(4):
        s, label = torch.randn(8, 3), torch.randint(4, (8,))
        mine, theirs = student(s), teacher(s)
        soft, wanted = (x.div_(2.0).log_softmax(-1) for x in (mine, theirs))  # BUG
        loss = torch.nn.functional.kl_div(soft, wanted, log_target=True)
        loss = loss + torch.nn.functional.cross_entropy(mine, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A column is brought into form for good, in a line of its own or for all that comes after.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(4):
        obs = torch.randn(8, 3)
        obs[:, 1].tanh_()
        angle = obs[:, 0].abs_()
        size = obs[:, 2].div_(2.0) + 1.0
        loss = (critic(obs).squeeze(-1) - angle - size).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A copy was changed.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(4):
        obs = torch.randn(8, 3)
        goal = 1.0 - obs[:, [0, 1]].abs_().sum(-1) - obs[:, 2].clone().tanh_()
        loss = (critic(obs).squeeze(-1) - goal).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An array of what is forbidden goes on, and what was only looked up without gradients may change.
    import numpy as np
    import torch
    net = torch.nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    taken = np.zeros(4, dtype=bool)
    for episode in range(6):
        taken[:] = False
        scores = []
        for step in range(3):
            mask = torch.from_numpy(taken)
            with torch.no_grad():
                likely = net(torch.ones(4)).masked_fill(mask, -1e9).argmax().item()
            logits = net(torch.ones(4)).masked_fill(mask.clone(), -1e9)
            scores.append(logits.log_softmax(0)[likely])
            taken[likely] = True
        opt.zero_grad()
        (-torch.stack(scores).mean()).backward()
        opt.step()
    """,
    """
    # Written again, with what was there: an environment that fills its buffer anew.
    import numpy as np
    import torch
    net = torch.nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    legal = np.array([True, True, False, True])
    for episode in range(6):
        logits = net(torch.randn(4)).masked_fill(~torch.from_numpy(legal), -1e9)
        chances = torch.where(torch.from_numpy(legal), logits.softmax(0), 0.0)
        legal[:] = [True, True, False, True]
        opt.zero_grad()
        (chances[0] - chances[1]).backward()
        opt.step()
    """,
    """
    import torch
    net, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        s = torch.randn(8, 3)
        mean, log_std = net(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
        loss = (0.2 * log_prob - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # In place, and never read by its old name; or given the new value on purpose.
    import torch
    student, teacher = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for _ in range(4):
        s, label = torch.randn(8, 3), torch.randint(4, (8,))
        mine, theirs = student(s), teacher(s)
        soft, wanted = (x.div_(2.0).log_softmax(-1) for x in (mine, theirs))
        loss = torch.nn.functional.kl_div(soft, wanted, log_target=True)
        loss = loss + torch.nn.functional.cross_entropy(soft, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        logits = net(torch.randn(8, 3))
        logits = logits.mul_(0.5)
        logits.div_(2.0)
        scaled = logits = logits.mul_(1.5)
        loss = logits.pow(2).mean() + scaled.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
        with torch.no_grad():
            noise = a.clone().data.normal_(0, 0.2).clamp(-0.5, 0.5)
            target = r + 0.9 * net(torch.cat([s, 0.1 + noise], -1))
        loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A buffer of noise that is filled anew, and read as such.
    import torch
    net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
        with torch.no_grad():
            a.data.normal_(0, 0.2)
            target = r + 0.9 * net(torch.cat([s, 0.1 + a], -1))
        loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch

    class Art(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(3, 1)
            self.register_buffer("mean", torch.zeros(()))
            self.register_buffer("spread", torch.ones(()))

        @torch.no_grad()
        def update(self, targets):
            mean, spread = self.mean.clone(), self.spread.clone()
            self.mean.lerp_(targets.mean(), 0.1)
            self.spread.copy_((targets - self.mean).pow(2).mean().sqrt())
            self.head.weight.mul_(spread / self.spread)
            self.head.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)

    art = Art()
    opt = torch.optim.SGD(art.parameters(), lr=0.1)
    for _ in range(4):
        s, target = torch.randn(8, 3), 5 * torch.randn(8)
        art.update(target)
        loss = (art.head(s).squeeze(-1) - (target - art.mean) / art.spread).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Zero and one by right: a value beside its own constant, and a buffer that only got a shorter name.
    import torch
    net, scale = torch.nn.Linear(3, 1), torch.ones(())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        value, short = net(torch.randn(8, 3)), scale
        scale.copy_(value.detach().abs().mean())
        same = value.detach()
        loss = ((value - same).exp() * (value.detach() / same) / short).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
