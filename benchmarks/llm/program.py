"""One trainer in one setting: `program.py grpo lora checkpointed`. Prints a digest of the weights at the end."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from tiny import make
from transformers import AutoModelForSequenceClassification
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


def settings(names: list[str], folder: Path) -> dict[str, Any]:
    common: dict[str, Any] = {
        "output_dir": str(folder / "out"), "per_device_train_batch_size": 4, "max_steps": 8, "report_to": [],
        "learning_rate": 1e-3, "use_cpu": True, "save_strategy": "no", "disable_tqdm": True, "logging_steps": 100,
        "bf16": "bf16" in names, "gradient_checkpointing": "reentrant" in names or "checkpointed" in names,
        "gradient_accumulation_steps": 4 if "accumulated" in names else 1,
    }  # fmt: skip
    if common["gradient_checkpointing"]:
        common["gradient_checkpointing_kwargs"] = {"use_reentrant": "reentrant" in names}
    return common


def trainer(kind: str, names: list[str], folder: Path) -> Any:
    path, common = make(folder / "model"), settings(names, folder)
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"]) if "lora" in names else None
    if kind in ("grpo", "rloo"):
        made, config = (GRPOTrainer, GRPOConfig) if kind == "grpo" else (RLOOTrainer, RLOOConfig)
        args = config(**common, num_generations=4, max_completion_length=6)
        return made(path, reward_funcs=reward, args=args, train_dataset=PROMPTS, peft_config=lora)
    if kind == "dpo":
        return DPOTrainer(path, args=DPOConfig(**common), train_dataset=PREFERENCES, peft_config=lora)
    if kind == "reward":
        model = AutoModelForSequenceClassification.from_pretrained(path, num_labels=1)
        return RewardTrainer(model, args=RewardConfig(**common), train_dataset=PREFERENCES, peft_config=lora)
    return SFTTrainer(path, args=SFTConfig(**common), train_dataset=TEXTS, peft_config=lora)


def main() -> None:
    torch.set_num_threads(1)
    kind, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        made = trainer(kind, names, Path(folder))
        made.train()
    digest = hashlib.sha256()
    for name, tensor in sorted(made.model.state_dict().items()):
        digest.update(name.encode() + tensor.detach().float().numpy().tobytes())
    print("weights", digest.hexdigest()[:16], "updates", made.state.global_step)


if __name__ == "__main__":
    main()
