"""Bugs in code of one's own around the libraries: `planted.py NAME`. The wrong lines are marked; `run_planted.py` tries
all of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from peft import LoraConfig, get_peft_model
from program import PREFERENCES, PROMPTS, TEXTS, reward, settings
from tiny import make
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer

LORA = LoraConfig(r=4, target_modules=["q_proj", "v_proj"])


class Padded:
    """Texts as tokens, padded, with labels."""

    def __init__(self, tokenizer: Any) -> None:
        self.rows = [tokenizer(row["text"] + " no" * (i % 5))["input_ids"] for i, row in enumerate(TEXTS)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> list[int]:
        return self.rows[index]

    @staticmethod
    def collate(rows: list[list[int]]) -> dict[str, torch.Tensor]:
        tokens = torch.nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True)
        return {"input_ids": tokens, "labels": tokens.masked_fill(tokens == 0, -100)}


def train(kind: type[Trainer], folder: Path, *names: str, lora: bool = False, **options: Any) -> Any:
    path = make(folder / "model")
    model = AutoModelForCausalLM.from_pretrained(path)
    if lora:
        model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj"], modules_to_save=["lm_head"]))
    args = TrainingArguments(**{**settings(["steps=16", *names], folder), "remove_unused_columns": False})
    data = Padded(AutoTokenizer.from_pretrained(path))
    made = kind(model, args, train_dataset=data, data_collator=options.get("collate", Padded.collate))
    made.train()
    return made


def detached_loss(folder: Path) -> None:
    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            out = model(**inputs)
            entropy = torch.distributions.Categorical(logits=out.logits).entropy().mean()
            return out.loss.detach() - 0.01 * entropy  # BUG GS202

    train(Mine, folder)


def mean_of_each_micro_batch(folder: Path) -> None:
    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            logits = model(input_ids=inputs["input_ids"]).logits[:, :-1]
            labels = inputs["labels"][:, 1:]
            losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
            return losses.sum() / (labels != -100).sum() / self.args.gradient_accumulation_steps  # BUG GS407

    train(Mine, folder, "accumulated")


def optimizer_without_the_second_factor(folder: Path) -> None:
    class Mine(Trainer):
        def create_optimizer(self, *_: Any) -> Any:
            wanted = ("lora_A", "modules_to_save")
            chosen = [p for n, p in self.model.named_parameters() if any(w in n for w in wanted)]  # BUG GS205
            self.optimizer = torch.optim.AdamW(chosen, lr=1e-3)
            return self.optimizer

    train(Mine, folder, lora=True)


def checkpoint_over_frozen_embeddings(folder: Path) -> None:
    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            return model(**inputs).loss  # BUG GS210 GS201

    class Without(Mine):
        def __init__(self, model: Any, *args: Any, **kwargs: Any) -> None:
            model.base_model.model.enable_input_require_grads = lambda: None  # an older transformers
            model.enable_input_require_grads = lambda: None
            super().__init__(model, *args, **kwargs)

    train(Without, folder, "reentrant", lora=True)


def reward_leaves_gradients_off(folder: Path) -> None:
    scorer = AutoModelForCausalLM.from_pretrained(make(folder / "scorer"))

    def scored(completions: list[str], completion_ids: list[list[int]], **_: Any) -> list[float]:
        torch.set_grad_enabled(False)  # BUG GS201
        return [float(scorer(input_ids=torch.tensor([ids])).logits.mean()) for ids in completion_ids]

    args = GRPOConfig(**settings([], folder), num_generations=4, max_completion_length=6)
    path = make(folder / "model")
    GRPOTrainer(path, reward_funcs=scored, args=args, train_dataset=PROMPTS).train()


def collator_scores_with_the_live_model(folder: Path) -> None:
    models: list[Any] = []

    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            tokens = inputs["input_ids"]
            logp = (
                model(input_ids=tokens)
                .logits[:, :-1]
                .log_softmax(-1)
                .gather(-1, tokens[:, 1:, None])
                .squeeze(-1)
            )
            return -(inputs["weights"] * logp.sum(1)).mean()

        def get_train_dataloader(self) -> Any:
            models.append(self.model)
            return super().get_train_dataloader()

    def collate(rows: list[list[int]]) -> dict[str, torch.Tensor]:
        batch = Padded.collate(rows)
        logits = models[-1](input_ids=batch["input_ids"]).logits
        return {**batch, "weights": logits.logsumexp(-1).mean(1).sigmoid()}  # BUG GS102

    train(Mine, folder, collate=collate)


def reference_is_the_policy(folder: Path) -> None:
    class Mine(Trainer):
        def log_probs(self, model: Any, tokens: torch.Tensor) -> torch.Tensor:
            return (
                model(input_ids=tokens)
                .logits[:, :-1]
                .log_softmax(-1)
                .gather(-1, tokens[:, 1:, None])
                .squeeze(-1)
            )

        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            self.reference = getattr(self, "reference", model)
            logp = self.log_probs(model, inputs["input_ids"])
            with torch.no_grad():
                ref = self.log_probs(self.reference, inputs["input_ids"])  # BUG GS808
            kl = torch.exp(ref - logp) - (ref - logp) - 1
            return (0.1 * kl - logp).mean()

    train(Mine, folder)


def frozen_by_the_adapter(folder: Path) -> None:
    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            out = model(**inputs, output_hidden_states=True)
            values = model.base_model.model.value_head(out.hidden_states[-1]).squeeze(-1)
            return out.loss + values.pow(2).mean()

    path = make(folder / "model")
    model = AutoModelForCausalLM.from_pretrained(path)
    model.value_head = torch.nn.Linear(32, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # BUG GS206 (nor has it the adapters)
    model = get_peft_model(model, LORA)  # BUG GS207
    args = TrainingArguments(**{**settings(["steps=16"], folder), "remove_unused_columns": False})
    data = Padded(AutoTokenizer.from_pretrained(path))
    Mine(model, args, train_dataset=data, data_collator=Padded.collate, optimizers=(optimizer, None)).train()


def reference_of_the_trainer_is_its_model(folder: Path) -> None:
    args = DPOConfig(**settings(["steps=16"], folder))
    trainer = DPOTrainer(make(folder / "model"), args=args, train_dataset=PREFERENCES)
    trainer.ref_model = trainer.model
    trainer.train()  # BUG GS808


def new_value_head_frozen_by_the_adapter(folder: Path) -> None:
    class Mine(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            out = model(**inputs, output_hidden_states=True)
            values = model.base_model.model.value_head(out.hidden_states[-1]).squeeze(-1)
            returns = (inputs["labels"] == 3).float().flip(1).cumsum(1).flip(1)
            return out.loss + F.mse_loss(values, returns)

    path = make(folder / "model")
    model = AutoModelForCausalLM.from_pretrained(path)
    model.value_head = torch.nn.Linear(32, 1)
    model = get_peft_model(model, LORA)  # BUG GS207
    args = TrainingArguments(**{**settings(["steps=16"], folder), "remove_unused_columns": False})
    data = Padded(AutoTokenizer.from_pretrained(path))
    Mine(model, args, train_dataset=data, data_collator=Padded.collate).train()


def grpo(kind: type[GRPOTrainer], folder: Path, **options: Any) -> None:
    common = settings(["steps=16"], folder)
    args = GRPOConfig(**common, **options, num_generations=4, max_completion_length=6)
    kind(make(folder / "model"), reward_funcs=reward, args=args, train_dataset=PROMPTS).train()


def old_log_probs_at_another_temperature(folder: Path) -> None:
    class Mine(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            batch = super()._generate_and_score_completions(inputs)
            tokens = torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
            mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], 1)
            answer = batch["completion_ids"]
            length = answer.shape[1]
            with torch.no_grad():
                logits = self.model(input_ids=tokens, attention_mask=mask).logits[:, -length - 1 : -1]
                chosen = (logits / 0.5).log_softmax(-1).gather(-1, answer[..., None])  # BUG GS803
            batch["old_per_token_logps"] = chosen.squeeze(-1)
            return batch

    grpo(Mine, folder)


def old_log_probs_computed_anew(folder: Path) -> None:
    class Mine(GRPOTrainer):
        def _compute_loss(self, model: Any, inputs: Any) -> Any:
            tokens = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
            mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
            kept = inputs["completion_ids"].shape[1]
            with torch.no_grad():
                found = self._get_per_token_logps_and_entropies(model, tokens, mask, kept)  # BUG GS804
            return super()._compute_loss(model, {**inputs, "old_per_token_logps": found[0]})

    grpo(Mine, folder, num_iterations=4)


PLANTED = (
    detached_loss, mean_of_each_micro_batch, optimizer_without_the_second_factor, checkpoint_over_frozen_embeddings,
    reward_leaves_gradients_off, collator_scores_with_the_live_model, reference_is_the_policy,
    frozen_by_the_adapter, reference_of_the_trainer_is_its_model, new_value_head_frozen_by_the_adapter,
    old_log_probs_at_another_temperature, old_log_probs_computed_anew,
)  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        next(f for f in PLANTED if f.__name__ == sys.argv[1])(Path(folder))
    print("weights none cpu 0")


if __name__ == "__main__":
    main()
