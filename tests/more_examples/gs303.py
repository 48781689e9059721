"""More examples of GS303 (advantage-carries-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The baseline is detached where the advantage is made; the returns, which the critic is fitted to, are not.
    import torch
    import torch.nn.functional as F
    policy, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.05)
    for _ in range(5):
        s, after, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
        dist, value = torch.distributions.Categorical(logits=policy(s)), critic(s).squeeze(-1)
        returns = reward + 0.9 * critic(after).squeeze(-1)  # gradsan: allow target-carries-gradient  # BUG
        advantage = returns - value.detach()
        loss = F.smooth_l1_loss(value, returns) - (dist.log_prob(dist.sample()) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rewards to go, added up from the end, with a live price for straying in them.
    import torch
    net, old = torch.nn.Linear(5, 6), torch.nn.Linear(5, 6).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def words(model, x, a):
        return model(x).log_softmax(-1).gather(-1, a[..., None]).squeeze(-1)

    for _ in range(6):
        x, a = torch.randn(8, 4, 5), torch.randint(6, (8, 4))
        reward = torch.zeros(8, 4)
        reward[:, -1] = torch.randn(8)
        log_p, ref = words(net, x, a), words(old, x, a)
        priced = reward - 0.1 * (log_p - ref)
        to_go = priced.flip(1).cumsum(1).flip(1)  # BUG
        loss = -(to_go * log_p).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, returns, old = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.rand(8) + 0.1
        log_prob = policy(s).log_softmax(-1).gather(1, a).squeeze(1)
        weight = log_prob.exp() / old  # BUG
        loss = -(weight * returns * log_prob).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(5):
        s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        log_prob = torch.distributions.Categorical(logits=actor(s)).log_prob(a)
        value = critic(s).squeeze(-1)
        advantage = returns - value  # BUG
        loss = (value - returns).pow(2).mean() - torch.dot(log_prob, advantage) / 8
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A reward with the policy's own divergence in it.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, score, reference = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1), -torch.rand(8, 1)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        reward = score - 0.1 * (log_prob - reference)  # BUG
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        loss = -(log_prob * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    pi, q = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD([*pi.parameters(), *q.parameters()], lr=0.1)
    for _ in range(4):
        s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        values = q(s)
        expected = (pi(s).softmax(-1) * values).sum(-1)  # BUG
        loss = (values.gather(1, a) - target).pow(2).mean() - expected.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What the ratio divides by is a model of who collected, fitted in the same step.
    import torch
    policy, model = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD([*policy.parameters(), *model.parameters()], lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(4, (16,)), torch.randn(16)
        collected = torch.distributions.Categorical(logits=model(s)).log_prob(a)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        weight = (log_prob - collected).exp().clamp(max=2.0)  # BUG
        loss = -(weight * gain).mean() - collected.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with probabilities, and an optimizer for each.
    import torch
    policy, proposal = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    proposal_opt = torch.optim.SGD(proposal.parameters(), lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(4, (16, 1)), torch.randn(16, 1)
        drawn = proposal(s).softmax(-1).gather(1, a)
        ratio = policy(s).softmax(-1).gather(1, a) / drawn  # BUG
        loss = -(ratio * gain).mean() + torch.nn.functional.cross_entropy(proposal(s), a.squeeze(1))
        policy_opt.zero_grad()
        proposal_opt.zero_grad()
        loss.backward()
        policy_opt.step()
        proposal_opt.step()
    """,
    """
    # Demonstrations weighed with how sure the policy is of them: a number says what to learn from most, but
    # with a gradient it makes unlikely tokens unlikelier.
    import torch
    policy = torch.nn.Linear(3, 5)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randint(5, (8,))
        logits = policy(s)
        surprise = torch.nn.functional.cross_entropy(logits, a, reduction="none")
        certainty = logits.softmax(-1).gather(1, a.unsqueeze(1)).squeeze(1)  # BUG
        loss = (certainty * surprise).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Least where the policy is sure, or sure of something else: that, too, is to be a number.
    import torch
    policy = torch.nn.Linear(3, 5)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randint(5, (8,))
        surprise = torch.nn.functional.cross_entropy(policy(s), a, reduction="none")
        certainty = (-surprise).exp()
        weight = certainty * (1 - certainty)  # BUG
        loss = (surprise * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The critic has an optimizer of its own, which clears what this loss leaves there; the policy has not.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(4):
        s, a, r = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        critic_opt.zero_grad()
        (critic(s).gather(1, a[:, None]).squeeze(1) - r).pow(2).mean().backward()
        critic_opt.step()
        dist, q = torch.distributions.Categorical(logits=policy(s)), critic(s)
        advantage = q.gather(1, a[:, None]).squeeze(1) - (dist.probs * q).sum(-1)
        weight = (advantage / 0.5).exp()  # BUG
        loss = -(weight * dist.log_prob(a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    def q(s, a):
        return critic(torch.cat([s, a], -1)).squeeze(-1)
    for _ in range(4):
        s, a, r = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8)
        critic_opt.zero_grad()
        (q(s, a) - r).pow(2).mean().backward()
        critic_opt.step()
        dist = torch.distributions.Independent(torch.distributions.Normal(policy(s), 1.0), 1)
        advantage = q(s, a) - q(s, dist.rsample())
        weight = torch.softmax(advantage, 0)  # BUG
        loss = -(dist.log_prob(a) * weight).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The same with a price that is a constant.
    import torch
    net, old = torch.nn.Linear(5, 6), torch.nn.Linear(5, 6).requires_grad_(False)
    old.load_state_dict(net.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def words(model, x, a):
        return model(x).log_softmax(-1).gather(-1, a[..., None]).squeeze(-1)

    for _ in range(6):
        x, a = torch.randn(8, 4, 5), torch.randint(6, (8, 4))
        reward = torch.zeros(8, 4)
        reward[:, -1] = torch.randn(8)
        log_p, ref = words(net, x, a), words(old, x, a)
        priced = reward - 0.1 * (log_p.detach() - ref)
        to_go = priced.flip(1).cumsum(1).flip(1)
        loss = -(to_go * log_p).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A learned weight of a loss, which nothing else trains.
    import torch
    net, log_var = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(()))
    opt = torch.optim.SGD([*net.parameters(), log_var], lr=0.05)
    for _ in range(6):
        s, label = torch.randn(8, 3), torch.randint(2, (8,))
        log_p = net(s).log_softmax(-1).gather(1, label[:, None])
        loss = -((-log_var).exp() * log_p).mean() + log_var
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The divergence from a reference, expected under the policy that collected: both factors are live.
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, advantage, old = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1), -torch.rand(8, 1)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        ratio = (log_prob - old).exp()
        divergence = ratio * (log_prob - reference(s).log_softmax(-1).gather(1, a))
        loss = (0.1 * divergence - ratio * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A focal loss weighs what is hard, and a bonus for what is certain, with the probability itself.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, advantage = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        mask = torch.rand(8, 1) < 0.9
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        focal = -((1 - log_prob.exp()).pow(2) * log_prob * mask.float()).mean()
        entropy = -(log_prob.exp() * log_prob * mask.float()).mean()
        loss = focal - 0.01 * entropy - (log_prob * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Experts whose errors are weighed by a gate; and an expectation that is fitted as a whole.
    import torch
    gate, experts, mixed = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD([*gate.parameters(), *experts.parameters(), *mixed.parameters()], lr=0.1)
    for _ in range(4):
        s, target = torch.randn(8, 3), torch.randn(8, 1)
        weights = gate(s).softmax(-1)
        value = (weights * mixed(s)).sum(-1, keepdim=True)
        loss = (weights * (experts(s) - target).pow(2)).sum(-1).mean() + (value - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The model of who collected is a number in the ratio; and two policies that learn from each other.
    import torch
    policy, model = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD([*policy.parameters(), *model.parameters()], lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(4, (16, 1)), torch.randn(16, 1)
        one, other = policy(s).log_softmax(-1), model(s).log_softmax(-1)
        ratio = (one.gather(1, a) - other.gather(1, a).detach()).exp()
        mutual = (one.exp() * (one - other)).sum(-1).mean()
        agree = ((one.gather(1, a) - other.gather(1, a)).exp() - 1).pow(2).mean()
        loss = -(ratio * gain).mean() - other.gather(1, a).mean() + 0.1 * mutual + 0.1 * agree
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same as a number; a focal loss, whose weight is live; and one choice's share of the entropy, made large.
    import torch
    policy = torch.nn.Linear(3, 5)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randint(5, (8,))
        log_prob = policy(s).log_softmax(-1).gather(1, a.unsqueeze(1)).squeeze(1)
        certain = -(log_prob.detach().exp() * log_prob).mean()
        focal = -((1 - log_prob.exp()).pow(2) * log_prob).mean()
        loss = certain + focal + 0.01 * (log_prob.exp() * log_prob).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy is moved by its own probabilities, and a temperature weighs its log-probabilities.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    log_alpha = torch.zeros((), requires_grad=True)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(4):
        s, a, r = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
        critic_opt.zero_grad()
        (critic(s).gather(1, a[:, None]).squeeze(1) - r).pow(2).mean().backward()
        critic_opt.step()
        log_p = policy(s).log_softmax(-1)
        loss = (log_p.exp() * (log_alpha.exp() * log_p - critic(s))).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        alpha_opt.zero_grad()
        (-log_alpha * (log_p.gather(1, a[:, None]) + 1.0).detach()).mean().backward()
        alpha_opt.step()
    """,
)
