"""More examples of GS602 (unstable-log-prob): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # It has a graph, and only acts: the loss scores the action by another distribution.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        states, actions = [torch.randn(3) for _ in range(5)], []
        for s in states:
            probs = torch.softmax(policy(s), -1)
            actions.append([torch.distributions.Categorical(logits=probs).sample().item()])  # BUG
        s, a = torch.stack(states), torch.tensor(actions)
        loss = -(policy(s).log_softmax(-1).gather(1, a).squeeze(1) * s[:, 0]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A discriminator that ends in a sigmoid, under a loss that applies one itself.
    import torch
    from torch import nn
    judge = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
    criterion = nn.BCEWithLogitsLoss()
    expert, own = torch.randn(8, 4) + 1, torch.randn(8, 4)
    loss = criterion(judge(expert), torch.ones(8, 1))  # BUG
    loss.backward()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 2)
    gates = torch.sigmoid(net(torch.randn(8, 3)))
    dist = torch.distributions.Bernoulli(logits=gates, validate_args=True)  # BUG
    log_prob = dist.log_prob(torch.ones(8, 2)).sum(-1)
    (-log_prob.mean()).backward()
    """,
    """
    import torch
    from torch.nn.functional import logsigmoid
    net = torch.nn.Linear(3, 1)
    better, worse = torch.sigmoid(net(torch.randn(8, 3))), torch.sigmoid(net(torch.randn(8, 3)))
    loss = -logsigmoid(better).mean() - logsigmoid(-worse).mean()  # BUG
    loss.backward()
    """,
    """
    import torch
    from torch.nn.functional import nll_loss
    net = torch.nn.Linear(3, 2)
    loss = nll_loss(net(torch.randn(8, 3)), torch.randint(2, (8,)))  # BUG
    loss.backward()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    from torch import nn
    judge = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    loss = nn.BCEWithLogitsLoss()(judge(torch.randn(8, 4)), torch.ones(8, 1))
    loss.backward()
    """,
    """
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
    loss = torch.nn.functional.binary_cross_entropy(net(torch.randn(8, 3)), torch.ones(8, 1))
    loss.backward()
    """,
    """
    # A sigmoid between layers, and the probabilities of one network as the other's labels.
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as bce
    hidden, out, old = torch.nn.Linear(3, 5), torch.nn.Linear(5, 1), torch.nn.Linear(3, 1)
    x = torch.randn(8, 3)
    with torch.no_grad():
        labels = torch.sigmoid(old(x))
    loss = bce(out(torch.sigmoid(hidden(x))), labels)
    loss.backward()
    """,
    """
    # The difference of two scores between 0 and 1 may be a margin.
    import torch
    from torch.nn.functional import logsigmoid
    net = torch.nn.Linear(3, 1)
    better, worse = torch.sigmoid(net(torch.randn(8, 3))), torch.sigmoid(net(torch.randn(8, 3)))
    (-logsigmoid(5 * (better - worse)).mean()).backward()
    """,
    """
    import torch
    from torch.nn.functional import log_softmax, nll_loss
    net = torch.nn.Linear(3, 2)
    loss = nll_loss(log_softmax(net(torch.randn(8, 3)), -1), torch.randint(2, (8,)))
    loss.backward()
    """,
)
