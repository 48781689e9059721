"""CISPO weighs every token's log-probability with its clipped importance ratio, which has to be a constant. Here the
ratio keeps its graph, and what is inside the clip is differentiated twice over. After linkedin/Liger-Kernel#1054
and areal-project/AReaL#1421 (the clipped weight is under stop-gradient).

Round 27
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class CispoConfig:
    vocab_size: int = 16
    hidden: int = 40
    prompt_length: int = 3
    max_new_tokens: int = 8
    num_prompts: int = 4
    num_generations: int = 6
    epsilon_high: float = 0.2
    num_iterations: int = 2
    learning_rate: float = 3e-3
    steps: int = 18
    eos: int = 1


class PolicyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.wte = nn.Embedding(cfg.vocab_size, cfg.hidden)
        self.rnn = nn.GRU(cfg.hidden, cfg.hidden, batch_first=True)
        self.lm_head = nn.Linear(cfg.hidden, cfg.vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.rnn(self.wte(input_ids))[0])


@torch.no_grad()
def generate(model, prompts, cfg):
    ids = prompts
    for _ in range(cfg.max_new_tokens):
        probs = model(ids)[:, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
    completion = ids[:, prompts.shape[1] :]
    ended = (completion == cfg.eos).long().cumsum(1)
    mask = ((ended - (completion == cfg.eos).long()) == 0).float()
    return ids, completion, mask


def per_token_logps(model, ids, n):
    logits = model(ids)[:, -n - 1 : -1]
    return F.log_softmax(logits, dim=-1).gather(-1, ids[:, -n:].unsqueeze(-1)).squeeze(-1)


def reward_fn(prompts, completion, mask):
    """Share of the words that are higher than the prompt's first one, and a little for ending."""
    higher = ((completion > prompts[:, :1]).float() * mask).sum(1) / mask.sum(1)
    return higher + 0.2 * (mask.sum(1) < completion.shape[1]).float()


class CispoTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = PolicyLM(cfg)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.learning_rate, weight_decay=0.0)

    def rollout(self):
        cfg = self.cfg
        prompts = torch.randint(2, cfg.vocab_size, (cfg.num_prompts, cfg.prompt_length))
        prompts = prompts.repeat_interleave(cfg.num_generations, dim=0)
        ids, completion, mask = generate(self.model, prompts, cfg)
        with torch.no_grad():
            old = per_token_logps(self.model, ids, cfg.max_new_tokens)
        rewards = reward_fn(prompts, completion, mask)
        groups = rewards.view(-1, cfg.num_generations)
        advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        return {"ids": ids, "mask": mask, "old": old, "adv": advantages.view(-1), "rewards": rewards}

    def compute_loss(self, batch):
        logps = per_token_logps(self.model, batch["ids"], self.cfg.max_new_tokens)
        coef = torch.exp(logps - batch["old"])
        weight = torch.clamp(coef, max=1 + self.cfg.epsilon_high)  # BUG GS303
        per_token_loss = -weight * batch["adv"].unsqueeze(1) * logps  # BUG GS303
        return (per_token_loss * batch["mask"]).sum() / batch["mask"].sum()

    def train(self):
        for step in range(self.cfg.steps):
            batch = self.rollout()
            for _ in range(self.cfg.num_iterations):
                loss = self.compute_loss(batch)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            if step % 6 == 0:
                print(step, f"reward {batch['rewards'].mean():.3f}")


torch.manual_seed(2711)
CispoTrainer(CispoConfig()).train()
