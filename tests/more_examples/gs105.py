"""More examples of GS105 (graph-tensor-copied): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A hook keeps what the network is to learn from: it is the copy that comes at the wrong time.
    import copy
    import torch
    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.seen = torch.nn.Linear(3, 4), None
            self.net.register_forward_hook(self.keep)
        def keep(self, _module, _inputs, output):
            self.seen = output
        def features(self, x):
            self.net(x)
            return self.seen
    online = Wrapped()
    opt = torch.optim.SGD(online.parameters(), lr=0.1)
    loss = online.features(torch.randn(8, 3)).pow(2).mean()
    loss.backward()
    opt.step()
    slow = copy.deepcopy(online)  # BUG
    """,
)

GOOD: tuple[str, ...] = ()
