"""GS210: a reentrant checkpoint none of whose inputs requires grad trains nothing inside."""

from __future__ import annotations

from gradsan.judge.ledger import Contribution
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import Backward, ParamId, Site
from gradsan.rules.base import Rule, Verdict, Verdicts


class CheckpointWithoutInput(Rule):
    code = "GS210"
    name = "checkpoint-without-input"
    severity = "error"
    what = """
        Reentrant checkpointing (`use_reentrant=True`) is given inputs none of which requires grad, while the part that
        it runs has parameters to be trained: none of them gets a gradient.
    """
    why = """
        A reentrant checkpoint runs its part without a graph, as one custom function of its inputs, and builds the graph
        in backward. Autograd sees the inputs only. If none of them requires grad, as with observations, tokens or the
        output of frozen embeddings, the result does not either, backward never comes there, and the parameters inside
        are left out. Adapters over a frozen base are the usual case.
    """
    symptom = """
        PyTorch warns once that "none of the inputs have requires_grad=True". What comes after the checkpoint learns;
        the weights inside stay as they were.
    """
    fix = (
        "pass `use_reentrant=False` to `checkpoint`, or let an input require grad (for transformers: "
        "`model.enable_input_require_grads()`)"
    )
    needs_deep = True
    deliberate = """
        A frozen part behind a checkpoint has nothing to learn and is not reported.
    """
    bad = (
        """
        import torch
        from torch.utils.checkpoint import checkpoint
        trunk, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
        for _ in range(6):
            features = checkpoint(trunk, torch.randn(8, 3), use_reentrant=True)  # BUG
            loss = (head(features) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        from torch.utils.checkpoint import checkpoint
        trunk, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
        for _ in range(6):
            features = checkpoint(trunk, torch.randn(8, 3), use_reentrant=False)
            loss = (head(features) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # An input that requires grad, for no other purpose.
        import torch
        from torch.utils.checkpoint import checkpoint
        trunk, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
        for _ in range(6):
            obs = torch.randn(8, 3).requires_grad_()
            features = checkpoint(trunk, obs, use_reentrant=True)
            loss = (head(features) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A frozen trunk: there is nothing inside to be trained.
        import torch
        from torch.utils.checkpoint import checkpoint
        trunk, head = torch.nn.Linear(3, 8).requires_grad_(False), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD(head.parameters(), lr=0.1)
        for _ in range(6):
            features = checkpoint(trunk, torch.randn(8, 3), use_reentrant=True)
            loss = (head(features) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        """The whole loss came out of one: PyTorch refuses."""
        if not event.error or event.reached:
            return
        behind = self.history.graph.ancestors([root.nid for root in event.roots]).values()
        for site in sorted({op.facts.grad_off for op in behind} & self.history.dead_checkpoints.keys()):
            yield self._verdict(site, set(), event.site)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        by_call: dict[Site, set[ParamId]] = {}
        for cut in contribution.cuts:
            if cut.op.facts.grad_off in self.history.dead_checkpoints:
                by_call.setdefault(cut.op.facts.grad_off, set()).update(cut.pids)
        for site, pids in by_call.items():
            yield self._verdict(site, pids, contribution.site)

    def _verdict(self, site: Site, pids: set[ParamId], backward: Site) -> Verdict:
        history = self.history
        inside = {pid for pid in history.dead_checkpoints[site] if history.owner_of(pid)} - history.ever_fed
        lost = pids | inside
        what = networks(history, lost) or "what it runs"
        return Verdict(
            site,
            f"no gradient comes to {what} from backward on {line(history, backward)}: no input of this reentrant "
            "checkpoint requires grad",
            [("checkpoint", site), ("backward", backward)],
            lost,
            explains=lost,
        )


rule = CheckpointWithoutInput
