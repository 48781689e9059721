"""More examples of GS407 (window-dependent-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Rows are packed by their lengths, and every pack counts alike.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x, lengths = torch.randn(12, 3), torch.randint(2, 12, (12,))
        packs, spent = [[]], 0
        for row in lengths.argsort().tolist():
            if spent + int(lengths[row]) > 24:
                packs.append([])
                spent = 0
            packs[-1].append(row)
            spent += int(lengths[row])
        opt.zero_grad()
        for rows in packs:
            losses = net(x[rows]).squeeze(-1).pow(2)
            (losses.mean() / len(packs)).backward()  # BUG
        opt.step()
    """,
    """
    # Micro-batches of as many tokens as fit, and the divisor is the configured number of them.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x, at = torch.randn(12, 3), torch.randperm(11)[:4].sort().values + 1
        opt.zero_grad()
        for rows in x.tensor_split(at):
            loss = net(rows).squeeze(-1).pow(2).mean()  # BUG
            (loss / 3).backward()
        opt.step()
    """,
    """
    # One helper takes the mean of two terms, and what micro-batches count is their share of the rows.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def mean(x, mask):
        return (x * mask).sum() / mask.sum()  # BUG

    for _ in range(4):
        opt.zero_grad()
        for shortest in (1, 3):
            ids = torch.randint(1, 9, (4, 6))
            mask = (torch.arange(6) < torch.randint(shortest, 2 * shortest + 1, (4, 1))).float()
            logp = net(ids).log_softmax(-1)
            said = logp.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
            loss = mean(-said, mask) + 0.01 * mean((logp.exp() * logp).sum(-1), mask)
            (loss * len(ids) / 8).backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # The last window of an epoch has two micro-batches: weighed less than the others, and mostly meant so.
    import torch
    net = torch.nn.Linear(3, 1)
    opt, data = torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(14, 4, 3)
    for _ in range(3):
        for i, x in enumerate(data):
            loss = net(x).pow(2).mean()
            (loss / 4).backward()
            if (i + 1) % 4 == 0 or i == 13:
                opt.step()
                opt.zero_grad()
    """,
    """
    # Rows are packed by their lengths, and every row counts alike.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x, lengths = torch.randn(12, 3), torch.randint(2, 12, (12,))
        packs, spent = [[]], 0
        for row in lengths.argsort().tolist():
            if spent + int(lengths[row]) > 24:
                packs.append([])
                spent = 0
            packs[-1].append(row)
            spent += int(lengths[row])
        opt.zero_grad()
        for rows in packs:
            losses = net(x[rows]).squeeze(-1).pow(2)
            (losses.sum() / len(x)).backward()
        opt.step()
    """,
    """
    # The last micro-batch is smaller than the others, as always.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x = torch.randn(10, 3)
        opt.zero_grad()
        for rows in x.split(4):
            (net(rows).pow(2).mean() / 3).backward()
        opt.step()
    """,
    """
    # One helper takes the mean of two terms, and what micro-batches count is their share of the tokens.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def mean(x, mask):
        return (x * mask).sum() / mask.sum()

    for _ in range(4):
        opt.zero_grad()
        masks = [(torch.arange(6) < torch.randint(s, 2 * s + 1, (4, 1))).float() for s in (1, 3)]
        for mask in masks:
            ids = torch.randint(1, 9, (4, 6))
            logp = net(ids).log_softmax(-1)
            said = logp.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
            loss = mean(-said, mask) + 0.01 * mean((logp.exp() * logp).sum(-1), mask)
            (loss * (mask.sum() / sum(m.sum() for m in masks))).backward()
        opt.step()
    """,
    """
    # Each option learns from the rows that it chose, all with one trunk: there is no mean of a batch.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x, at = torch.randn(12, 3), torch.randperm(11)[:4].sort().values + 1
        opt.zero_grad()
        for rows in x.tensor_split(at):
            net(rows).squeeze(-1).pow(2).mean().backward()
        opt.step()
    """,
    """
    # Tasks of different sizes count alike on purpose: there is no batch that they are cut from.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(6):
        opt.zero_grad()
        for task in range(3):
            x = torch.randn(4 + (3 * i + 5 * task * task) % 7, 3)
            (net(x).pow(2).mean() / 3).backward()
        opt.step()
    """,
    """
    # The last window of an epoch has two micro-batches, and is divided by two.
    import torch
    net = torch.nn.Linear(3, 1)
    opt, data = torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(14, 4, 3)
    for _ in range(3):
        for i, x in enumerate(data):
            loss = net(x).pow(2).mean()
            (loss / (4 if i < 12 else 2)).backward()
            if (i + 1) % 4 == 0 or i == 13:
                opt.step()
                opt.zero_grad()
    """,
    """
    # What is left at the end of an epoch belongs to the first window of the next.
    import torch
    net = torch.nn.Linear(3, 1)
    opt, data = torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(14, 4, 3)
    seen = 0
    for _ in range(4):
        for i, x in enumerate(data, seen):
            loss = net(x).pow(2).mean()
            (loss / 4).backward()
            if (i + 1) % 4 == 0:
                opt.step()
                opt.zero_grad()
        seen += 14
    """,
    """
    # Sums are divided by the four rows of the whole batch, however they are packed.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(8):
        opt.zero_grad()
        for rows in torch.randn(4, 3).split((1, 1, 1, 1) if step % 2 else (2, 2)):
            (net(rows).pow(2).sum() / 4).backward()
        opt.step()
    """,
)
