"""GS901: the gradient flows otherwise than the lock file says. `lock/` compares; this file explains."""

from __future__ import annotations

from gradsan.rules.base import Rule


class FlowChanged(Rule):
    code = "GS901"
    name = "flow-changed"
    severity = "error"
    needs_lock = True
    what = """
    The gradient does not flow as `gradsan.lock` says: a loss trains another network than it did, reaches one by
    another way, takes something else as constant, or is clipped, added up or applied otherwise; or a network has
    another optimizer, or follows another one.
    """
    why = """
    A change of the flow raises nothing. A refactoring that loses a `detach`, an optimizer that is handed one network
    too many, a clip that moves behind the step: the program runs as before, and the learning curve is a little worse a
    week later. What was looked at once and found right is written down, and every change of it is a decision.
    """
    symptom = "None at first: that is why it is worth being told of the change itself."
    fix = "undo the change; if it is meant, look at it and write the lock again with `gradsan lock`"
    deliberate = """
    After a change that is meant, `gradsan lock SCRIPT` writes the file again; the difference is part of the commit.
    """
    bad = (
        """
        import torch
        from torch import nn

        torch.manual_seed(0)
        actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=1e-2)
        for update in range(4):
            obs, returns = torch.randn(8, 4), torch.randn(8)
            log_prob = torch.distributions.Categorical(logits=actor(obs)).log_prob(torch.zeros(8))
            actor_loss = -(log_prob * (returns - critic(obs).squeeze(1))).mean()
            optimizer.zero_grad()
            actor_loss.backward()  # BUG
            optimizer.step()
        """,
    )
    good = (
        """
        import torch
        from torch import nn

        torch.manual_seed(0)
        actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=1e-2)
        for update in range(4):
            obs, returns = torch.randn(8, 4), torch.randn(8)
            log_prob = torch.distributions.Categorical(logits=actor(obs)).log_prob(torch.zeros(8))
            actor_loss = -(log_prob * (returns - critic(obs).squeeze(1).detach())).mean()
            optimizer.zero_grad()
            actor_loss.backward()
            optimizer.step()
        """,
    )


rule = FlowChanged
