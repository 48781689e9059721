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
