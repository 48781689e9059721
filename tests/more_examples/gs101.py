"""More examples of GS101 (saved-tensor-mutated): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The actor writes into what its own tanh has kept; while it acts, nothing is kept.
    import torch
    class Actor(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 1)
        def forward(self, obs):
            action = torch.tanh(self.layer(obs))
            action *= 2.0  # BUG
            return action
    actor, critic = Actor(), torch.nn.Linear(4, 1)
    for _ in range(20):
        with torch.no_grad():
            actor(torch.randn(1, 3))
    obs = torch.randn(8, 3)
    loss = -critic(torch.cat([obs, actor(obs)], 1)).mean()
    loss.backward()
    """,
    """
    # Handed to a helper by the method that made it.
    import torch
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
        @staticmethod
        def rescale(state):
            state -= state.min(1, keepdim=True)[0]  # BUG
            return state
        def follow(self, state):
            state = torch.sigmoid(self.layer(state))
            return self.rescale(state)
    model = Model()
    with torch.no_grad():
        seen = model.follow(torch.randn(4, 3))
    state = model.follow(torch.randn(8, 3))
    state.pow(2).mean().backward()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    actor = torch.nn.Linear(3, 1)
    action = 2.0 * torch.tanh(actor(torch.randn(8, 3)))
    action += 1.0
    action.pow(2).mean().backward()
    """,
)
