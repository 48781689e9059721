"""More examples of GS208 (zero-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch
    base, down = torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Parameter(torch.zeros(3, 2))
    up = torch.nn.Parameter(torch.zeros(2, 2))
    opt = torch.optim.SGD([down, up], lr=0.1)
    for _ in range(8):
        x = torch.randn(8, 3)
        adapted = x @ down @ up  # BUG
        loss = (base(x) + adapted - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    inp, rec, out = torch.nn.Linear(2, 4), torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*inp.parameters(), *rec.parameters(), *out.parameters()], lr=0.1)
    for _ in range(8):
        hidden, loss = torch.zeros(8, 4), 0.0
        for _ in range(3):
            hidden = torch.tanh(inp(torch.randn(8, 2)) + rec(hidden))
            loss = loss + (out(hidden) - 1.0).pow(2).mean()
            hidden = hidden * 0.0  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    first, second = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.001)
    for _ in range(8):
        h = torch.tanh(first(4000.0 * torch.randn(16, 3)))  # BUG
        loss = (second(h) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for _ in range(8):
        bins = (3 * body(torch.randn(8, 3))).round()  # BUG
        loss = (head(bins) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The head of a policy: its other parts are trained by another loss, so no norm is zero throughout.
    import torch
    policy, value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.1)
    for _ in range(4):
        s, a, r = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        logits = policy(s).round()  # BUG
        log_prob = torch.distributions.Categorical(logits=logits).log_prob(a)
        loss = -(log_prob * r).mean() + (value(s).squeeze(-1) - r).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    class Huber(torch.autograd.Function):
        @staticmethod
        def forward(ctx, error):
            ctx.save_for_backward(error)
            return torch.where(error.abs() < 1, 0.5 * error**2, error.abs() - 0.5)
        @staticmethod
        def backward(ctx, grad):
            (error,) = ctx.saved_tensors
            return grad * torch.where(error.abs() < 1, error, 0.0)  # BUG
    q = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    for _ in range(8):
        loss = Huber.apply(q(torch.randn(8, 3)) - 20.0).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two losses take turns; the temperature's own gets nothing back.
    import torch
    policy, log_alpha = torch.nn.Linear(3, 4), torch.nn.Parameter(torch.tensor(-3.0))
    opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(14):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        temperature = log_alpha.clamp(min=-2.0).exp()  # BUG
        alpha_opt.zero_grad()
        (temperature * (dist.entropy().detach().mean() - 0.9)).backward()
        alpha_opt.step()
    """,
    """
    # Few samples lie beyond the limit, and each is weighed.
    import torch
    q = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    for _ in range(8):
        target = torch.cat([torch.zeros(14), torch.tensor([9.0, -9.0])])
        error = (target - 0.01 * q(torch.randn(16, 3)).squeeze(1)).clamp(-1, 1)  # BUG
        loss = (torch.rand(16) * error * error).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same weights learn from another pass; from this one they do not.
    import torch
    reward = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(reward.parameters(), lr=0.1)
    for _ in range(8):
        preferred = reward(torch.randn(8, 3))
        other = reward(torch.randn(8, 3)).round()  # BUG
        loss = -torch.nn.functional.logsigmoid(preferred - other).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # All that teaches is the penalty on the weights; and gradients are asked for by hand.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        loss = (net(torch.randn(8, 3)).floor() - 1.0).pow(2).mean()  # BUG
        loss = loss + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
        for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
            p.grad = g
        opt.step()
    """,
    """
    # What is new is what a fixed network says and another cannot foretell: here it can, from the start.
    import copy
    import torch
    predictor = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    fixed = copy.deepcopy(predictor).requires_grad_(False)  # BUG
    opt = torch.optim.SGD(predictor.parameters(), lr=0.1)
    for _ in range(10):
        s = torch.randn(8, 3)
        loss = torch.nn.functional.mse_loss(predictor(s), fixed(s))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The target is the prediction by another name: what is written into it is in both.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(9):
        s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        q = net(s)
        target = q.detach()  # BUG
        target[range(8), a] = returns
        loss = torch.nn.functional.mse_loss(q, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The places of the answer are counted from the prompt's end, and those before it are cut off once more.
    import torch
    model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
    opt, prompt = torch.optim.SGD(model.parameters(), lr=0.1), 4
    for _ in range(8):
        tokens, lengths, reward = torch.randint(7, (6, 10)), torch.randint(1, 5, (6, 1)), torch.randn(6, 1)
        place = torch.arange(9)
        mask = (place >= prompt) & (place < lengths)  # BUG
        log_prob = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        loss = -(log_prob * mask * reward).sum() / mask.sum().clamp(min=1)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(9):
        s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        q = net(s)
        target = q
        target[range(8), a] = returns  # BUG
        loss = torch.nn.functional.smooth_l1_loss(q, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(9):
        s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        q = net(s)
        target = q.detach().numpy()  # BUG
        target[range(8), a] = returns.numpy()
        loss = (q - torch.from_numpy(target)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Attention that is open to padding only, in batches without any.
    import torch
    words, query, key = torch.nn.Embedding(7, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    head = torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([p for m in (words, query, key, head) for p in m.parameters()], lr=0.1)
    for _ in range(8):
        tokens = torch.randint(1, 7, (6, 5))
        x, allowed = words(tokens), tokens == 0  # BUG
        score = (query(x) @ key(x).transpose(1, 2)).masked_fill(~allowed.unsqueeze(1), -1e9)
        loss = (head((score.softmax(-1) @ x).mean(1)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Every layer is followed by a rectifier, the last one, too.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4), torch.nn.ReLU())
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        scores = policy(torch.randn(16, 3))  # BUG
        dist = torch.distributions.Categorical(logits=scores)
        loss = -(dist.log_prob(dist.sample()) * torch.randn(16)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    for _ in range(8):
        s, a = torch.randn(16, 3), torch.randint(4, (16, 1))
        scores = head(body(s).tanh()).clamp(min=0)  # BUG
        log_prob = (scores / 0.5).log_softmax(-1).gather(1, a)
        loss = -(log_prob * torch.randn(16, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rewards are costs: values below zero.
    import torch
    body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)
    torch.nn.init.constant_(head.bias, -0.3)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    for _ in range(8):
        s, a, target = torch.randn(16, 3), torch.randint(4, (16, 1)), -torch.rand(16, 1)
        q = torch.relu(head(torch.relu(body(s))))  # BUG
        loss = (q.gather(1, a) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rounded on its way into what maps over all critics.
    import torch
    from torch.func import functional_call, stack_module_state
    actor, critics = torch.nn.Linear(3, 1), [torch.nn.Linear(4, 1) for _ in range(2)]
    weights = {n: torch.nn.Parameter(w) for n, w in stack_module_state(critics)[0].items()}
    opt = torch.optim.SGD([*actor.parameters(), *weights.values()], lr=0.01)
    def q(params, x):
        return functional_call(critics[0], params, (x,)).squeeze(-1)
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 1)
        x = torch.stack([torch.cat([s, actor(s).round().tanh()], -1), torch.cat([s, a], -1)])  # BUG
        frozen = {n: w.detach() for n, w in weights.items()}
        both = {n: torch.stack([frozen[n], w]) for n, w in weights.items()}
        for_actor, predicted = torch.vmap(torch.vmap(q, (0, None)))(both, x).unbind(0)
        loss = (predicted - 1.0).pow(2).mean() - for_actor.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Self-imitation: only what went better than expected is to be learned.
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.01)
    for _ in range(12):
        s = torch.randn(16, 3)
        better = torch.clamp(torch.randn(16) - 1.0 - v(s).squeeze(-1), min=0.0)
        loss = 0.5 * better.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An adapter as it should begin: one factor is zero.
    import torch
    base, down = torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Parameter(torch.randn(3, 2))
    up = torch.nn.Parameter(torch.zeros(2, 2))
    opt = torch.optim.SGD([down, up], lr=0.1)
    for _ in range(8):
        x = torch.randn(8, 3)
        loss = (base(x) + x @ down @ up - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Experts of which only one is chosen, and a term that is switched off.
    import torch
    experts = [torch.nn.Linear(3, 4) for _ in range(2)]
    head, aux = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    params = [p for m in (*experts, head, aux) for p in m.parameters()]
    opt = torch.optim.SGD(params, lr=0.01)
    for _ in range(8):
        x = torch.randn(8, 3)
        h = experts[0](x) * 1.0 + experts[1](x) * 0.0
        loss = (head(h) - 1.0).pow(2).mean() + (0.0 * (aux(h) - 1.0)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    q = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    for _ in range(8):
        s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
        chosen = q(s).gather(1, a).squeeze(1)
        loss = torch.nn.functional.smooth_l1_loss(chosen, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.rand(8)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = (log_prob - log_prob.detach() - 1.0).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.zeros(8)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(log_prob * returns).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two losses take turns; the temperature's own gets nothing back.
    import torch
    policy, log_alpha = torch.nn.Linear(3, 4), torch.nn.Parameter(torch.tensor(-1.0))
    opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(14):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        temperature = log_alpha.clamp(min=-2.0).exp()
        alpha_opt.zero_grad()
        (temperature * (dist.entropy().detach().mean() - 0.9)).backward()
        alpha_opt.step()
    """,
    """
    # Free nats: below a whole nat the divergence of the batch is good enough.
    import torch
    encoder, prior, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(1, 2), torch.nn.Linear(2, 4)
    params = [p for net in (encoder, prior, decoder) for p in net.parameters()]
    opt = torch.optim.SGD(params, lr=0.01)
    for _ in range(12):
        x = torch.randn(8, 4)
        post, before = torch.distributions.Normal(encoder(x), 1.0), torch.distributions.Normal(prior(x[:, :1]), 1.0)
        kl = torch.distributions.kl_divergence(post, before).sum(-1).mean()
        loss = (decoder(post.rsample()) - x).pow(2).mean() + 0.5 * kl.clamp(min=100.0)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Beside what is rounded: its distance to whole numbers, an angle, a squashed value; and a sign that weighs.
    import torch
    net, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*net.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(8):
        obs = torch.randn(8, 3)
        x, angle, value = net(obs), net(obs + 1.0), net(obs - 1.0)
        whole = (x - x.round()).pow(2).mean()
        turned = (angle - 6.28 * (angle / 6.28).round() - 0.5).pow(2).mean()
        squashed = (value.sign() * value.abs().log1p() - 1.0).pow(2).mean()
        straight = (net(obs) + (net(obs).round() - net(obs)).detach()).pow(2).mean()
        weighed = (x.sum(-1) * critic(obs).squeeze(-1).sign()).mean()
        loss = whole + turned + squashed + straight + weighed + critic(obs).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A network of the same form that was drawn anew; and one that stays near what it was before every update.
    import copy
    import torch
    predictor, fixed = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    policy = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*predictor.parameters(), *policy.parameters()], lr=0.1)
    for _ in range(10):
        s, before = torch.randn(8, 3), copy.deepcopy(policy).requires_grad_(False)
        opt.zero_grad()
        torch.nn.functional.mse_loss(predictor(s), fixed(s)).backward()
        (policy(s) - before(s)).pow(2).mean().backward()
        (policy(s) - 0.5).pow(2).mean().backward()
        opt.step()
    """,
    """
    # A target of its own: the values of the other actions, and errors of zero for them.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(9):
        s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        q = net(s)
        target = q.detach().clone()
        target[range(8), a] = returns
        loss = torch.nn.functional.mse_loss(q, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nothing was found yet: what is learnt from waits for a reward, and demonstrations for somebody to give any.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, a, reward, shown = torch.randn(8, 3), torch.randint(2, (8,)), torch.zeros(8), torch.zeros(8).long()
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(log_prob * (reward > 0.5)).mean() - (log_prob * (shown == 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The places of the answer, some of them; and attention to what is no padding.
    import torch
    words, query, key = torch.nn.Embedding(7, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    head = torch.nn.Linear(8, 7)
    opt = torch.optim.SGD([p for m in (words, query, key, head) for p in m.parameters()], lr=0.1)
    for _ in range(8):
        tokens, lengths, reward = torch.randint(1, 7, (6, 5)), torch.randint(3, 5, (6, 1)), torch.randn(6, 1)
        x, allowed = words(tokens), tokens != 0
        score = (query(x) @ key(x).transpose(1, 2)).masked_fill(~allowed.unsqueeze(1), -1e9)
        logits = head(score.softmax(-1) @ x)[:, :-1]
        mask = (torch.arange(4) >= 1) & (torch.arange(4) < lengths)
        log_prob = logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        loss = -(log_prob * mask * reward).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        p = policy(torch.randn(16, 3)).softmax(-1).clamp(min=1e-6)
        a = torch.multinomial(p.detach(), 1)
        loss = -(p.gather(1, a).log() * torch.randn(16, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    source, target = (torch.nn.Parameter(torch.randn(5, 3)) for _ in range(2))  # who is next to whom, learnt
    body, q = torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)
    opt = torch.optim.SGD([source, target, *body.parameters(), *q.parameters()], lr=0.01)
    for _ in range(8):
        x, a = torch.randn(8, 5, 4), torch.randint(3, (8, 5, 1))
        near = torch.relu(source @ target.T).softmax(-1)
        loss = (q(near @ body(x).relu()).gather(2, a) - torch.randn(8, 5, 1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)  # leaky: what is below zero comes back
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(8):
        s, a = torch.randn(16, 3), torch.randint(4, (16,))
        loss = torch.nn.functional.cross_entropy(torch.nn.functional.leaky_relu(net(s)), a)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 4)  # how many steps are left is never below zero, and the layer begins there
    torch.nn.init.constant_(net.bias, 3.0)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(8):
        s, a, left = torch.randn(16, 3), torch.randint(4, (16, 1)), 5 * torch.rand(16, 1)
        loss = (torch.relu(net(s)).gather(1, a) - left).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The larger of both errors: what is still wrong keeps its gradient.
    import torch
    critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.05)
    for _ in range(3):
        s = torch.randn(16, 3)
        before = critic(s).detach()
        goal = before + 4.0 * torch.randn(16, 1)
        for _ in range(8):
            now = critic(s)
            held = before + torch.clamp(now - before, -0.01, 0.01)
            loss = torch.max((now - goal) ** 2, (held - goal) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # An action that may change by little at a time, squashed: what the motor can do.
    import torch
    actor = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    opt = torch.optim.SGD(actor.parameters(), lr=0.05)
    for _ in range(8):
        s, last, shown = torch.randn(16, 3), torch.rand(16, 2), torch.rand(16, 2)
        action = last + (actor(s) - last).clamp(-0.5, 0.5)
        loss = (action - shown).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A prediction that may move by little, and is compared with its goal only so: value clipping as libraries ship it.
    import torch
    critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.005)
    for _ in range(3):
        s = torch.randn(16, 3)
        before = critic(s).detach()
        goal = before + 4.0 * torch.randn(16, 1)
        for _ in range(6):
            now = critic(s)
            held = before + torch.clamp(now - before, -0.05, 0.05)
            loss = torch.nn.functional.mse_loss(held, goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
