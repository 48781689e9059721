"""One trainer in one setting: `program.py grpo lora checkpointed`. Prints a digest of the weights at the end, and the
processor time of the training. `steps=500` makes it longer."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from batches import Batches
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from tiny import make
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    RewardConfig,
    RewardTrainer,
    RLOOConfig,
    RLOOTrainer,
    SFTConfig,
    SFTTrainer,
)

PAIRS = [(c, d) for c in "abcdef" for d in "ghij"]
PROMPTS = Dataset.from_dict({"prompt": [f"q : {c} {d}" for c, d in PAIRS]})
PREFERENCES = Dataset.from_dict(
    {
        "prompt": [f"q : {c} {d}" for c, d in PAIRS],
        "chosen": [f" yes {c}" for c, _ in PAIRS],
        "rejected": [f" no {d}" for _, d in PAIRS],
    }
)
TEXTS = Dataset.from_dict({"text": [f"q : {c} {d} yes {c}" for c, d in PAIRS]})


def reward(completions: list[str], **_: Any) -> list[float]:
    return [float(c.split().count("yes")) + 0.1 * len(set(c.split())) for c in completions]


def steps(names: list[str]) -> int:
    return next((int(n.removeprefix("steps=")) for n in names if n.startswith("steps=")), 8)


def settings(names: list[str], folder: Path) -> dict[str, Any]:
    common: dict[str, Any] = {
        "output_dir": str(folder / "out"), "per_device_train_batch_size": 4, "max_steps": steps(names), "report_to": [],
        "learning_rate": 1e-3, "use_cpu": True, "save_strategy": "no", "disable_tqdm": True, "logging_steps": 100,
        "bf16": "bf16" in names, "gradient_checkpointing": "reentrant" in names or "checkpointed" in names,
        "gradient_accumulation_steps": 4 if "accumulated" in names else 1,
        "torch_compile": "compiled" in names,
    }  # fmt: skip
    if common["gradient_checkpointing"]:
        common["gradient_checkpointing_kwargs"] = {"use_reentrant": "reentrant" in names}
    return common


def trainer(kind: str, names: list[str], folder: Path) -> Any:
    path, common = make(folder / "model"), settings(names, folder)
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"]) if "lora" in names else None
    if kind in ("grpo", "rloo"):
        made, config = (GRPOTrainer, GRPOConfig) if kind == "grpo" else (RLOOTrainer, RLOOConfig)
        reused = {"num_iterations": 2, "beta": 0.04} if "reused" in names else {}
        args = config(**common, **reused, num_generations=4, max_completion_length=6)
        return made(path, reward_funcs=reward, args=args, train_dataset=PROMPTS, peft_config=lora)
    if kind == "dpo":
        return DPOTrainer(path, args=DPOConfig(**common), train_dataset=PREFERENCES, peft_config=lora)
    if kind == "reward":
        model = AutoModelForSequenceClassification.from_pretrained(path, num_labels=1)
        return RewardTrainer(model, args=RewardConfig(**common), train_dataset=PREFERENCES, peft_config=lora)
    if kind == "trainer":
        return plain(path, common, lora)
    if kind == "accelerate":
        return Loop(path, names, lora)
    if kind == "tensordict":
        return Batches(steps(names))
    return SFTTrainer(path, args=SFTConfig(**common), train_dataset=TEXTS, peft_config=lora)


def plain(path: str, common: dict[str, Any], lora: LoraConfig | None) -> Trainer:
    """transformers' own trainer."""
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModelForCausalLM.from_pretrained(path)
    data = [tokenizer(row["text"]) for row in TEXTS]
    if lora is not None:
        model = get_peft_model(model, lora)
        model.enable_input_require_grads()
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    return Trainer(model, TrainingArguments(**common), train_dataset=data, data_collator=collator)


class Loop:
    """A loop of one's own with accelerate, the tokens of the window counted first."""

    def __init__(self, path: str, names: list[str], lora: LoraConfig | None) -> None:
        self.window, self.updates = 4 if "accumulated" in names else 1, steps(names)
        self.accelerator = Accelerator(
            cpu=True,
            mixed_precision="bf16" if "bf16" in names else "no",
            gradient_accumulation_steps=self.window,
        )
        model = AutoModelForCausalLM.from_pretrained(path)
        model = model if lora is None else get_peft_model(model, lora)
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
        tokenizer = AutoTokenizer.from_pretrained(path)
        rows = [torch.tensor(tokenizer(row["text"])["input_ids"]) for row in TEXTS]
        loader = torch.utils.data.DataLoader(
            rows, batch_size=4, collate_fn=partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
        )
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, optimizer, loader)

    def train(self) -> None:
        batches = [
            batch for _ in range(1 + self.updates * self.window // len(self.loader)) for batch in self.loader
        ]
        for update in range(self.updates):
            window = batches[update * self.window : (update + 1) * self.window]
            count = sum(int((tokens[:, 1:] != 0).sum()) for tokens in window)
            for tokens in window:
                with self.accelerator.accumulate(self.model):
                    logits = self.model(input_ids=tokens).logits[:, :-1]
                    loss = torch.nn.functional.cross_entropy(
                        logits.float().flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0, reduction="sum"
                    )
                    self.accelerator.backward(loss * self.window / count)  # it divides by the window's length
                    self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()


def main() -> None:
    torch.set_num_threads(1)
    kind, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        made = trainer(kind, names, Path(folder))
        begun = time.process_time()
        made.train()
        taken = time.process_time() - begun
    digest = hashlib.sha256()
    for name, tensor in sorted(made.model.state_dict().items()):
        digest.update(name.encode() + tensor.detach().float().numpy().tobytes())
    if "compiled" in names:  # recompilations count as a difference
        stats = torch._dynamo.utils.counters["stats"]
        print("graphs", stats["unique_graphs"], "calls", stats["calls_captured"], file=sys.stderr)
        digest.update(str(stats["unique_graphs"]).encode())
    print("weights", digest.hexdigest()[:16], "cpu", round(taken, 3))


if __name__ == "__main__":
    main()
