"""GS104: memory behind a saved tensor changed, and the version counter does not know."""

from __future__ import annotations

from gradsan.judge.effect import never_computed
from gradsan.judge.wording import line, value_at
from gradsan.record.events import NOWHERE, Backward
from gradsan.rules.base import Rule, Verdict, Verdicts


class HiddenMutation(Rule):
    code = "GS104"
    name = "hidden-mutation"
    severity = "error"
    needs_deep = True
    what = """
        What an operation kept for backward is not what it was: something wrote into the memory behind autograd's
        back, through `.data` or through a NumPy array that shares it.
    """
    why = """
        PyTorch is silent and the gradient is wrong. The usual source is an environment that reuses its
        observation buffer: `torch.from_numpy(obs)` shares that memory, and the next `env.step` overwrites the
        inputs of a forward pass whose backward is still to come.
    """
    symptom = """
        Nothing raises. The return stays far below that of the same code with copied observations, and
        changes with things that should not matter: the number of environments, or how soon backward
        follows the forward pass.
    """
    fix = (
        "copy at the border (`torch.as_tensor(obs).clone()`, `torch.tensor(obs)`), and do not write through "
        "`.data`"
    )
    deliberate = """
        Writing through `.data` when no backward is pending (a target sync, a weight clamp after the
        step) is not reported: nothing that backward needs is changed.
    """
    bad = (
        """
        import numpy as np
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        buffer = np.zeros((8, 3), dtype=np.float32)
        for step in range(4):
            buffer[:] = np.random.randn(8, 3)
            obs = torch.from_numpy(buffer)  # BUG
            loss = (net(obs) - 1.0).pow(2).mean()
            buffer[:] = np.random.randn(8, 3)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        for _ in range(4):
            loss = (second(first(torch.randn(8, 3))) - 1.0).pow(2).mean()
            second.weight.data.clamp_(-0.01, 0.01)  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            value = net(torch.randn(8, 3)).squeeze(-1).exp()
            error = value - 1.0
            array = value.detach().numpy()  # BUG
            array[:4] = 0.0
            opt.zero_grad()
            error.pow(2).mean().backward()
            opt.step()
        """,
    )
    good = (
        """
        import numpy as np
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        buffer = np.zeros((8, 3), dtype=np.float32)
        for step in range(4):
            buffer[:] = np.random.randn(8, 3)
            obs = torch.from_numpy(buffer).clone()
            loss = (net(obs) - 1.0).pow(2).mean()
            buffer[:] = np.random.randn(8, 3)
            opt.zero_grad()
            loss.backward()
            opt.step()
            net.weight.data.clamp_(-0.5, 0.5)
        """,
        """
        # A line search puts other weights in place between one forward pass and the next.
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        x = torch.randn(8, 3)
        for _ in range(4):
            loss = (net(x) - 1.0).pow(2).mean()
            before = [p.detach().clone() for p in net.parameters()]
            grads = torch.autograd.grad(loss, list(net.parameters()))
            for size in (1.0, 0.5, 0.25):
                for p, old, g in zip(net.parameters(), before, grads):
                    p.data = old - size * g
                if (net(x) - 1.0).pow(2).mean() < loss:
                    break
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        history = self.history
        for hidden in event.facts.hidden:
            kept = history.graph.get(hidden.value)
            kept_at = kept.site if kept is not None else NOWHERE
            culprit = hidden.write or hidden.alias or kept_at
            how = (
                "this line writes through `.data`"
                if hidden.write
                else "a NumPy array shares its memory from here on, and was written"
                if hidden.alias
                else "its memory was written behind autograd's back"
            )
            yield Verdict(
                culprit,
                f"what {value_at(history, kept_at, 'an operation')} ({line(history, kept_at)}) kept for backward was "
                f"overwritten before backward used it: {how}",
                [
                    ("saved", kept_at),
                    ("mutation" if hidden.write else "alias", culprit),
                    ("backward", event.site),
                ],
                event.reached,
                measure=never_computed,
            )


rule = HiddenMutation
