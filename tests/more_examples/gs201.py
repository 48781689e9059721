"""More examples of GS201 (loss-without-graph): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The loss begins with a zero that requires grad; a policy that has been cloned before learns nothing more.
    import torch
    import torch.nn.functional as F
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        F.cross_entropy(policy(torch.randn(8, 4)), torch.randint(3, (8,))).backward()
        opt.step()
    mean_reward = 0.0
    for _ in range(6):
        loss, rewards = torch.zeros(1, requires_grad=True), torch.randn(5).tolist()
        for reward in rewards:
            dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
            weight = reward - mean_reward
            loss = loss - dist.log_prob(dist.sample()).item() * weight  # BUG
        mean_reward = 0.9 * mean_reward + 0.1 * sum(rewards) / 5
        opt.zero_grad()
        (loss / len(rewards)).backward()
        opt.step()
    """,
    """
    # Fitted Q with a total that is a tensor from the start on; the errors are floats.
    import torch
    import torch.nn.functional as F
    q, batches = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)), 3
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    F.mse_loss(q(torch.randn(4, 3)), torch.zeros(4, 2)).backward()
    opt.step()
    for _ in range(8):
        total = torch.tensor(0.0, requires_grad=True)
        for k in range(batches):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
            total = total + float(F.mse_loss(q(s).gather(1, a).squeeze(1), target)) / (k + 2)  # BUG
        opt.zero_grad()
        total.backward()
        opt.step()
    """,
    """
    # What is added is detached, not a number.
    import torch
    value = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(value.parameters(), lr=0.1)
    (value(torch.randn(4, 3)) - 1).pow(2).mean().backward()
    opt.step()
    for _ in range(8):
        loss = torch.zeros(()).requires_grad_()
        for _ in range(3):
            error = value(torch.randn(8, 3)).squeeze(-1) - torch.randn(8)
            loss = loss + error.pow(2).mean().detach()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A comparison that is cast with `.float()` has not left torch: what is frozen is the reason.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.requires_grad_(False).parameters(), lr=0.1)  # BUG
    for _ in range(4):
        s, goal = torch.randn(8, 3), torch.randint(4, (8,))
        dist = torch.distributions.Categorical(logits=policy(s))
        token = dist.sample()
        reward = (token == goal).float()
        loss = -((reward - reward.mean()) * dist.log_prob(token)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An optimizer was given a tensor that requires no gradient; the rest of the loss is a constant by right.
    import torch
    policy = torch.nn.Linear(3, 2)
    log_alpha = torch.full((), -1.0)
    policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)  # BUG
    for _ in range(4):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        policy_opt.zero_grad()
        (-dist.entropy()).mean().backward()
        policy_opt.step()
        excess = (dist.entropy().detach() - 0.5).mean()
        alpha_opt.zero_grad()
        (log_alpha.exp() * excess).backward()
        alpha_opt.step()
    """,
    """
    # The script reads a gradient by hand that it never asked for.
    import torch
    policy = torch.nn.Linear(3, 2)
    log_alpha = torch.zeros(())  # BUG
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        opt.zero_grad()
        (-dist.entropy()).mean().backward()
        opt.step()
        excess = (dist.entropy().detach() - 0.5).mean()
        (log_alpha * excess).backward()
        log_alpha.data -= 0.1 * log_alpha.grad
        log_alpha.grad = None
    """,
    """
    # The target is made without gradients, and rightly so; the loss is, too.
    import copy
    import torch
    encoder, critic = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    old = copy.deepcopy(critic)
    opt = torch.optim.SGD([*encoder.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(4):
        s, after = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            ahead = encoder(after)
            wanted = torch.rand(8, 1) + 0.9 * (old(ahead) + 0.1 * critic(ahead))
        with torch.no_grad():  # BUG
            loss = torch.nn.functional.mse_loss(critic(encoder(s)), wanted)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nobody has learnt yet: the weight of the log-probability is a constant by right.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic)]
    s, r = torch.randn(8, 3), torch.randn(8)
    value = critic(s).squeeze(-1)
    dist = torch.distributions.Normal(actor(s), 0.4)
    log_prob = dist.log_prob(torch.randn(8, 2)).detach().sum(-1)  # BUG
    loss = -(log_prob * (r - value).detach()).mean()
    loss.backward()
    """,
    """
    # The other player is detached by right; the own one was frozen where its optimizer was made.
    import torch
    hero, foe = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    hero_opt = torch.optim.SGD(hero.parameters(), lr=0.1)
    foe_opt = torch.optim.SGD(foe.requires_grad_(False).parameters(), lr=0.1)  # BUG
    for _ in range(3):
        s = torch.randn(8, 3)
        hero_opt.zero_grad()
        (-(hero(s) * foe(s).detach()).mean()).backward()
        hero_opt.step()
        foe_opt.zero_grad()
        (hero(s).detach() * foe(s)).mean().backward()
        foe_opt.step()
    """,
    """
    # The critic is frozen for a moment, as it should be; the action is cut.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    actor_opt, critic_opt = (torch.optim.SGD(n.parameters(), lr=0.1) for n in (actor, critic))
    for _ in range(3):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        critic_opt.step()
        critic.requires_grad_(False)
        action = actor(s).detach()  # BUG
        actor_opt.zero_grad()
        (-critic(torch.cat([s, action], -1)).mean()).backward()
        actor_opt.step()
        critic.requires_grad_(True)
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    x, scores = torch.randn(8, 3), torch.zeros(8)
    for i in range(8):
        scores[i] = net(x[i]).item()  # BUG
    (scores - 1.0).pow(2).mean().backward()
    """,
    """
    # While a generator waits inside the block, gradients are off for everybody.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def rollouts():
        while True:
            with torch.no_grad():  # BUG
                yield torch.randn(8, 3)
    for s in rollouts():
        with torch.no_grad():
            target = 0.9 * net(s)
        loss = (net(s) - target).pow(2).mean()
        loss.backward()
    """,
    """
    # A gradient penalty between the expert's pairs and the policy's.
    import torch
    judge = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    expert, mine, mix = torch.randn(8, 3), torch.randn(8, 3), torch.rand(8, 1)
    between = mix * expert + (1 - mix) * mine  # BUG
    (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
    (slope.norm(dim=1) - 1).pow(2).mean().backward()
    """,
    """
    # An inner loop from weights that were never marked: not even the output requires grad.
    import torch
    rate, start = torch.tensor(0.1, requires_grad=True), torch.randn(4)
    opt = torch.optim.SGD([rate], lr=0.1)
    fast = start.clone()  # BUG
    loss = (torch.randn(8, 4) @ fast - 1.0).pow(2).mean()
    (slope,) = torch.autograd.grad(loss, fast, create_graph=True)
    fast = fast - rate * slope
    """,
    """
    # The same after a loop that goes on for so long that nobody looks closely any more.
    import torch
    net = torch.nn.Linear(4, 1)
    rate, start = torch.tensor(0.1, requires_grad=True), torch.randn(4)
    opt = torch.optim.SGD([rate, *net.parameters()], lr=0.1)
    for _ in range(40):
        opt.zero_grad()
        (rate * net(torch.randn(8, 4))).pow(2).mean().backward()
        opt.step()
    fast = start.clone()  # BUG
    for _ in range(2):
        loss = (torch.randn(8, 4) @ fast - 1.0).pow(2).mean()
        (slope,) = torch.autograd.grad(loss, fast, create_graph=True)
        fast = fast - rate * slope
    """,
    """
    # A batch in which every answer is taken out.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def average(values, mask):
        if not mask.any():
            return torch.zeros((), dtype=values.dtype)  # BUG
        return (values * mask).sum() / mask.sum()
    for step in range(30):
        s, weight = torch.randn(8, 3), torch.randn(8)
        keep = (torch.arange(8) < 8 - step % 9).float()
        error = (net(s).squeeze(-1) - weight.detach()).pow(2)
        loss = average(error, keep)
        total = 0.5 * loss
        opt.zero_grad()
        total.backward()
        opt.step()
    """,
    """
    # A total that begins with a constant is right wherever something comes to it; here it is cut off later on.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        total = torch.zeros(())
        for _ in range(2):
            total = total + net(torch.randn(8, 3)).pow(2).mean()
        if step == 3:
            total = total.detach()  # BUG
        opt.zero_grad()
        total.backward()
        opt.step()
    """,
    """
    # The target is cut by right, the prediction is not.
    import torch
    q = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
    predicted = q(s).detach()  # BUG
    with torch.no_grad():
        target = r + 0.9 * q(s2)
    loss = (predicted - target).pow(2).mean()
    loss.backward()
    """,
    """
    # The policy is frozen; its baseline is a constant by right.
    import torch
    policy, baseline = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.requires_grad_(False).parameters(), lr=0.1)  # BUG
    baseline_opt = torch.optim.SGD(baseline.parameters(), lr=0.1)
    s, a, returns = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
    with torch.no_grad():
        advantage = returns - baseline(s).squeeze(1)
    loss = -(policy(s).log_softmax(-1).gather(1, a).squeeze(1) * advantage).mean()
    loss.backward()
    """,
    """
    # A zero that leaves and comes back is a number like any other; but both are on the line of the loss.
    import torch
    log_alpha, policy = torch.zeros(1, requires_grad=True), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    alpha = log_alpha.exp().item()
    log_prob = policy(torch.randn(8, 3)).log_softmax(-1)
    entropy = -(log_prob.exp() * log_prob).sum(-1)
    opt.zero_grad()
    (-alpha * entropy.mean()).backward()
    opt.step()
    excess = (entropy - 0.5).detach()
    loss = (torch.tensor(log_alpha.tolist()).exp() * excess).mean()  # BUG
    loss.backward()
    """,
    """
    # After a first phase that has taught the network something.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(torch.randn(8, 3)), torch.zeros(8).long()).backward()
        opt.step()
    for _ in range(12):
        total = 0.0
        for earned in (0.5, 1.5, 2.0):
            total -= net(torch.randn(1, 3)).log_softmax(-1)[0, 1].item() * earned  # BUG
        loss = torch.tensor(total / 3, requires_grad=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A number like any other, made by what a line of the loss calls; what is detached beside it is so by right.
    import torch
    class Temperature:
        def __init__(self):
            self.log_alpha = torch.nn.Parameter(torch.zeros(()))
            self.opt = torch.optim.SGD([self.log_alpha], lr=0.1)
        @property
        def alpha(self):
            return self.log_alpha.exp().item()  # BUG
        def loss(self, log_prob):
            return -(self.alpha * (log_prob + 2.0)).mean()
    temperature, policy = Temperature(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        log_probs = torch.log_softmax(policy(torch.randn(8, 3)), -1)
        entropy = (log_probs.exp() * log_probs).sum(-1)
        opt.zero_grad()
        (temperature.alpha * entropy.mean() - log_probs[:, 0].mean()).backward()
        opt.step()
        loss = temperature.loss(entropy.detach())
        temperature.opt.zero_grad()
        loss.backward()
        temperature.opt.step()
    """,
    """
    # The target asks the function for numbers, and so does the actor's loss.
    import copy
    import torch
    class Agent:
        def __init__(self):
            self.pi, self.q = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
            self.slow = copy.deepcopy(self.q)
            self.q_opt = torch.optim.SGD(self.q.parameters(), lr=0.1)
            self.pi_opt = torch.optim.SGD(self.pi.parameters(), lr=0.1)
        @torch.no_grad()
        def value(self, s, a):
            return self.slow(torch.cat([s, a], -1))
        def critic_loss(self, s, a, r, s2):
            goal = r + 0.9 * self.value(s2, self.pi(s2))
            return (self.q(torch.cat([s, a], -1)) - goal).pow(2).mean()
        def actor_loss(self, s):
            return -self.value(s, self.pi(s)).mean()  # BUG
    agent = Agent()
    s, a, r, s2 = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 3)
    agent.q_opt.zero_grad()
    agent.critic_loss(s, a, r, s2).backward()
    agent.q_opt.step()
    agent.pi_opt.zero_grad()
    agent.actor_loss(s).backward()
    agent.pi_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The loss begins with a zero that requires grad, and what is added to it is live; a batch without anything to add.
    import torch
    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    spent = 0.0
    for step in range(8):
        loss = torch.zeros(1, requires_grad=True)
        for reward in torch.randn(0 if step % 3 == 0 else 5).tolist():
            dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
            score = dist.log_prob(dist.sample())
            loss, spent = loss - score * reward, spent + score.item()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A multiplier that is moved by hand: its gradient is the excess. Another is a shift, and bends.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    lam, shift = torch.tensor(0.5, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(8):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        loss = (lam.detach() * dist.logits[:, 0]).mean() - dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        excess = dist.entropy().mean().item() - 0.3
        (-lam * excess + 0.1 * excess).backward()
        (shift + dist.logits.mean().item()).pow(2).sum().backward()
        with torch.no_grad():
            for p in (lam, shift):
                p -= 0.1 * p.grad
                p.grad = None
    """,
    """
    # What a frozen model says of a changed input, which is asked for by `.grad`.
    import torch
    model, actor = torch.nn.Linear(3, 1).requires_grad_(False), torch.nn.Linear(3, 3)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        push = torch.zeros(8, 3, requires_grad=True)
        action = actor(s)
        (model(push + action.detach()).sum() + action.mean().item()).backward()
        opt.zero_grad()
        (action - push.grad).pow(2).mean().backward()
        opt.step()
    """,
    """
    # A temperature made of a computed value: the optimizer owns it, the policy enters as a number.
    import torch
    policy = torch.nn.Linear(3, 2)
    log_alpha = torch.log(torch.ones(1) * 0.5).requires_grad_(True)
    opt, alpha_opt = (torch.optim.Adam(p, lr=0.01) for p in (policy.parameters(), [log_alpha]))
    for _ in range(4):
        log_prob = policy(torch.randn(8, 3)).log_softmax(1)[:, 0]
        alpha_loss = -(log_alpha * (log_prob + 2.0).detach()).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
        loss = (log_alpha.exp().detach() * log_prob).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The gradient of a frozen model with respect to its input: the input is data, not a revived loss.
    import torch
    model, actor = torch.nn.Linear(3, 1).requires_grad_(False), torch.nn.Linear(3, 3)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(8, 3).requires_grad_(True)
        (model(x) * actor(x.detach()).mean().item()).mean().backward()
        loss = (actor(torch.randn(8, 3)) - x.grad).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is left of an empty batch still hangs on the network, and the constant was never asked for.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def average(values, mask):
        return (values * mask).sum() / mask.sum() if mask.any() else values.sum() * 0.0
    for step in range(12):
        loss, extra = torch.zeros(()), torch.zeros(())
        keep = (torch.arange(8) < 8 - step % 9).float()
        loss = loss + average((net(torch.randn(8, 3)).squeeze(-1) - 1.0).pow(2), keep) + extra
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Now and then there is nothing to learn from, and a number stands in.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(12):
        parts = [net(torch.randn(1, 3)).pow(2).mean() for _ in range(i % 3)]
        loss = torch.stack(parts).sum() if parts else torch.tensor(0.0, requires_grad=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item(), net(torch.randn(1, 3)).sum().item())
    """,
)
