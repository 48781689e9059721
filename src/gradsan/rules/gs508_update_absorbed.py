"""GS508: weights in half precision stay what they are, because the updates are smaller than their spacing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradsan.judge.history import History
from gradsan.judge.report.wording import networks
from gradsan.record.events import NOWHERE, OptimizerId, ParamId, Sample, Site, Step, Unmoved
from gradsan.rules.base import Rule, Verdict, Verdicts

PATIENCE = 12  # samples without a rise of the learning rate
STUCK = 0.7  # of the numbers of a parameter: those near zero have a finer spacing, and move
DRIFT = 0.01  # by so much the share may fall meanwhile: weights that are rounded at random move one by one
MOST = 0.5  # of the numbers of the optimizer: a scale that stays at 1.0 among weights that learn is not worth a word
BITS = {"bfloat16": 7, "float16": 10}  # behind the first one


@dataclass(slots=True)
class _Record:
    lr: float
    share: float
    samples: int = 0


class UpdateAbsorbed(Rule):
    code = "GS508"
    name = "update-absorbed"
    severity = "warning"
    what = """
        Parameters in `bfloat16` or `float16` get a gradient and are stepped, and their bits stay the same: each update
        is smaller than half the distance to the next number that they could become.
    """
    why = """
        A `bfloat16` has eight significant bits. Next to 0.05 its numbers lie 0.00024 apart; adding 0.00001 gives
        0.05 again, and the update is lost, this time and every time: nothing adds up. The optimizer's averages look
        healthy, the gradients look healthy, and the weights are those of the start.
    """
    symptom = """
        The loss has noise and no trend, and gradient norms are normal. A larger learning rate makes it learn all at
        once, and roughly.
    """
    fix = (
        "keep the weights that the optimizer owns in float32 and use `torch.autocast` for the forward pass, or use an "
        "optimizer with float32 master weights or stochastic rounding"
    )
    deliberate = """
        A learning rate of zero, a warm-up whose learning rate still rises, stochastic rounding and master weights in
        the optimizer's state are not reported. An optimizer that adds up what was rounded away (Kahan's summation)
        moves the weights later: allow it where it is made.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(16, 4).to(torch.bfloat16)
        opt = torch.optim.Adam(net.parameters(), lr=1e-5)  # BUG
        for _ in range(20):
            obs, wanted = torch.randn(8, 16).bfloat16(), torch.randn(8, 4)
            loss = (net(obs).float() - wanted).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        # Float32 in the optimizer's hands, half precision in the forward pass.
        import torch
        net = torch.nn.Linear(16, 4)
        opt = torch.optim.Adam(net.parameters(), lr=1e-5)
        for _ in range(20):
            obs, wanted = torch.randn(8, 16), torch.randn(8, 4)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = net(obs)
            loss = (out.float() - wanted).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A warm-up that begins with steps too small to be seen.
        import torch
        net = torch.nn.Linear(16, 4).to(torch.bfloat16)
        opt = torch.optim.Adam(net.parameters(), lr=1e-2)
        warm_up = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: (i / 40) ** 4)
        for _ in range(40):
            obs, wanted = torch.randn(8, 16).bfloat16(), torch.randn(8, 4)
            loss = (net(obs).float() - wanted).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            warm_up.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._records: dict[ParamId, _Record] = {}
        self._stepped_at: dict[OptimizerId, Site] = {}

    def on_step(self, event: Step) -> Verdicts:
        self._stepped_at[event.oid] = event.site
        return ()

    def on_sample(self, event: Sample) -> Verdicts:
        stuck = [row for row in event.unmoved if self._is_stuck(row)]
        if not stuck or self._numbers(stuck) < MOST * self._numbers(event.unmoved):
            return
        optimizer = self.history.optimizers[event.oid]
        step = self._stepped_at.get(event.oid, NOWHERE)
        pids = [row.pid for row in stuck]
        made = [("parameter", site) for pid in pids if (site := self.history.params[pid].created)]
        yield Verdict(
            optimizer.site or step,
            self._message(event, stuck),
            [*dict.fromkeys(made), ("optimizer", optimizer.site), ("step", step)],
            pids,
        )

    def _is_stuck(self, row: Unmoved) -> bool:
        record = self._records.setdefault(row.pid, _Record(row.lr, row.share))
        if row.share < max(STUCK, record.share - DRIFT) or row.lr > record.lr:
            record.samples, record.share = 0, row.share
        record.samples += 1
        record.lr = row.lr
        return record.samples >= PATIENCE and row.share >= STUCK

    def _numbers(self, rows: list[Unmoved] | tuple[Unmoved, ...]) -> int:
        return sum(math.prod(self.history.params[row.pid].shape) for row in rows)

    def _message(self, event: Sample, stuck: list[Unmoved]) -> str:
        largest = max(stuck, key=lambda row: self._numbers([row]))
        norm = next((row.weight for row in event.norms if row.pid == largest.pid), 0.0)
        share = min(row.share for row in stuck)
        message = (
            f"{networks(self.history, [row.pid for row in stuck])} in {largest.dtype} did not move: of the numbers "
            f"that got gradient, {int(100 * share)}% have the same bits as at first, with a learning rate of "
            f"{largest.lr:g}"
        )
        size = norm / math.sqrt(self._numbers([largest]))
        if not size or not math.isfinite(size):
            return message
        spacing = 2.0 ** (math.floor(math.log2(size)) - BITS[largest.dtype])
        return f"{message}; {largest.dtype} has steps of {spacing:.2g} near {size:.2g}"


rule = UpdateAbsorbed
