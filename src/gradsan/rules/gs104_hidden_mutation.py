"""GS104: memory behind a saved tensor changed, and the version counter does not know."""

from __future__ import annotations

from gradsan.judge.copies.drawn_over import DrawnOver, drawn_over
from gradsan.judge.copies.itself import (
    COMPARING,
    Itself,
    compared_with_itself,
    second_name,
    written_in_place,
)
from gradsan.judge.copies.overwritten_names import Overwritten, overwritten_names
from gradsan.judge.effect import never_computed
from gradsan.judge.lines.source import backward_at
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import NOWHERE, Backward, Op, Ops, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

SUMS = {"add", "sub"}


class HiddenMutation(Rule):
    code = "GS104"
    name = "hidden-mutation"
    severity = "error"
    needs_deep = True
    what = """
        What an operation kept for backward (an input, a mask, the rows that were looked up) is not what it was:
        something wrote into the memory behind autograd's back, through `.data` or through a NumPy array that shares it.
        Or what was kept to be compared with is a second name for what it is compared with, and a write in place has
        changed both.
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
        """
        # Nobody checks what is kept beside `save_for_backward`.
        import torch
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x
                return x * x
            @staticmethod
            def backward(ctx, grad):
                return 2 * ctx.x * grad
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            x = net(torch.randn(8, 3))
            squared = Square.apply(x)
            x += 1.0  # BUG
            opt.zero_grad()
            (squared + x).mean().backward()
            opt.step()
        """,
        """
        import torch
        class Halve(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()
            @staticmethod
            def backward(ctx, grad):
                return grad.mul_(0.5)  # BUG
        one, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
        for _ in range(4):
            x = torch.randn(8, 3)
            loss = (one(x) + Halve.apply(other(x)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        block = bytearray(8 * 3 * 4)
        for step in range(4):
            obs = torch.frombuffer(block, dtype=torch.float32).view(8, 3)  # BUG
            loss = (net(obs) - 1.0).pow(2).mean()
            block[:] = torch.randn(8, 3).numpy().tobytes()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # One row of zeros and a one became another: the same numbers, in other places.
        import numpy as np
        import torch
        net = torch.nn.Linear(4, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        place = np.zeros(4, dtype=np.float32)
        for episode in range(6):
            scores = []
            for step in range(3):
                place[:] = np.eye(4)[step]
                scores.append(net(torch.from_numpy(place)).log_softmax(0)[0])  # BUG
            opt.zero_grad()
            (-torch.stack(scores).mean()).backward()
            opt.step()
        """,
        """
        # Which rows were looked up is kept for backward, too.
        import numpy as np
        import torch
        table = torch.nn.Embedding(6, 2)
        opt = torch.optim.SGD(table.parameters(), lr=0.1)
        cells = np.zeros(3, dtype=np.int64)
        for episode in range(6):
            values = []
            for step in range(2):
                cells[:] = np.roll(np.arange(3), step)
                rows = torch.as_tensor(cells)  # BUG
                values.append((table(rows)[:, 0] - torch.arange(3.0)).pow(2).mean())
            opt.zero_grad()
            torch.stack(values).sum().backward()
            opt.step()
        """,
        """
        # The head is to be rescaled from the old statistics to the new ones; they are the same.
        import torch

        class Art(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.head = torch.nn.Linear(3, 1)
                self.register_buffer("mean", torch.zeros(()))
                self.register_buffer("spread", torch.ones(()))

            @torch.no_grad()
            def update(self, targets):
                mean, spread = self.mean.clone(), self.spread  # BUG
                self.mean.lerp_(targets.mean(), 0.1)
                self.spread.copy_((targets - self.mean).pow(2).mean().sqrt())
                self.head.weight.mul_(spread / self.spread)
                self.head.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)

        art = Art()
        opt = torch.optim.SGD(art.parameters(), lr=0.1)
        for _ in range(4):
            s, target = torch.randn(8, 3), 5 * torch.randn(8)
            art.update(target)
            loss = (art.head(s).squeeze(-1) - (target - art.mean) / art.spread).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Noise of the form of the actions, drawn into the actions.
        import torch
        net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
            with torch.no_grad():
                noise = a.data.normal_(0, 0.2).clamp(-0.5, 0.5)  # BUG
                target = r + 0.9 * net(torch.cat([s, 0.1 + noise], -1))
            loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # What was drawn is scored after it was squashed in place.
        import torch
        net, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s = torch.randn(8, 3)
            mean, log_std = net(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            raw = dist.rsample()
            action = torch.tanh_(raw)  # BUG
            log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
            loss = (0.2 * log_prob - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        student, teacher = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
        opt = torch.optim.SGD(student.parameters(), lr=0.1)
        for _ in range(4):
            s, label = torch.randn(8, 3), torch.randint(4, (8,))
            mine, theirs = student(s), teacher(s)
            soft, wanted = (x.div_(2.0).log_softmax(-1) for x in (mine, theirs))  # BUG
            loss = torch.nn.functional.kl_div(soft, wanted, log_target=True)
            loss = loss + torch.nn.functional.cross_entropy(mine, label)
            opt.zero_grad()
            loss.backward()
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
        """
        # The form of what is kept is all that is asked for; a gradient that nobody else gets may be written to.
        import torch
        class Halve(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x
                return x * 1.0
            @staticmethod
            def backward(ctx, grad):
                return grad.mul_(0.5).reshape(ctx.x.shape)
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            x = net(torch.randn(8, 3))
            halved = Halve.apply(x)
            x += 1.0
            opt.zero_grad()
            (halved.pow(2) + x).mean().backward()
            opt.step()
        """,
        """
        # An array of what is forbidden goes on, and what was only looked up without gradients may change.
        import numpy as np
        import torch
        net = torch.nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        taken = np.zeros(4, dtype=bool)
        for episode in range(6):
            taken[:] = False
            scores = []
            for step in range(3):
                mask = torch.from_numpy(taken)
                with torch.no_grad():
                    likely = net(torch.ones(4)).masked_fill(mask, -1e9).argmax().item()
                logits = net(torch.ones(4)).masked_fill(mask.clone(), -1e9)
                scores.append(logits.log_softmax(0)[likely])
                taken[likely] = True
            opt.zero_grad()
            (-torch.stack(scores).mean()).backward()
            opt.step()
        """,
        """
        # Written again, with what was there: an environment that fills its buffer anew.
        import numpy as np
        import torch
        net = torch.nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        legal = np.array([True, True, False, True])
        for episode in range(6):
            logits = net(torch.randn(4)).masked_fill(~torch.from_numpy(legal), -1e9)
            chances = torch.where(torch.from_numpy(legal), logits.softmax(0), 0.0)
            legal[:] = [True, True, False, True]
            opt.zero_grad()
            (chances[0] - chances[1]).backward()
            opt.step()
        """,
        """
        import torch
        net, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s = torch.randn(8, 3)
            mean, log_std = net(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            raw = dist.rsample()
            action = torch.tanh(raw)
            log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
            loss = (0.2 * log_prob - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # In place, and never read by its old name; or given the new value on purpose.
        import torch
        student, teacher = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
        opt = torch.optim.SGD(student.parameters(), lr=0.1)
        for _ in range(4):
            s, label = torch.randn(8, 3), torch.randint(4, (8,))
            mine, theirs = student(s), teacher(s)
            soft, wanted = (x.div_(2.0).log_softmax(-1) for x in (mine, theirs))
            loss = torch.nn.functional.kl_div(soft, wanted, log_target=True)
            loss = loss + torch.nn.functional.cross_entropy(soft, label)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            logits = net(torch.randn(8, 3))
            logits = logits.mul_(0.5)
            logits.div_(2.0)
            scaled = logits = logits.mul_(1.5)
            loss = logits.pow(2).mean() + scaled.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
            with torch.no_grad():
                noise = a.clone().data.normal_(0, 0.2).clamp(-0.5, 0.5)
                target = r + 0.9 * net(torch.cat([s, 0.1 + noise], -1))
            loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A buffer of noise that is filled anew, and read as such.
        import torch
        net, memory = torch.nn.Linear(5, 1), torch.randn(64, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s, r, a = torch.randn(8, 3), torch.randn(8, 1), memory[torch.randint(64, (8,))]
            with torch.no_grad():
                a.data.normal_(0, 0.2)
                target = r + 0.9 * net(torch.cat([s, 0.1 + a], -1))
            loss = (net(torch.cat([s, a], -1)) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch

        class Art(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.head = torch.nn.Linear(3, 1)
                self.register_buffer("mean", torch.zeros(()))
                self.register_buffer("spread", torch.ones(()))

            @torch.no_grad()
            def update(self, targets):
                mean, spread = self.mean.clone(), self.spread.clone()
                self.mean.lerp_(targets.mean(), 0.1)
                self.spread.copy_((targets - self.mean).pow(2).mean().sqrt())
                self.head.weight.mul_(spread / self.spread)
                self.head.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)

        art = Art()
        opt = torch.optim.SGD(art.parameters(), lr=0.1)
        for _ in range(4):
            s, target = torch.randn(8, 3), 5 * torch.randn(8)
            art.update(target)
            loss = (art.head(s).squeeze(-1) - (target - art.mean) / art.spread).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Zero and one by right: a value beside its own constant, and a buffer that only got a shorter name.
        import torch
        net, scale = torch.nn.Linear(3, 1), torch.ones(())
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            value, short = net(torch.randn(8, 3)), scale
            scale.copy_(value.detach().abs().mean())
            same = value.detach()
            loss = ((value - same).exp() * (value.detach() / same) / short).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_ops(self, event: Ops) -> Verdicts:
        for op in event.ops:
            found = compared_with_itself(self.history, op) if op.name in COMPARING else None
            if found is None or found.value.kind == "parameter":
                continue  # GS306 tells that
            written, named = written_in_place(self.history, found), second_name(self.history, found)
            if written and named:
                yield self._compared(found, written, named)

    def _compared(self, found: Itself, written: Site, named: Site) -> Verdict:
        one, other = found.names
        always = "zero" if found.op.name == "sub" else "one"
        return Verdict(
            named,
            f"`{one}` and `{other}` are two names for one tensor: {line(self.history, written)} writes into both, and "
            f"what {line(self.history, found.op.site)} makes of them is always {always}",
            [("alias", named), ("mutation", written), ("use", found.op.site)],
            fix="keep a copy: `old = x.clone()`",
            key="itself",
        )

    def on_backward(self, event: Backward) -> Verdicts:
        history = self.history
        for hidden in event.facts.hidden:
            kept = history.graph.get(hidden.value)
            kept_at = kept.site if kept is not None else NOWHERE
            culprit = hidden.write or hidden.alias or kept_at
            how = (
                f"a custom function keeps it as `ctx.{hidden.attribute}`, where PyTorch does not check it; with "
                "`ctx.save_for_backward` it would have raised"
                if hidden.attribute
                else "this line writes through `.data`"
                if hidden.write
                else "an array or a buffer shares its memory from here on, and was written"
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
        yield from self._incoming(event)
        within = history.graph.ancestors(root.nid for root in event.roots)
        yield from (self._drawn_over(event, found) for found in drawn_over(history.graph, within))
        yield from (self._overwritten(event, found) for found in overwritten_names(history, within))

    def _overwritten(self, event: Backward, found: Overwritten) -> Verdict:
        history, site, read = self.history, found.op.site, found.read.site
        return Verdict(
            site,
            f"`{found.op.name}_` changes `{found.name}` in place, and {line(history, read)} reads that as it was: "
            "both names have the new value",
            [("mutation", site), ("use", read), ("backward", event.site)],
            fix=f"use the form without underscore: `{found.op.name}`",
            key="overwritten",
        )

    def _drawn_over(self, event: Backward, found: DrawnOver) -> Verdict:
        history, site = self.history, found.draw.site
        made = value_at(history, found.value.site, "a value")
        read = found.read.site or event.site
        return Verdict(
            site,
            f"`{found.draw.name}_` draws into the memory of {made}, and {line(history, read)} takes that for what "
            "it was",
            [("mutation", site), ("made", found.value.site), ("use", read), ("backward", event.site)],
            fix="draw into a tensor of its own: `torch.randn_like(x)`, or `x.clone().normal_()`",
            key="drawn over",
        )

    def _incoming(self, event: Backward) -> Verdicts:
        """A custom backward that writes into the gradient it is given, where a sum gives the same to others."""
        history = self.history
        within = history.graph.live_ancestors(root.nid for root in event.roots)
        for seen in event.facts.functions if not event.error else ():
            op = history.graph.get(seen.value) if seen.overwrites else None
            beside = self._beside(op, within) if op is not None else None
            if op is None or beside is None or not op.facts.backward:
                continue
            where = history.sites[op.facts.backward]
            source = backward_at(where.file, where.line)
            at = source.writes if source is not None else 0
            culprit = history.site_at(where.file, at, where.function) if at else op.facts.backward
            yield Verdict(
                culprit,
                f"`{op.name}.backward` writes in place into the gradient it is given: the other side of the sum on "
                f"{line(history, beside.site)} gets the same tensor",
                [("mutation", culprit), ("use", op.site), ("shared", beside.site), ("backward", event.site)],
                event.reached,
                fix="compute a new tensor from the incoming gradient (`grad * scale`, or `grad.clone()` first)",
            )

    def _beside(self, op: Op, within: dict[ValueId, Op]) -> Op | None:
        """The sum that hands its gradient on to this value and, as it is, to another."""
        graph = self.history.graph
        users = [within[nid] for nid in graph.consumers.get(op.nid, ()) if nid in within]
        sums = [u for u in users if u.name in SUMS and u.live and u.shape == op.shape]
        return next(
            (
                u
                for u in sums
                if any(i.live and i.nid != op.nid and i.shape == u.shape for i in graph.inputs(u))
            ),
            None,
        )


rule = HiddenMutation
