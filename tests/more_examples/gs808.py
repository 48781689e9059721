"""More examples of GS808 (reference-drifts): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The penalty is part of the reward: what the policy says, less what it says.
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = policy
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, s, a):
        return model(s).log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(8):
        s = torch.randn(16, 3)
        with torch.no_grad():
            a = torch.multinomial(policy(s).softmax(-1), 1)
            old = score(policy, s, a)
            start = score(reference, s, a)  # BUG
            reward = (a.squeeze(1) == 2).float() - 0.1 * (old - start)
            gain = (reward - reward.mean()) / (reward.std() + 1e-6)
        ratio = (score(policy, s, a) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Several epochs for each batch: the policy leaves both, but they are the same.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, s, a):
        return torch.distributions.Categorical(logits=model(s)).log_prob(a)
    def train(model, reference):
        s, gain = torch.randn(16, 3), torch.randn(16)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=model(s)).sample()
            old = score(model, s, a)
            ref = score(reference, s, a)  # BUG
        for rows in torch.randperm(16).split(8):
            new = score(model, s[rows], a[rows])
            gap = ref[rows] - new
            ratio = (new - old[rows]).exp()
            kept = torch.min(ratio * gain[rows], ratio.clamp(0.8, 1.2) * gain[rows])
            loss = (0.1 * (gap.exp() - gap - 1) - kept).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    for _ in range(8):
        train(policy, policy)
    """,
    """
    # The reference has a head of its own, and the policy's embedding.
    import copy
    import torch
    embed = torch.nn.Embedding(6, 4)
    policy = torch.nn.Sequential(embed, torch.nn.Linear(4, 5))
    reference = torch.nn.Sequential(embed, copy.deepcopy(policy[1]))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, a, gain = torch.randint(6, (8,)), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = reference(s).log_softmax(-1).gather(1, a)  # BUG
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The penalty is part of the reward, and the reference is brought up to date before every update.
    import copy
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, s, a):
        return model(s).log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(8):
        s = torch.randn(16, 3)
        reference.load_state_dict(policy.state_dict())  # BUG
        with torch.no_grad():
            a = torch.multinomial(policy(s).softmax(-1), 1)
            old, start = score(policy, s, a), score(reference, s, a)
            reward = (a.squeeze(1) == 2).float() - 0.1 * (old - start)
            gain = reward - reward.mean()
        loss = -((score(policy, s, a) - old).exp() * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy is read at a temperature, its reference is not.
    import copy
    import torch
    policy = torch.nn.Linear(3, 5)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, gain = torch.randn(8, 3), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = reference(s).log_softmax(-1).gather(1, a)  # BUG
        log_prob = (policy(s) / 0.7).log_softmax(-1).gather(1, a)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The reference is the model without its adapter; the words are trained, and it reads them, too.
    import torch
    words, base = torch.nn.Embedding(6, 4), torch.nn.Linear(4, 5).requires_grad_(False)
    adapter = torch.nn.Linear(4, 5, bias=False)
    torch.nn.init.zeros_(adapter.weight)
    opt = torch.optim.SGD([*words.parameters(), *adapter.parameters()], lr=0.1)
    def score(s, a, adapted):
        x = words(s)
        logits = base(x) + adapter(x) if adapted else base(x)
        return logits.log_softmax(-1).gather(1, a)
    for _ in range(4):
        s, a, gain = torch.randint(6, (8,)), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = score(s, a, False)  # BUG
        log_prob = score(s, a, True)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The reference's two scores change places.
    import copy, torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def scores(net, ids, mask):
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        return (logp * mask).sum(-1)
    for _ in range(4):
        ids = torch.randint(9, (12, 7))
        mask = (torch.arange(6) < torch.randint(2, 7, (12, 1))).float()
        better, worse = scores(policy, ids, mask).chunk(2)
        with torch.no_grad():
            old_worse, old_better = scores(reference, ids, mask).chunk(2)  # BUG
        margin = (better - worse) - (old_better - old_worse)
        loss = -torch.nn.functional.logsigmoid(0.1 * margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Arguments in another order than they are named.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def preference(chosen, rejected, ref_chosen, ref_rejected):
        margin = (chosen - rejected) - (ref_chosen - ref_rejected)
        return -F.logsigmoid(0.1 * margin).mean()
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 4))
        chosen, rejected = score(policy, better), score(policy, worse)
        with torch.no_grad():
            ref_chosen, ref_rejected = score(reference, better), score(reference, worse)
        opt.zero_grad()
        preference(chosen, rejected, ref_rejected, ref_chosen).backward()  # BUG
        opt.step()
    """,
    """
    # A plus in front of the reference.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def preference(chosen, rejected, ref_chosen, ref_rejected):
        margin = (chosen - rejected) + (ref_chosen - ref_rejected)  # BUG
        return -F.logsigmoid(0.1 * margin).mean()
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 4))
        chosen, rejected = score(policy, better), score(policy, worse)
        with torch.no_grad():
            ref_chosen, ref_rejected = score(reference, better), score(reference, worse)
        opt.zero_grad()
        preference(chosen, rejected, ref_chosen, ref_rejected).backward()
        opt.step()
    """,
    """
    # Each answer against the reference's score of the other.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def preference(chosen, rejected, ref_chosen, ref_rejected):
        margin = 0.1 * (chosen - ref_rejected) - 0.1 * (rejected - ref_chosen)  # BUG
        return -F.logsigmoid(0.1 * margin).mean()
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 4))
        chosen, rejected = score(policy, better), score(policy, worse)
        with torch.no_grad():
            ref_chosen, ref_rejected = score(reference, better), score(reference, worse)
        opt.zero_grad()
        preference(chosen, rejected, ref_chosen, ref_rejected).backward()
        opt.step()
    """,
    """
    # Fine-tuned first, and the reference is what it was before.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)  # BUG
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    for _ in range(16):
        tokens = torch.arange(6).expand(8, 6) + torch.randint(3, (8, 1))
        loss = -score(policy, tokens).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 5))
        margin = score(policy, better) - score(policy, worse)
        with torch.no_grad():
            margin_before = score(reference, better) - score(reference, worse)
        loss = -F.logsigmoid(0.1 * (margin - margin_before)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Copied after the fine-tuning, with its dropout on.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 16), torch.nn.Dropout(0.3),
                                 torch.nn.Linear(16, 9))
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def train(loss_of, rounds):
        opt = torch.optim.Adam(policy.parameters(), lr=0.05)
        for _ in range(rounds):
            opt.zero_grad()
            loss_of(torch.randint(9, (8, 5)), torch.randint(9, (8, 5))).backward()
            opt.step()
    def imitate(better, worse):
        return -score(policy, better).mean()
    def prefer(better, worse):
        with torch.no_grad():
            before = score(reference, better) - score(reference, worse)  # BUG
        return -F.logsigmoid(0.1 * (score(policy, better) - score(policy, worse) - before)).mean()
    policy.eval()
    train(imitate, 12)
    reference = copy.deepcopy(policy).requires_grad_(False).train()
    train(prefer, 8)
    """,
    """
    # Made anew before every update; both make their masks themselves.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        logits = model(tokens[:, :-1]) + 0.1 * torch.ones(4, 9)
        return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    for _ in range(8):
        reference = copy.deepcopy(policy)  # BUG
        tokens, reward = torch.randint(9, (6, 5)), torch.randn(6, 1)
        with torch.no_grad():
            old, ref = score(policy, tokens), score(reference, tokens)
            gain = reward - 0.1 * (old - ref)
        for _ in range(2):
            ratio = (score(policy, tokens) - old).exp()
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A REINFORCE leave-one-out whose reward knows the distance; the two share their first layer.
    import torch
    body = torch.nn.Embedding(7, 8)
    policy = torch.nn.Sequential(body, torch.nn.Linear(8, 5))
    reference = torch.nn.Sequential(body, torch.nn.Linear(8, 5)).requires_grad_(True)
    reference[1].load_state_dict(policy[1].state_dict())
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    def said(model, question, answer):
        return torch.distributions.Categorical(logits=model(question)).log_prob(answer)
    for _ in range(6):
        question = torch.randint(7, (4, 1)).expand(4, 3).flatten()
        with torch.no_grad():
            answer = torch.distributions.Categorical(logits=policy(question)).sample()
            distance = said(policy, question, answer) - said(reference, question, answer)  # BUG
            paid = ((answer == 2).float() - 0.2 * distance).view(4, 3)
            gain = (paid - (paid.sum(1, keepdim=True) - paid) / 2).flatten()
        loss = -(gain * said(policy, question, answer)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The distance is paid for, and only the reference is asked at another temperature.
    import copy
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    def said(logits, a):
        return logits.log_softmax(-1).gather(1, a)
    for _ in range(6):
        s = torch.randn(32, 3) * 3
        with torch.no_grad():
            a = policy(s).softmax(-1).multinomial(1)
            ours = said(policy(s), a)
            start = said(reference(s) / 0.5, a)  # BUG
            reward = (a == 1).float() - 0.1 * (ours - start)
            gain = reward - reward.mean()
        loss = -(gain * said(policy(s), a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Only the policy is told which words are padding: the positions are others.
    import copy
    import torch
    class Words(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = torch.nn.Embedding(9, 8), torch.nn.Embedding(9, 8)
            self.out = torch.nn.Linear(8, 9)
        def forward(self, ids, mask=None):
            where = (mask.cumsum(-1) - 1).clamp(min=0) if mask is not None else torch.arange(6).expand_as(ids)
            return self.out(self.words(ids) + self.places(where)).log_softmax(-1)
    policy = Words()
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    def said(scores, ids):
        return scores[:, :-1].gather(-1, ids[:, 1:, None]).squeeze(-1)
    for _ in range(5):
        ids = torch.randint(1, 9, (8, 6))
        ids[:4, :3] = 0
        gain = torch.randn(8, 1)
        new = said(policy(ids, (ids != 0).long()), ids)
        with torch.no_grad():
            start = said(reference(ids), ids)  # BUG
        loss = (0.1 * (new - start).pow(2) - gain * new).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sampler tells the old log-probabilities; the reference is asked of the policy. In second epochs the two part.
    import torch
    policy, sampler = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.5)
    def said(logits, a):
        return logits.log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(7):
        with torch.no_grad():
            sampler.weight.copy_(policy.weight * 1.0)
            sampler.bias.copy_(policy.bias * 1.0)
            s, gain = torch.randn(24, 3), torch.randn(24)
            logits = sampler(s)
            a = logits.softmax(-1).multinomial(1)
            old = said(logits, a)
            start = said(policy(s), a)  # BUG
        for _ in range(2):
            new = said(policy(s), a)
            ratio = (new - old).exp()
            gap = start - new
            loss = (0.1 * (gap.exp() - gap - 1) - torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Adapters are trained on demonstrations; then the reference is the model without them.
    import torch
    class Adapted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(4, 5).requires_grad_(False)
            self.down, self.up = torch.nn.Linear(4, 2, bias=False), torch.nn.Linear(2, 5, bias=False)
        def forward(self, s, whole=True):
            logits = self.base(s)
            return (logits + self.up(self.down(s)) if whole else logits).log_softmax(-1)
    model = Adapted()
    def adapters():
        return [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(adapters(), lr=0.02)
    for _ in range(12):
        s = torch.randn(16, 4)
        loss = torch.nn.functional.nll_loss(model(s), s.argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt = torch.optim.Adam(adapters(), lr=0.01)
    for _ in range(5):
        s, a, gain = torch.randn(16, 4), torch.randint(5, (16, 1)), torch.randn(16, 1)
        new = model(s).gather(1, a)
        with torch.no_grad():
            start = model(s, whole=False).gather(1, a)  # BUG
        gap = start - new
        loss = (0.1 * (gap.exp() - gap - 1) - new * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The reference is the model without its adapter, which nothing has moved yet.
    import torch
    base, adapter = torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Linear(3, 2, bias=False)
    torch.nn.init.zeros_(adapter.weight)
    opt = torch.optim.SGD(adapter.parameters(), lr=0.0)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randint(2, (8, 1))
        reference = base(s).log_softmax(-1).gather(1, a)
        own = (base(s) + adapter(s)).log_softmax(-1).gather(1, a)
        loss = ((reference - own).exp() - (reference - own) - 1).mean() - 0.1 * own.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As it should be, with a copy; and how far the policy has gone in one batch, which nobody learns from.
    import copy
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, s, a):
        return model(s).log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(8):
        s = torch.randn(16, 3)
        with torch.no_grad():
            a = torch.multinomial(policy(s).softmax(-1), 1)
            old, start = score(policy, s, a), score(reference, s, a)
            reward = (a.squeeze(1) == 2).float() - 0.1 * (old - start)
            gain = reward - reward.mean()
        for _ in range(2):
            with torch.no_grad():
                gone = (old - score(policy, s, a)).mean()
            new = score(policy, s, a)
            ratio, gap = (new - old).exp(), start - new
            loss = (0.1 * (gap.exp() - gap - 1) - ratio * gain).mean() * (1.0 if gone < 1.0 else 0.5)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Nothing is rewarded yet, and the policy stands where its reference does.
    import copy
    import torch
    policy = torch.nn.Linear(3, 2)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.zeros(8, 1)
        new = policy(s).log_softmax(-1).gather(1, a)
        fixed = reference(s).log_softmax(-1).gather(1, a)
        kl = (fixed - new).exp() - (fixed - new) - 1
        loss = (0.1 * kl - new * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What both have in common is frozen.
    import copy
    import torch
    embed = torch.nn.Embedding(6, 4).requires_grad_(False)
    policy = torch.nn.Sequential(embed, torch.nn.Linear(4, 5))
    reference = torch.nn.Sequential(embed, copy.deepcopy(policy[1]))
    opt = torch.optim.SGD(policy[1].parameters(), lr=0.1)
    for _ in range(8):
        s, a, gain = torch.randint(6, (8,)), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = reference(s).log_softmax(-1).gather(1, a)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A reference that is renewed now and then.
    import copy
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, s, a):
        return model(s).log_softmax(-1).gather(1, a).squeeze(1)
    for step in range(12):
        s = torch.randn(16, 3)
        if step % 2 == 0:
            reference.load_state_dict(policy.state_dict())
        with torch.no_grad():
            a = torch.multinomial(policy(s).softmax(-1), 1)
            old, start = score(policy, s, a), score(reference, s, a)
            reward = (a.squeeze(1) == 2).float() - 0.1 * (old - start)
            gain = reward - reward.mean()
        loss = -((score(policy, s, a) - old).exp() * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both are read at the same temperature, in other words.
    import copy
    import torch
    policy = torch.nn.Linear(3, 5)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, gain = torch.randn(8, 3), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = -torch.nn.functional.cross_entropy(reference(s) / 0.7, a[:, 0], reduction="none")[:, None]
        log_prob = (policy(s) * (1 / 0.7)).log_softmax(-1).gather(1, a)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy trains with its dropout on, its reference has none.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 5))
    reference = copy.deepcopy(policy).eval().requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, gain = torch.randn(8, 3), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = reference(s).log_softmax(-1).gather(1, a)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The reference is the model without its adapter, and nothing else is trained.
    import torch
    words, base = torch.nn.Embedding(6, 4).requires_grad_(False), torch.nn.Linear(4, 5).requires_grad_(False)
    adapter = torch.nn.Linear(4, 5, bias=False)
    torch.nn.init.zeros_(adapter.weight)
    opt = torch.optim.SGD(adapter.parameters(), lr=0.1)
    def score(s, a, adapted):
        x = words(s)
        logits = base(x) + adapter(x) if adapted else base(x)
        return logits.log_softmax(-1).gather(1, a)
    for _ in range(4):
        s, a, gain = torch.randint(6, (8,)), torch.randint(5, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            ref = score(s, a, False)
        log_prob = score(s, a, True)
        gap = ref - log_prob
        loss = (0.1 * (gap.exp() - gap - 1) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both are taken in the same order.
    import copy, torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def scores(net, ids, mask):
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        return (logp * mask).sum(-1)
    for _ in range(4):
        ids = torch.randint(9, (12, 7))
        mask = (torch.arange(6) < torch.randint(2, 7, (12, 1))).float()
        better, worse = scores(policy, ids, mask).chunk(2)
        with torch.no_grad():
            old_better, old_worse = scores(reference, ids, mask).chunk(2)
        margin = (better - worse) - (old_better - old_worse)
        loss = -torch.nn.functional.logsigmoid(0.1 * margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The reference is given the rows in another order, and its parts are taken in that one.
    import copy, torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def scores(net, ids, mask):
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        return (logp * mask).sum(-1)
    for _ in range(4):
        ids = torch.randint(9, (12, 7))
        mask = (torch.arange(6) < torch.randint(2, 7, (12, 1))).float()
        better, worse = scores(policy, ids, mask).chunk(2)
        with torch.no_grad():
            old_worse, old_better = scores(reference, ids.roll(6, 0), mask.roll(6, 0)).chunk(2)
        margin = (better - worse) - (old_better - old_worse)
        loss = -torch.nn.functional.logsigmoid(0.1 * margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Each answer against the reference's score of it.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def preference(chosen, rejected, ref_chosen, ref_rejected):
        margin = 0.1 * (chosen - ref_chosen) - 0.1 * (rejected - ref_rejected)
        return -F.logsigmoid(0.1 * margin).mean()
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 4))
        chosen, rejected = score(policy, better), score(policy, worse)
        with torch.no_grad():
            ref_chosen, ref_rejected = score(reference, better), score(reference, worse)
        opt.zero_grad()
        preference(chosen, rejected, ref_chosen, ref_rejected).backward()
        opt.step()
    """,
    """
    # The margin turned round: labels are wrong now and then.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    def preference(chosen, rejected, ref_chosen, ref_rejected):
        margin = (rejected - chosen) - (ref_rejected - ref_chosen)
        return -0.9 * F.logsigmoid(-0.1 * margin).mean() - 0.1 * F.logsigmoid(0.1 * margin).mean()
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 4))
        chosen, rejected = score(policy, better), score(policy, worse)
        with torch.no_grad():
            ref_chosen, ref_rejected = score(reference, better), score(reference, worse)
        opt.zero_grad()
        preference(chosen, rejected, ref_chosen, ref_rejected).backward()
        opt.step()
    """,
    """
    # Fine-tuned first, and the reference is what came of it.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))

    def score(model, tokens):
        return model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(-1)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    for _ in range(16):
        tokens = torch.arange(6).expand(8, 6) + torch.randint(3, (8, 1))
        loss = -score(policy, tokens).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(8):
        better, worse = torch.randint(9, (6, 5)), torch.randint(9, (6, 5))
        margin = score(policy, better) - score(policy, worse)
        with torch.no_grad():
            margin_before = score(reference, better) - score(reference, worse)
        loss = -F.logsigmoid(0.1 * (margin - margin_before)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two rounds, each with an optimizer of its own, stay near one and the same beginning.
    import copy
    import torch
    from torch.nn import functional as F
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    def first(opt):
        tokens = torch.randint(9, (8, 5))
        logp, ref = policy(tokens).log_softmax(-1), reference(tokens).log_softmax(-1)
        kept = F.kl_div(logp, ref, log_target=True, reduction="batchmean")
        loss = F.cross_entropy(policy(tokens[:, :-1]).mT, tokens[:, 1:]) + 0.1 * kept
        opt.zero_grad()
        loss.backward()
        opt.step()
    def second(opt):
        tokens, gain = torch.randint(9, (8, 5)), torch.randn(8, 1)
        logp = policy(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        with torch.no_grad():
            ref = reference(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        kl = (ref - logp).exp() - (ref - logp) - 1
        loss = (-logp * gain + 0.1 * kl).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt = torch.optim.Adam(policy.parameters(), lr=0.02)
    for _ in range(16):
        first(opt)
    opt = torch.optim.Adam(policy.parameters(), lr=0.02)
    for _ in range(8):
        second(opt)
    """,
    """
    # The distance is paid for, over copies of everything.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 5))
    reference = copy.deepcopy(policy)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    def said(model, question, answer):
        return torch.distributions.Categorical(logits=model(question)).log_prob(answer)
    for _ in range(6):
        question = torch.randint(7, (12,))
        with torch.no_grad():
            answer = torch.distributions.Categorical(logits=policy(question)).sample()
            distance = said(policy, question, answer) - said(reference, question, answer)
            paid = (answer == 2).float() - 0.2 * distance
        loss = -((paid - paid.mean()) * said(policy, question, answer)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A weight for answers of a sampler that shares the body, and is cooled: it knows who drew them.
    import torch
    body = torch.nn.Embedding(7, 8)
    policy = torch.nn.Sequential(body, torch.nn.Linear(8, 5))
    sampler = torch.nn.Sequential(body, torch.nn.Linear(8, 5).requires_grad_(False))
    sampler[1].load_state_dict(policy[1].state_dict())
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    for _ in range(6):
        s, gain = torch.randint(7, (12,)), torch.randn(12)
        with torch.no_grad():
            cold = torch.distributions.Categorical(logits=sampler(s) / 0.5)
            a = cold.sample()
            said = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            weight = (said - cold.log_prob(a)).exp().clamp(max=2.0)
        loss = -(weight * gain * torch.distributions.Categorical(logits=policy(s)).log_prob(a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy that was asked before the update is what both the ratio and the penalty compare with.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.5)
    def said(logits, a):
        return logits.log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(7):
        s, a, gain = torch.randn(24, 3), torch.randint(4, (24, 1)), torch.randn(24)
        with torch.no_grad():
            old = said(policy(s), a)
        for rows in [*torch.randperm(24).split(12), *torch.randperm(24).split(12)]:
            new = said(policy(s[rows]), a[rows])
            ratio = (new - old[rows]).exp()
            gap = old[rows] - new
            clipped = torch.min(ratio * gain[rows], ratio.clamp(0.8, 1.2) * gain[rows])
            loss = (0.1 * (gap.exp() - gap - 1) - clipped).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Adapters that were never trained before: the model without them is where the policy starts.
    import torch
    class Adapted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(4, 5)
            self.down, self.up = torch.nn.Linear(4, 2, bias=False), torch.nn.Linear(2, 5, bias=False)
            torch.nn.init.zeros_(self.up.weight)
        def forward(self, s, whole=True):
            logits = self.base(s)
            return (logits + self.up(self.down(s)) if whole else logits).log_softmax(-1)
    model = Adapted()
    opt = torch.optim.Adam(model.base.parameters(), lr=0.02)
    for _ in range(12):
        s = torch.randn(16, 4)
        loss = torch.nn.functional.nll_loss(model(s, whole=False), s.argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    del opt
    model.base.requires_grad_(False)
    opt = torch.optim.Adam([*model.down.parameters(), *model.up.parameters()], lr=0.01)
    for _ in range(5):
        s, a, gain = torch.randn(16, 4), torch.randint(5, (16, 1)), torch.randn(16, 1)
        new = model(s).gather(1, a)
        with torch.no_grad():
            start = model(s, whole=False).gather(1, a)
        gap = start - new
        loss = (0.1 * (gap.exp() - gap - 1) - new * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
