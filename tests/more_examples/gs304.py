"""More examples of GS304 (cross-loss-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A soft value that is fitted to its critic, alive, in one loss with the critic's own.
    import torch
    actor, q, v, old = (torch.nn.Linear(n, m) for n, m in ((3, 2), (4, 1), (3, 1), (3, 1)))
    judges = torch.optim.Adam([*q.parameters(), *v.parameters()], lr=1e-3)
    act = torch.optim.Adam(actor.parameters(), lr=1e-3)

    def draw(s):
        mean, log_std = actor(s).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        drawn = dist.rsample()
        return torch.cat([s, drawn], -1), dist.log_prob(drawn)

    for _ in range(6):
        s, a, after, reward = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3), torch.randn(8, 1)
        pair, score = draw(s)
        soft = q(pair) - 0.2 * score  # BUG
        error = reward + 0.9 * old(after).detach() - q(torch.cat([s, a], -1))
        judges.zero_grad()
        ((v(s) - soft).pow(2).mean() + error.pow(2).mean()).backward()
        judges.step()
        pair, score = draw(s)
        act.zero_grad()
        (0.2 * score - q(pair)).mean().backward()
        act.step()
    """,
    """
    # The value is fitted to the smaller of a frozen critic and a live one.
    import copy
    import torch
    one, two, value = torch.nn.Linear(5, 1), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    frozen_one, frozen_two = copy.deepcopy(one).requires_grad_(False), copy.deepcopy(two).requires_grad_(False)
    critic_opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s, sa, y = torch.randn(8, 3), torch.randn(8, 5), torch.randn(8, 1)
        smaller = torch.minimum(frozen_one(sa), two(sa))  # BUG
        error = value(s) - smaller
        value_loss = (error.abs() * (0.7 - (error > 0).float()).abs() * error.abs()).mean()
        critic_loss = (one(sa) - y).pow(2).mean() + (two(sa) - y).pow(2).mean()
        value_opt.zero_grad()
        critic_opt.zero_grad()
        (value_loss + critic_loss).backward()
        value_opt.step()
        critic_opt.step()
        with torch.no_grad():
            for pair in ((frozen_one, one), (frozen_two, two)):
                for old, new in zip(pair[0].parameters(), pair[1].parameters()):
                    old.lerp_(new, 0.05)
    """,
    """
    # Side by side, and the first of them.
    import copy
    import torch
    one, two, value = torch.nn.Linear(5, 1), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    frozen_one, frozen_two = copy.deepcopy(one).requires_grad_(False), copy.deepcopy(two).requires_grad_(False)
    critic_opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s, sa, y = torch.randn(8, 3), torch.randn(8, 5), torch.randn(8, 1)
        asked = torch.stack([
            one(sa),  # BUG
            frozen_two(sa),
        ])
        value_loss = torch.nn.functional.mse_loss(value(s), asked.amin(0))
        critic_loss = (one(sa) - y).pow(2).mean() + (two(sa) - y).pow(2).mean()
        value_opt.zero_grad()
        critic_opt.zero_grad()
        (value_loss + critic_loss).backward()
        value_opt.step()
        critic_opt.step()
        with torch.no_grad():
            for pair in ((frozen_one, one), (frozen_two, two)):
                for old, new in zip(pair[0].parameters(), pair[1].parameters()):
                    old.lerp_(new, 0.05)
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    def descend(network):
        with torch.no_grad():
            for p in network.parameters():
                p -= 0.1 * p.grad
    for _ in range(5):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        descend(critic)
        for p in [*actor.parameters(), *critic.parameters()]:
            p.grad = None
        actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
        actor_loss.backward()
        descend(actor)
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        opt.zero_grad()
        (critic(s) - s[:, :1]).pow(2).mean().backward()
        first = [p.grad for p in critic.parameters()]  # BUG
        opt.zero_grad(set_to_none=False)
        (critic(s) + s[:, 1:2]).pow(2).mean().backward()
        for p, other in zip(critic.parameters(), first):
            p.grad = p.grad + other
        opt.step()
    """,
    """
    # The bonus's weights are made of features that were cut off, and its network of the same features, live.
    import torch
    features, value, bonus = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    value_opt = torch.optim.SGD([*features.parameters(), *value.parameters()], lr=0.1)
    bonus_opt = torch.optim.SGD(bonus.parameters(), lr=0.1)
    for _ in range(6):
        h = torch.tanh(features(torch.randn(8, 3)))
        with torch.no_grad():
            worth = value(h.detach())
        extra = bonus(h)  # BUG
        bonus_loss = (extra - worth).abs().mean()
        value_loss = (value(h) - 1.0).pow(2).mean()
        value_opt.zero_grad()
        bonus_opt.zero_grad()
        (value_loss + 0.5 * bonus_loss).backward()
        value_opt.step()
        bonus_opt.step()
    """,
    """
    # The start of the dream is cut off from the model; the dream is not.
    import torch
    model, critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    reward = torch.nn.Linear(4, 1)
    model_opt = torch.optim.SGD([*model.parameters(), *reward.parameters()], lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, after = torch.randn(8, 4), torch.randn(8, 4)
        z = torch.tanh(model(s))
        model_loss = (z - after).pow(2).mean() + (reward(z) - 1.0).pow(2).mean()
        dream = torch.tanh(model(z.detach()))
        critic_loss = (critic(dream) - 1.0).pow(2).mean()  # BUG
        model_opt.zero_grad()
        critic_opt.zero_grad()
        (model_loss + critic_loss).backward()
        model_opt.step()
        critic_opt.step()
    """,
    """
    # An expected value is fitted: the policy's probabilities in it are live.
    import torch
    pi, q = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
    q_opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, a, returns = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8)
        dist, values = torch.distributions.Categorical(logits=pi(s)), q(s)
        expected = (dist.probs * values).sum(-1)  # BUG
        q_loss = torch.nn.functional.smooth_l1_loss(expected, returns)
        gain = (values.gather(1, a).squeeze(1) - expected).detach()
        pi_loss = -(dist.log_prob(a.squeeze(1)) * gain).mean()
        pi_opt.zero_grad()
        q_opt.zero_grad()
        (q_loss + pi_loss).backward()
        pi_opt.step()
        q_opt.step()
    """,
    """
    # Errors of the critic are corrected by a ratio that is live.
    import torch
    pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    log_std = torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*pi.parameters(), log_std, *v.parameters()], lr=0.05)
    for _ in range(6):
        s, a, returns, old = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8), -3 - torch.rand(8)
        log_prob = torch.distributions.Normal(pi(s), log_std.exp()).log_prob(a).sum(-1)
        value = v(s).squeeze(-1)
        gain = (returns - value).detach()
        ratio = (log_prob - old).exp()
        corrected = ratio.clamp(max=1.0)  # BUG
        loss = (corrected * (value - returns).square()).mean() - (ratio * gain).clamp(max=3.0).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Terminations are trained by advantages, and live in the target of the values of options.
    import torch
    values, ends = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    value_opt = torch.optim.SGD(values.parameters(), lr=0.1)
    end_opt = torch.optim.SGD(ends.parameters(), lr=0.1)
    for _ in range(6):
        s, ahead, option, reward = torch.randn(8, 3), torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            following = values(ahead)
            stay, best = following.gather(1, option), following.max(1, keepdim=True).values
        end = ends(ahead).sigmoid().gather(1, option)  # BUG
        target = reward + 0.9 * (stay - end * (stay - best))
        value_loss = (values(s).gather(1, option) - target).pow(2).mean()
        end_loss = (ends(ahead).sigmoid().gather(1, option) * (stay - best)).mean()
        value_opt.zero_grad()
        end_opt.zero_grad()
        value_loss.backward()
        end_loss.backward()
        value_opt.step()
        end_opt.step()
    """,
    """
    # What the critic is to be lowered at comes from a helper, with a path back to the policy.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)
        def forward(self, s):
            return torch.tanh(self.layer(s))
    policy, critic = Policy(), torch.nn.Linear(5, 1)
    policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    def value(s, a):
        return critic(torch.cat([s, a], -1))
    def proposed(s):
        a = policy(s)  # BUG
        return torch.stack([a, torch.rand_like(a)])
    def too_high(s):
        return torch.stack([value(s, a) for a in proposed(s)]).logsumexp(0).mean()
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        policy_opt.zero_grad()
        critic_opt.zero_grad()
        ((value(s, a) - 1.0).pow(2).mean() + too_high(s)).backward()
        critic_opt.step()
        (-value(s, policy(s)).mean()).backward()
        policy_opt.step()
    """,
    """
    # The temperature's loss trains the policy, too.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD([log_alpha], lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, returns = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - returns).pow(2).mean().backward()
        critic_opt.step()
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        action = dist.rsample()
        log_prob = dist.log_prob(action).sum(-1, keepdim=True)
        alpha = log_alpha.exp().detach()
        policy_loss = (alpha * log_prob - critic(torch.cat([s, action], -1))).mean()
        alpha_loss = -(log_alpha * (log_prob - 2.0)).mean()  # BUG
        opt.zero_grad()
        alpha_opt.zero_grad()
        (policy_loss + alpha_loss).backward()
        opt.step()
        alpha_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The same with the soft value detached; and a consistency of values and policy in which all are to learn.
    import torch
    actor, q, v, old, w = (torch.nn.Linear(n, m) for n, m in ((3, 2), (4, 1), (3, 1), (3, 1), (3, 1)))
    judges = torch.optim.Adam([*q.parameters(), *v.parameters()], lr=1e-3)
    path = torch.optim.Adam([*actor.parameters(), *w.parameters()], lr=1e-3)
    for _ in range(6):
        s, a, after, reward = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3), torch.randn(8, 1)
        mean, log_std = actor(s).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        drawn = dist.rsample()
        soft = (q(torch.cat([s, drawn], -1)) - 0.2 * dist.log_prob(drawn)).detach()
        error = reward + 0.9 * old(after).detach() - q(torch.cat([s, a], -1))
        judges.zero_grad()
        ((v(s) - soft).pow(2).mean() + error.pow(2).mean()).backward()
        judges.step()
        path.zero_grad()
        gap = w(s) + 0.2 * dist.log_prob(a) - reward - 0.9 * old(after).detach()
        gap.pow(2).mean().backward()
        path.step()
    """,
    """
    # Both frozen.
    import copy
    import torch
    one, two, value = torch.nn.Linear(5, 1), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    frozen_one, frozen_two = copy.deepcopy(one).requires_grad_(False), copy.deepcopy(two).requires_grad_(False)
    critic_opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s, sa, y = torch.randn(8, 3), torch.randn(8, 5), torch.randn(8, 1)
        value_loss = (value(s) - torch.minimum(frozen_one(sa), frozen_two(sa))).pow(2).mean()
        critic_loss = (one(sa) - y).pow(2).mean() + (two(sa) - y).pow(2).mean()
        value_opt.zero_grad()
        critic_opt.zero_grad()
        (value_loss + critic_loss).backward()
        value_opt.step()
        critic_opt.step()
        with torch.no_grad():
            for pair in ((frozen_one, one), (frozen_two, two)):
                for old, new in zip(pair[0].parameters(), pair[1].parameters()):
                    old.lerp_(new, 0.05)
    """,
    """
    # What the fit leaves in the critic is cleared before the critic learns.
    import copy
    import torch
    one, two, value = torch.nn.Linear(5, 1), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    frozen_one, frozen_two = copy.deepcopy(one).requires_grad_(False), copy.deepcopy(two).requires_grad_(False)
    critic_opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s, sa, y = torch.randn(8, 3), torch.randn(8, 5), torch.randn(8, 1)
        value_loss = (value(s) - torch.minimum(frozen_one(sa), two(sa))).pow(2).mean()
        value_opt.zero_grad()
        value_loss.backward()
        value_opt.step()
        critic_loss = (one(sa) - y).pow(2).mean() + (two(sa) - y).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        with torch.no_grad():
            for pair in ((frozen_one, one), (frozen_two, two)):
                for old, new in zip(pair[0].parameters(), pair[1].parameters()):
                    old.lerp_(new, 0.05)
    """,
    """
    # The smaller of a frozen value and a live one is what is fitted, to numbers.
    import copy
    import torch
    one, two, value = torch.nn.Linear(5, 1), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    frozen_one, frozen_two = copy.deepcopy(one).requires_grad_(False), copy.deepcopy(two).requires_grad_(False)
    critic_opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(6):
        s, sa, y = torch.randn(8, 3), torch.randn(8, 5), torch.randn(8, 1)
        value_loss = (value(s) - y).pow(2).mean()
        bounded = torch.minimum(frozen_one(sa) + 0.1, one(sa))
        critic_loss = (bounded - y).pow(2).mean() + (one(sa) - y).pow(2).mean() + (two(sa) - y).pow(2).mean()
        value_opt.zero_grad()
        critic_opt.zero_grad()
        (value_loss + critic_loss).backward()
        value_opt.step()
        critic_opt.step()
        with torch.no_grad():
            for pair in ((frozen_one, one), (frozen_two, two)):
                for old, new in zip(pair[0].parameters(), pair[1].parameters()):
                    old.lerp_(new, 0.05)
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    def descend(network):
        with torch.no_grad():
            for p in network.parameters():
                p -= 0.1 * p.grad
                p.grad = None
    for _ in range(5):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
        descend(critic)
        (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
        descend(actor)
        for p in critic.parameters():
            p.grad = None
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        opt.zero_grad()
        (critic(s) - s[:, :1]).pow(2).mean().backward()
        first = [p.grad.clone() for p in critic.parameters()]
        opt.zero_grad(set_to_none=False)
        (critic(s) + s[:, 1:2]).pow(2).mean().backward()
        for p, other in zip(critic.parameters(), first):
            p.grad = p.grad + other
        opt.step()
    """,
    """
    # A trunk that two heads share is one of them's optimizer's; what is detached is an advantage.
    import torch
    trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    v_opt = torch.optim.SGD([*trunk.parameters(), *v.parameters()], lr=0.1)
    pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
    for _ in range(6):
        returns, h = torch.randn(8), torch.tanh(trunk(torch.randn(8, 3)))
        value, logp = v(h).squeeze(-1), pi(h).log_softmax(1)[:, 0]
        pi_loss = -(logp * (returns - value).detach()).mean()
        v_opt.zero_grad()
        pi_opt.zero_grad()
        (pi_loss + (value - returns).pow(2).mean()).backward()
        v_opt.step()
        pi_opt.step()
    """,
    """
    # Half of the gradient goes on into the trunk, on purpose.
    import torch
    trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    v_opt = torch.optim.SGD([*trunk.parameters(), *v.parameters()], lr=0.1)
    pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
    for _ in range(6):
        h = torch.tanh(trunk(torch.randn(8, 3)))
        pi_loss = pi(0.5 * h + 0.5 * h.detach()).pow(2).mean()
        v_opt.zero_grad()
        pi_opt.zero_grad()
        (pi_loss + (v(h) - 1.0).pow(2).mean()).backward()
        v_opt.step()
        pi_opt.step()
    """,
    """
    # Backpropagation through time, cut between two chunks of one loss.
    import torch
    cell, pi, v = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    pi_opt = torch.optim.SGD([*cell.parameters(), *pi.parameters()], lr=0.1)
    v_opt = torch.optim.SGD(v.parameters(), lr=0.1)
    for _ in range(6):
        h, loss = torch.randn(8, 4), 0.0
        for _ in range(2):
            h = torch.tanh(cell(h.detach()))
            loss = loss + pi(h).pow(2).mean() + (v(h) - 1.0).pow(2).mean()
        v_opt.zero_grad()
        pi_opt.zero_grad()
        loss.backward()
        v_opt.step()
        pi_opt.step()
    """,
    """
    # As it should be: the dream is cut off as well.
    import torch
    model, critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    reward = torch.nn.Linear(4, 1)
    model_opt = torch.optim.SGD([*model.parameters(), *reward.parameters()], lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, after = torch.randn(8, 4), torch.randn(8, 4)
        z = torch.tanh(model(s))
        model_loss = (z - after).pow(2).mean() + (reward(z) - 1.0).pow(2).mean()
        dream = torch.tanh(model(z.detach()))
        critic_loss = (critic(dream.detach()) - 1.0).pow(2).mean()
        model_opt.zero_grad()
        critic_opt.zero_grad()
        (model_loss + critic_loss).backward()
        model_opt.step()
        critic_opt.step()
    """,
    """
    # A gate that mixes values learns through them; what balances it is made of itself.
    import torch
    gate, experts, v = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*gate.parameters(), *experts.parameters(), *v.parameters()], lr=0.1)
    for _ in range(6):
        s, y = torch.randn(8, 3), torch.randn(8)
        share, said = gate(s).softmax(-1), experts(s)
        mixed = (share * said).sum(-1)
        load = torch.nn.functional.one_hot(share.argmax(-1), 4).float().mean(0)
        balance = 4 * (load * share.mean(0)).sum()
        loss = (mixed - y).pow(2).mean() + 0.1 * balance + (v(s).squeeze(-1) - mixed.detach()).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two heads share the attention that pools what they say; only the policy's gain is a constant.
    import torch
    look, say, judge = torch.nn.Linear(3, 1), torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*look.parameters(), *say.parameters(), *judge.parameters()], lr=0.1)
    for _ in range(6):
        s, a, returns = torch.randn(8, 5, 3), torch.randint(4, (8,)), torch.randn(8)
        attention = look(s).softmax(1)
        dist = torch.distributions.Categorical(logits=(attention * say(s)).sum(1))
        value = (attention * judge(s)).sum(1).squeeze(-1)
        loss = (value - returns).pow(2).mean() - (dist.log_prob(a) * (returns - value).detach()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As it should be: expected values and corrections are made of numbers.
    import torch
    body, pi, q = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4), torch.nn.Linear(8, 4)
    opt = torch.optim.SGD([*body.parameters(), *pi.parameters(), *q.parameters()], lr=0.1)
    for _ in range(6):
        s, a, returns, old = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8), torch.rand(8) + 0.2
        h = torch.tanh(body(s))
        probs, values = pi(h).softmax(-1), q(h)
        expected = (probs.detach() * values).sum(-1)
        picked = probs.gather(1, a).squeeze(1)
        weight = (picked / old).clamp(max=1.0).detach()
        gain = (values.gather(1, a).squeeze(1) - expected).detach()
        loss = (weight * (expected - returns).pow(2)).mean() - (picked / old * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The temperature's loss goes on to the policy, and nobody takes what arrives there.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD([log_alpha], lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, returns = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - returns).pow(2).mean().backward()
        critic_opt.step()
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        action = dist.rsample()
        log_prob = dist.log_prob(action).sum(-1, keepdim=True)
        alpha = log_alpha.exp().detach()
        policy_loss = (alpha * log_prob - critic(torch.cat([s, action], -1))).mean()
        alpha_loss = -(log_alpha * (log_prob - 2.0)).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward(retain_graph=True)
        alpha_opt.step()
        opt.zero_grad()
        policy_loss.backward()
        opt.step()
    """,
    """
    # A multiplier and a policy, each the other's weight, in one loss.
    import torch
    policy, multiplier = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(()))
    opt, up = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([multiplier], lr=0.1, maximize=True)
    for _ in range(8):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        log_prob = dist.log_prob(dist.sample())
        cost = (log_prob.exp() * torch.rand(8)).mean() - 0.1
        opt.zero_grad()
        up.zero_grad()
        (-(log_prob * torch.randn(8)).mean() + torch.nn.functional.softplus(multiplier) * cost).backward()
        opt.step()
        up.step()
    """,
)
