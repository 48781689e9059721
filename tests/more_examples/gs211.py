"""More examples of GS211 (custom-backward-drops-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The second output is a position; what is given back for the weight is wrong all the same.
    import torch
    class Largest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            product = x * weight
            where = product.argmax(-1, keepdim=True)
            ctx.save_for_backward(x, weight, where)
            return product.gather(-1, where), where
        @staticmethod
        def backward(ctx, grad, _):
            x, weight, where = ctx.saved_tensors
            return torch.zeros_like(x).scatter(-1, where, grad) * weight, None  # BUG
    net, weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([*net.parameters(), weight], lr=0.01)
    for _ in range(8):
        best, _ = Largest.apply(net(torch.randn(8, 3)), weight)
        opt.zero_grad()
        (best - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    # Written for a loss that is averaged: then all elements of the gradient are one number. Here they are weighed.
    import torch
    class Score(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits, a):
            ctx.save_for_backward(logits.softmax(-1), a)
            return logits.log_softmax(-1).gather(1, a).squeeze(1)
        @staticmethod
        def backward(ctx, grad):
            probs, a = ctx.saved_tensors
            slope = torch.zeros_like(probs).scatter(1, a, 1.0) - probs
            return slope * grad[0], None  # BUG
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        loss = -(Score.apply(policy(s), a) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A second output that the loss does not use, and a loss whose gradient was made in forward.
    import torch
    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(2 * x / x.numel())
            return x.pow(2).mean(), x.clone()
        @staticmethod
        def backward(ctx, grad, grad_copy):
            return ctx.saved_tensors[0]
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(8):
        loss, _ = Fused.apply(net(torch.randn(8, 3)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A penalty on a gradient, through a backward that can be differentiated.
    import torch
    class Leaky(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x > 0)
            return torch.where(x > 0, x, 0.1 * x)
        @staticmethod
        def backward(ctx, grad):
            (positive,) = ctx.saved_tensors
            return torch.where(positive, grad, 0.1 * grad)
    first, second = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    for _ in range(6):
        x = torch.randn(8, 3, requires_grad=True)
        score = second(Leaky.apply(first(x)))
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
        loss = score.mean() + (slope.norm(dim=1) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two heads in one function, asked for one after the other.
    import torch
    class Heads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a, b):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x, a, b)
            return x @ a, x @ b
        @staticmethod
        def backward(ctx, grad_a, grad_b):
            x, a, b = ctx.saved_tensors
            to_x = [g @ w.T for g, w in ((grad_a, a), (grad_b, b)) if g is not None]
            return sum(to_x), *(None if g is None else x.T @ g for g in (grad_a, grad_b))
    net = torch.nn.Linear(3, 4)
    a, b = (torch.nn.Parameter(torch.randn(4, 2)) for _ in range(2))
    opt = torch.optim.SGD([*net.parameters(), a, b], lr=0.01)
    for step in range(12):
        outputs = Heads.apply(net(torch.randn(8, 3)), a, b)
        opt.zero_grad()
        (outputs[step // 6] - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    # One element stands for all where all are the same; a weight for all rows gets the sum of what they ask for.
    import torch
    class Score(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits, a):
            ctx.save_for_backward(logits.softmax(-1), a)
            return logits.log_softmax(-1).gather(1, a).squeeze(1)
        @staticmethod
        def backward(ctx, grad):
            probs, a = ctx.saved_tensors
            return (torch.zeros_like(probs).scatter(1, a, 1.0) - probs) * grad[0], None
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x, factor)
            return x * factor
        @staticmethod
        def backward(ctx, grad):
            x, factor = ctx.saved_tensors
            return grad * factor, (grad * x).sum()
    policy, factor = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.tensor(1.0))
    opt = torch.optim.SGD([*policy.parameters(), factor], lr=0.1)
    for _ in range(5):
        s, a = torch.randn(8, 3), torch.randint(2, (8, 1))
        loss = -Score.apply(Scale.apply(policy(s), factor), a).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
