"""Every check, the rules that it can report, and the words without which a file cannot have such a mistake."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass

from gradsan.lint.mistake import Check

Words = tuple[str | re.Pattern[str], ...]


@dataclass(frozen=True)
class CheckEntry:
    module: str
    rules: tuple[str, ...]
    words: Words  # all of these: looked for first, and most files are done with then

    def may_concern(self, text: str) -> bool:
        return all(word in text if isinstance(word, str) else word.search(text) for word in self.words)

    def load(self) -> Check:
        check: Check = importlib.import_module(f"{__name__}.{self.module}").check
        return check


WANTS_LOGITS = re.compile(r"\.log\(|logits=|cross_entropy\(|CrossEntropyLoss|import.*\blog\b")
BOUND_TARGET = re.compile(r"target\w*\s*=\s*[\w.]+\s*(#.*)?$", re.MULTILINE)
CLAMPED_GRAD = re.compile(r"\.grad(\.data)?\s*\.cl(amp|ip)\(|\bcl(amp|ip)\([^()]*\.grad\b")
CHECKS = (
    CheckEntry("tensor_of_tensors", ("GS201", "GS202"), ("torch", "ensor(", ".backward(")),
    CheckEntry("reentrant_checkpoint", ("GS210",), ("torch.utils", "checkpoint")),
    CheckEntry("aliased_target", ("GS306",), ("torch", BOUND_TARGET)),
    CheckEntry("missing_clear", ("GS401",), ("optim", ".backward(", ".step(")),
    CheckEntry("order_of_update", ("GS404", "GS405"), (".zero_grad(", "backward(", ".step(")),
    CheckEntry("misplaced_clip", ("GS504",), ("clip_grad", "backward(", ".step(")),
    CheckEntry("used_up_parameters", ("GS505",), ("clip_grad", "parameters(")),
    CheckEntry("dropped_clip", ("GS506",), (CLAMPED_GRAD,)),
    CheckEntry("scaled_clip", ("GS507",), ("clip_grad", ".scale(", ".step(")),
    CheckEntry("softmax_misused", ("GS602",), ("torch", "oftmax", WANTS_LOGITS)),
    CheckEntry("bypassed_wrapper", ("GS703",), (".module(", "DistributedDataParallel", ".backward(")),
    CheckEntry(
        "target_from_itself",
        ("GS809",),
        (re.compile(r"(?i)target|tgt"), re.compile(r"\.load_state_dict\(|zip\(")),
    ),
)
