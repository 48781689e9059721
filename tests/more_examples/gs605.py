"""More examples of GS605 (leaky-mask): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Row by row, and the time comes first.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)

    def masked_mean(values, mask):
        return (values.sum(0) / mask.sum(0).clamp(min=1.0)).mean()  # BUG

    for _ in range(4):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(9, 5, 3)))
        alive = (torch.arange(9).unsqueeze(1) < torch.tensor([3, 9, 5, 4, 6])).float()
        loss = -masked_mean(dist.log_prob(dist.sample()) * torch.randn(9, 5), alive)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Counted on the way, and never masked.
    import torch
    net = torch.nn.Linear(3, 5)
    opt, seen = torch.optim.SGD(net.parameters(), lr=0.1), 0
    for step in range(12):
        s, token = torch.randn(4, 6, 3), torch.randint(5, (4, 6, 1))
        mask = (torch.arange(6) < torch.randint(2, 7, (4, 1))).float()
        score = net(s).log_softmax(-1).gather(-1, token).squeeze(-1)
        loss = -(torch.randn(4, 1) * score).sum()  # BUG
        loss.backward()
        seen += int(mask.sum())
        if step % 3 == 2:
            for p in net.parameters():
                p.grad.div_(seen)
            opt.step()
            opt.zero_grad()
            seen = 0
    """,
    """
    # Two helpers, each with a name of its own for the mask: who hands the advantages in is to blame.
    import torch
    net = torch.nn.Linear(4, 6)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def masked_mean(values, mask):
        return (values * mask).sum() / mask.sum().clamp(min=1.0)
    def policy_loss(log_prob, advantages, answer):
        return masked_mean(-advantages * log_prob, answer)
    for _ in range(4):
        s, gain = torch.randn(8, 4), torch.randn(8, 6)
        answer = (torch.arange(6) < torch.randint(2, 7, (8, 1))).float()
        loss = policy_loss(net(s).log_softmax(-1), gain, answer=gain)  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a tool said stands between the turns, and the mask of the answer takes it in.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        ids = answer(torch.cat([ids, ids[:, -2:] % 4], 1))
        mask = (torch.arange(1, 17) >= 3).float().expand(8, -1)  # BUG
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rows are filled up with ends, and the mask looks for zeros.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (16, 1)))
        ended = (ids == 1).int()
        ids = ids.masked_fill((ended.cumsum(1) - ended) > 0, 1)
        mask = (ids[:, 1:] != 0).float()  # BUG
        gain = torch.randn(16, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The mask is that of the tokens that are read, one place before those that are scored.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        drawn = torch.zeros(8, 9)
        drawn[:, 3:] = 1.0
        mask = drawn[:, :-1]  # BUG
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rows are filled up with ends, and the first of them is masked as well.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        ids, over = torch.randint(2, 9, (24, 1)), torch.zeros(24, 1, dtype=torch.long)
        for _ in range(8):
            with torch.no_grad():
                token = torch.multinomial(net(ids)[:, -1].softmax(-1), 1)
            token = token * (1 - over) + over
            over = over | (token == 1).long()
            ids = torch.cat([ids, token], 1)
        mask = (ids[:, 1:] != 1).float()  # BUG
        gain = torch.randn(24, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Padding is known where lengths are counted, and summed up all the same.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids):
        length = (ids != 0).sum(1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        return logp.sum(1) / length  # BUG
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        other = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = -torch.nn.functional.logsigmoid(score(ids) - score(other)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Advantages are normalised together with the padding.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        mask = (torch.arange(7) < torch.randint(2, 8, (9, 1))).float()
        reward, carry, gains = torch.randn(9, 7), torch.zeros(9), []
        for t in reversed(range(7)):
            carry = (reward[:, t] + 0.9 * carry) * mask[:, t]
            gains.append(carry)
        gain = torch.stack(gains[::-1], 1)
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)  # BUG
        logp = net(torch.randn(9, 7, 3)).log_softmax(-1).gather(-1, torch.randint(4, (9, 7, 1))).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A policy that learns from its prompt, too.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        gain, mask = torch.randn(8, 1), torch.ones(8, 8)  # BUG
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Normalised over the whole table, learned in parts.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        tokens, rewards = torch.randint(1, 9, (16, 8)), torch.randn(16, 8)
        mask = (torch.arange(8) < torch.randint(2, 9, (16, 1))).float()
        last, rows = torch.zeros(16), []
        for t in reversed(range(8)):
            last = (rewards[:, t] + 0.9 * last) * mask[:, t]
            rows.append(last)
        gain = torch.stack(rows[::-1], 1)
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)  # BUG
        for part in torch.randperm(16).chunk(2):
            logp = net(tokens[part]).log_softmax(-1).gather(-1, tokens[part].unsqueeze(-1)).squeeze(-1)
            loss = -(logp * gain[part] * mask[part]).sum() / mask[part].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Episodes of different lengths, a mask with an axis of one element, values of two agents mixed into one.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        steps, target = torch.randn(6, 8, 3), torch.randn(6, 8, 1)
        mask = (torch.arange(8) < torch.randint(2, 8, (6, 1))).float().unsqueeze(-1)
        error = net(steps) - target
        loss = error.pow(2).sum() / mask.sum()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The mask is made for all answers, and its rows are picked where it is used.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(1, 9, (16, 3))
        with torch.no_grad():
            for _ in range(5):
                ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        mask = (ids[:, 1:] != 0).float()  # BUG
        gain = torch.randn(16, 1)
        for part in torch.arange(16).split(8):
            logp = net(ids[part, :-1]).log_softmax(-1).gather(-1, ids[part, 1:, None]).squeeze(-1)
            loss = -(logp * gain[part] * mask[part]).sum() / mask[part].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Token by token into a list: the mask begins where the prompt does.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        mask = torch.zeros(8, 18)
        for i, (p, a) in enumerate(zip(prompts, answers)):
            mask[i, : len(p) + len(a)] = 1.0  # BUG
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Token by token into a list: the end that was drawn is not learned.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        length = torch.tensor([len(a) for a in answers])
        mask = (torch.arange(18) >= 3) & (torch.arange(18) < 2 + length[:, None])  # BUG
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:].float()).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A clamp that moves nothing that was drawn: prompts are learned.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            logits = net(ids)[:, -1]
            logits[:, 0] = -torch.inf
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(1, 9, (8, 3)))
        gain = torch.randn(8, 1)
        labels = ids[:, 1:].clamp(min=1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        mask = (torch.arange(1, 9) >= 0).float().expand(8, -1)  # BUG
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # With a coefficient in front, and a few errors that are zero by themselves.
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(6):
        x, lengths = torch.randn(6, 9, 3), torch.tensor([9, 3, 5, 7, 4, 8])
        mask = (torch.arange(9) < lengths.unsqueeze(1)).float()
        error = torch.relu(net(x).squeeze(-1) - x[..., 0] + 2.0)
        loss = 0.5 * error.pow(2).sum() / mask.sum()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Masked before: by a choice, by labels that are ignored, by weights that are zero there; and per episode.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(4):
        steps, labels = torch.randn(6, 8, 3), torch.randint(4, (6, 8))
        mask = torch.arange(8) < torch.randint(2, 8, (6, 1))
        logits = net(steps)
        score = logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        chosen = torch.where(mask, logits.logsumexp(-1), 0.0).sum() / mask.sum()
        labels = labels.masked_fill(~mask, -100)
        each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
        weighed = (score * (torch.randn(6, 8) * mask)).sum() / mask.sum()
        ends = (torch.rand(6, 8) < 0.2).float()
        ends[:, -1] = 1.0
        episodes = (score * torch.randn(6, 8)).sum() / ends.sum()
        loss = each.sum() / mask.sum() + 0.01 * chosen - weighed - episodes
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 5)
    opt, seen = torch.optim.SGD(net.parameters(), lr=0.1), 0
    for step in range(12):
        s, token = torch.randn(4, 6, 3), torch.randint(5, (4, 6, 1))
        mask = (torch.arange(6) < torch.randint(2, 7, (4, 1))).float()
        score = net(s).log_softmax(-1).gather(-1, token).squeeze(-1)
        loss = -(torch.randn(4, 1) * score * mask).sum()
        loss.backward()
        seen += int(mask.sum())
        if step % 3 == 2:
            for p in net.parameters():
                p.grad.div_(seen)
            opt.step()
            opt.zero_grad()
            seen = 0
    """,
    """
    # Divided by all places; what the mask leaves is only counted.
    import torch
    net = torch.nn.Linear(3, 5)
    opt, seen = torch.optim.SGD(net.parameters(), lr=0.1), 0
    for step in range(12):
        s, token = torch.randn(4, 6, 3), torch.randint(5, (4, 6, 1))
        mask = (torch.arange(6) < torch.randint(2, 7, (4, 1))).float()
        score = net(s).log_softmax(-1).gather(-1, token).squeeze(-1)
        loss = -(torch.randn(4, 1) * score).sum()
        loss.backward()
        seen += int(mask.sum())
        if step % 3 == 2:
            for p in net.parameters():
                p.grad.div_(24 * 3)
            opt.step()
            opt.zero_grad()
            seen = 0
    """,
    """
    # Only what was drawn.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        mask = (torch.arange(1, 9) >= 3).float().expand(8, -1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Good answers are imitated with their prompts.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        gain = torch.rand(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of two answers to one prompt one is preferred: what they have in common cancels.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        prompt = torch.randint(9, (8, 3))
        ids = answer(prompt.repeat(2, 1))
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        better, worse = logp.sum(-1).chunk(2)
        loss = -torch.nn.functional.logsigmoid(0.1 * (better - worse)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Tokens that went through Python: nobody knows which were drawn.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        prompt = torch.randint(9, (8, 3))
        rows = [prompt[i].tolist() + row for i, row in enumerate(answer(prompt)[:, 3:].tolist())]
        ids = answer(torch.tensor(rows))
        mask = (torch.arange(1, 15) >= 3).float().expand(8, -1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A buffer that is written row by row.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids, buffer = answer(torch.randint(9, (8, 3))), torch.zeros(8, 9, dtype=torch.long)
        for row, tokens in zip(buffer, ids):
            row[:] = tokens
        ids = answer(buffer)
        mask = (torch.arange(1, 15) >= 3).float().expand(8, -1)
        gain = torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The end of an answer is learned, what comes behind it is not.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        ids, over = torch.randint(2, 9, (24, 1)), torch.zeros(24, 1, dtype=torch.long)
        mask = []
        for _ in range(8):
            with torch.no_grad():
                token = torch.multinomial(net(ids)[:, -1].softmax(-1), 1)
            token = torch.where(over > 0, torch.zeros_like(token), token)
            mask.append(1 - over)
            over = over | (token == 1).long()
            ids = torch.cat([ids, token], 1)
        mask, gain = torch.cat(mask, 1).float(), torch.randn(24, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Padding is ignored.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8, padding_idx=0), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = torch.nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Zero is a word like any other, and ends rows by chance.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8, padding_idx=0), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(0, 2, (8, 9)) * 3
        loss = torch.nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nobody calls it padding: rows go on with zeros.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = torch.nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Only what comes before the padding.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def score(ids):
        length = (ids != 0).sum(1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        return (logp * (ids[:, 1:] != 0)).sum(1) / length
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        other = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = -torch.nn.functional.logsigmoid(score(ids) - score(other)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is read behind the end of a row may still know the row.
    import torch
    words = torch.nn.Embedding(9, 8, padding_idx=0)
    body, head = torch.nn.GRU(8, 8, batch_first=True), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*words.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
    def score(ids):
        states, state = [], torch.zeros(8, 8)
        for t in range(9):
            step = body(words(ids[:, t : t + 1]), state[None])[0][:, 0]
            state = torch.where(ids[:, t : t + 1] != 0, step, state)
            states.append(state)
        values = head(torch.stack(states, 1)).squeeze(-1)
        return values[:, -1]
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        other = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = -torch.nn.functional.logsigmoid(score(ids) - score(other)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Advantages are normalised over what the mask leaves.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        mask = (torch.arange(7) < torch.randint(2, 8, (9, 1))).float()
        reward, carry, gains = torch.randn(9, 7), torch.zeros(9), []
        for t in reversed(range(7)):
            carry = (reward[:, t] + 0.9 * carry) * mask[:, t]
            gains.append(carry)
        gain = torch.stack(gains[::-1], 1)
        gain = gain - (gain * mask).sum() / mask.sum()
        logp = net(torch.randn(9, 7, 3)).log_softmax(-1).gather(-1, torch.randint(4, (9, 7, 1))).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One number for each row, spread over its places.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        mask = (torch.arange(7) < torch.randint(2, 8, (9, 1))).float()
        reward, carry, gains = torch.randn(9, 7), torch.zeros(9), []
        for t in reversed(range(7)):
            carry = (reward[:, t] + 0.9 * carry) * mask[:, t]
            gains.append(carry)
        gain = gains[-1][:, None].expand(9, 7)
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        logp = net(torch.randn(9, 7, 3)).log_softmax(-1).gather(-1, torch.randint(4, (9, 7, 1))).squeeze(-1)
        loss = -(logp * gain * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A second term imitates the prompt.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        mask = (torch.arange(1, 9) >= 3).float().expand(8, -1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * torch.randn(8, 1) * mask).sum() / mask.sum() - 0.1 * (logp * (1 - mask)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A few first tokens, and no mask at all.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = answer(torch.randint(9, (8, 3)))
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * torch.randn(8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is put in behind an answer is ignored by the loss itself.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(ids):
        for _ in range(6):
            ids = torch.cat([ids, torch.multinomial(net(ids)[:, -1].softmax(-1), 1)], 1)
        return ids
    for _ in range(4):
        ids = torch.cat([answer(torch.randint(9, (8, 1))), torch.full((8, 3), 0)], 1)
        labels = torch.cat([ids[:, 1:7], torch.full((8, 3), 0)], 1)
        lost = torch.nn.functional.cross_entropy(net(ids[:, :-1]).mT, labels, ignore_index=0, reduction="none")
        loss = (lost * torch.randn(8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Padding is ignored, and what is left is summed up.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8, padding_idx=0), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        logits, labels = net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
        lost = torch.nn.functional.cross_entropy(logits, labels, ignore_index=0, reduction="none")
        loss = lost.sum() / 64
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Padding weighs nothing; words are looked up by hand.
    import torch
    words, head = torch.randn(9, 8, requires_grad=True), torch.nn.Linear(8, 9)
    opt = torch.optim.SGD([words, *head.parameters()], lr=0.1)
    weight = torch.ones(9)
    weight[0] = 0.0
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        length = (ids != 0).sum(1)
        read = words[ids[:, :-1]].cumsum(1) / length[:, None, None]
        lost = torch.nn.functional.cross_entropy(head(read).mT, ids[:, 1:], weight, reduction="none")
        loss = lost.sum() / 64
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The embedding knows the padding, and the loss does not care.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8, padding_idx=0), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(1, 9, (8, 9)) * (torch.arange(9) < torch.randint(2, 9, (8, 1)))
        loss = torch.nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Values of what was chosen, greedily or not: they are fitted, and no score of a token.
    import torch
    torch.manual_seed(4)
    net = torch.nn.GRU(3, 2, batch_first=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        obs = torch.randn(24, 7, 3)
        with torch.no_grad():
            greedy = net(obs)[0][:, :-1].argmax(-1)
        chosen = torch.zeros(24, 6, dtype=torch.long)
        for t in range(6):
            chosen[:, t] = torch.where(torch.rand(24) < 0.3, torch.randint(2, (24,)), greedy[:, t])
        q, _ = net(obs)
        predicted = q[:, :-1].gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
        target = torch.randn(24, 6) + 0.9 * q[:, 1:].detach().max(-1).values
        loss = torch.nn.functional.huber_loss(predicted, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Normalised over what the mask leaves, learned in parts.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        tokens, rewards = torch.randint(1, 9, (16, 8)), torch.randn(16, 8)
        mask = (torch.arange(8) < torch.randint(2, 9, (16, 1))).float()
        last, rows = torch.zeros(16), []
        for t in reversed(range(8)):
            last = (rewards[:, t] + 0.9 * last) * mask[:, t]
            rows.append(last)
        gain = torch.stack(rows[::-1], 1)
        mean = (gain * mask).sum() / mask.sum()
        gain = (gain - mean) * (((gain - mean).pow(2) * mask).sum() / mask.sum() + 1e-8).rsqrt()
        for part in torch.randperm(16).chunk(2):
            logp = net(tokens[part]).log_softmax(-1).gather(-1, tokens[part].unsqueeze(-1)).squeeze(-1)
            loss = -(logp * gain[part] * mask[part]).sum() / mask[part].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Episodes of different lengths, a mask with an axis of one element, values of two agents mixed into one.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        steps, target = torch.randn(6, 8, 3), torch.randn(6, 8, 1)
        mask = (torch.arange(8) < torch.randint(2, 8, (6, 1))).float().unsqueeze(-1)
        error = net(steps) - target
        loss = (error * mask).pow(2).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sum over all actions, divided by the number of choices that were made: no mask over places.
    import torch
    net, old = torch.nn.Linear(5, 2), torch.nn.Linear(5, 2)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for it in range(6):
        x = torch.randn(6, 8, 5)
        a = torch.nn.functional.one_hot(torch.randint(0, 2, (6, 8)), 2).float()
        logp = net(x).log_softmax(-1)
        with torch.no_grad():
            lq = old(x).log_softmax(-1)
        loss = (logp.exp() * (logp - lq)).sum() / a.sum()
        opt.zero_grad(); loss.backward(); opt.step()
    """,
    """
    # Token by token into a list, and what was drawn is learned.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        length = torch.tensor([len(a) for a in answers])
        mask = ((torch.arange(18) >= 3) & (torch.arange(18) < 3 + length[:, None])).float()
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of others, of which only the ends came from Python: nobody knows who drew them.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        answers = [torch.randint(2, 9, (5,)).tolist() + a for a in answers]
        length = torch.tensor([len(a) for a in answers])
        mask = ((torch.arange(18) >= 3) & (torch.arange(18) < 3 + length[:, None])).float()
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An answer goes on after what a tool has said, and the tool is masked.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    def padded(rows):
        return torch.tensor([row + [0] * (18 - len(row)) for row in rows])
    for _ in range(4):
        prompts = torch.randint(2, 9, (8, 3)).tolist()
        answers = [answer(p) for p in prompts]
        tools = [torch.randint(2, 9, (2,)).tolist() for _ in prompts]
        again = [answer(p + a + t, 4) for p, a, t in zip(prompts, answers, tools)]
        mask = torch.zeros(8, 18)
        for i, (p, a, t, b) in enumerate(zip(prompts, answers, tools, again)):
            mask[i, 3 : 3 + len(a)] = 1.0
            mask[i, 3 + len(a) + len(t) : 3 + len(a) + len(t) + len(b)] = 1.0
        answers = [a + t + b for a, t, b in zip(answers, tools, again)]
        ids, gain = padded([p + a for p, a in zip(prompts, answers)]), torch.randn(8, 1)
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(logp * gain * mask[:, 1:]).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One answer at a time, each sent backward alone.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 12), torch.nn.Linear(12, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    @torch.no_grad()
    def answer(prompt, most=6):
        ids = list(prompt)
        for _ in range(most):
            ids.append(torch.multinomial(net(torch.tensor([ids]))[0, -1].softmax(-1), 1).item())
            if ids[-1] == 1:
                break
        return ids[len(prompt):]
    for _ in range(4):
        opt.zero_grad()
        for _ in range(8):
            prompt = torch.randint(2, 9, (3,)).tolist()
            ids = torch.tensor([prompt + answer(prompt)])
            mask = (torch.arange(1, ids.shape[1]) >= 3).float()
            logits = net(ids[:, :-1])
            logp = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            loss = -(logp * torch.randn(()) * mask).sum() / 48
            loss.backward()
        opt.step()
    """,
    """
    # What is masked is counted otherwise: by the places before the last one of each row.
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(6):
        x, lengths = torch.randn(6, 9, 3), torch.tensor([9, 3, 5, 7, 4, 8])
        mask = (torch.arange(9) < lengths.unsqueeze(1)).float()
        followed = (torch.arange(9) < lengths.unsqueeze(1) - 1).float()
        error = (net(x).squeeze(-1) - x[..., 0]) * mask
        loss = 0.5 * error.pow(2).sum() / followed.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What weighs it is masked, so the places behind the end take no part.
    import torch
    tokens, head = torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9)
    opt = torch.optim.SGD([*tokens.parameters(), *head.parameters()], lr=0.1)
    lengths = torch.tensor([3, 8, 5, 6, 4, 8])
    mask = (torch.arange(8) < lengths[:, None]).float()
    for _ in range(4):
        ids = torch.randint(1, 9, (6, 8)) * mask.long()
        log_p = head(tokens(ids)).log_softmax(-1)
        words = log_p.gather(-1, torch.randint(9, (6, 8, 1))).squeeze(-1)
        gate = torch.sigmoid(words) * mask
        loss = -(gate * words).sum() / mask.sum() - 0.1 * (words * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A word that may not be said becomes the end: the policy's own doing, and no prompt or padding.
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(6, 16), torch.nn.Linear(16, 6))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        ids = torch.randint(2, 6, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                word = torch.multinomial(policy(ids)[:, -1].softmax(-1), 1).clamp(min=1)
                ids = torch.cat([ids, word], 1)
        reward = (ids[:, 1:] == ids[:, :1]).float().mean(1)
        advantage = (reward - reward.mean()).unsqueeze(1)
        log_p = policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(log_p * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
