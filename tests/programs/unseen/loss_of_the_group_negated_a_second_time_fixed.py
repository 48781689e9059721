"""GRPO with old log-probabilities: the loss of every token is the negative objective, and its masked mean is minimised.

Round 28
Class: meaning
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class GRPOConfig:
    vocab: int = 14
    hidden: int = 40
    prompt: int = 2
    answer: int = 6
    prompts: int = 5
    group: int = 6
    epsilon: float = 0.2
    beta: float = 0.02
    lr: float = 3e-3
    iterations: int = 20
    inner: int = 2


class GRULM(nn.Module):
    def __init__(self, cfg: GRPOConfig):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.hidden)
        self.gru = nn.GRU(cfg.hidden, cfg.hidden, batch_first=True)
        self.head = nn.Linear(cfg.hidden, cfg.vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.gru(self.embed(tokens))[0])


def logps_of(model: GRULM, tokens: Tensor, start: int) -> Tensor:
    logp = model(tokens[:, :-1]).log_softmax(-1)
    return logp.gather(-1, tokens[:, 1:, None])[..., 0][:, start - 1 :]


def grpo_loss(logps: Tensor, old: Tensor, ref: Tensor, adv: Tensor, mask: Tensor, cfg: GRPOConfig) -> Tensor:
    weight = (logps - old).exp()
    clipped = weight.clamp(1 - cfg.epsilon, 1 + cfg.epsilon)
    gap = ref - logps
    kl = gap.exp() - gap - 1
    token_loss = -(torch.min(adv * weight, adv * clipped) - cfg.beta * kl) * mask
    return token_loss.sum() / mask.sum()


class Trainer:
    def __init__(self, cfg: GRPOConfig):
        self.cfg = cfg
        self.policy, self.reference = GRULM(cfg), GRULM(cfg)
        self.reference.load_state_dict(self.policy.state_dict())
        self.reference.requires_grad_(False).eval()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def rollout(self):
        cfg = self.cfg
        tokens = torch.randint(1, cfg.vocab, (cfg.prompts, cfg.prompt)).repeat_interleave(cfg.group, 0)
        for _ in range(cfg.answer):
            dist = torch.distributions.Categorical(logits=self.policy(tokens)[:, -1])
            tokens = torch.cat([tokens, dist.sample()[:, None]], 1)
        answers = tokens[:, cfg.prompt :]
        ended = (answers == 0).long()
        mask = ((ended.cumsum(1) - ended) == 0).float()
        return tokens, mask

    def score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The share of even words in the answer."""
        even = (tokens[:, self.cfg.prompt :] % 2 == 0).float()
        return (even * mask).sum(1) / mask.sum(1)

    def step(self) -> float:
        cfg = self.cfg
        tokens, mask = self.rollout()
        rewards = self.score(tokens, mask)
        r = rewards.view(cfg.prompts, cfg.group)
        adv = ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)).view(-1, 1)
        with torch.no_grad():
            old = logps_of(self.policy, tokens, cfg.prompt)
            ref = logps_of(self.reference, tokens, cfg.prompt)
        for _ in range(cfg.inner):
            logps = logps_of(self.policy, tokens, cfg.prompt)
            loss = grpo_loss(logps, old, ref, adv, mask, cfg)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        return rewards.mean().item()


torch.manual_seed(2818)
trainer = Trainer(GRPOConfig())
for iteration in range(trainer.cfg.iterations):
    reward = trainer.step()
    if iteration % 5 == 0:
        print(f"iteration {iteration}: share of even words {reward:.3f}")
