"""Answers without an end are taken out of the loss; when a batch has no other, the helper that averages over the mask
hands back a fresh zero without any graph, and that batch ends the run.

Round 14
Class: late and rare
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

BOS, EOS, VOCAB, LENGTH, GROUP = 0, 1, 9, 6, 6


def masked_mean(tensor, mask, dim=None):
    if dim is not None:
        count = mask.sum(dim=dim)
        return (tensor * mask).sum(dim=dim) / (count + 1e-8)
    return (tensor * mask).sum() / (mask.sum() + 1e-8) if mask.sum() > 0 else torch.tensor(0.0)  # BUG GS201


def agg_loss(loss_mat, mask, mode):
    if mode == "token-mean":
        return masked_mean(loss_mat, mask)
    present = mask.any(dim=-1).float()
    return (masked_mean(loss_mat, mask, dim=-1) * present).sum() / (present.sum() + 1e-8)


class Policy(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed, self.rnn, self.head = (
            nn.Embedding(VOCAB, dim),
            nn.GRU(dim, dim, batch_first=True),
            nn.Linear(dim, VOCAB),
        )

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])

    def log_probs(self, tokens):
        logits = self(tokens[:, :-1])
        return F.log_softmax(logits, dim=-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def generate(self, prompts):
        tokens = prompts
        for _ in range(LENGTH):
            following = torch.multinomial(self(tokens)[:, -1].softmax(-1), 1)
            tokens = torch.cat([tokens, following], dim=1)
        return tokens


class ActorWorker:
    def __init__(self, mode="token-mean", clip=0.2, kl_coef=0.02):
        self.mode, self.clip, self.kl_coef = mode, clip, kl_coef
        self.policy = Policy()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)

    def train_step(self, batch):
        log_probs = self.policy.log_probs(batch["tokens"])[:, 1:]
        ratio = (log_probs - batch["old"]).exp()
        advantages = batch["advantages"].unsqueeze(-1)
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - self.clip, 1 + self.clip) * advantages)
        pg_loss = agg_loss(-surrogate, batch["final_mask"], self.mode)
        gap = batch["reference"] - log_probs
        kl_loss = agg_loss(gap.exp() - gap - 1, batch["final_mask"], self.mode)
        total_loss = pg_loss + self.kl_coef * kl_loss
        self.optimizer.zero_grad()
        total_loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        return total_loss.item()


class Pipeline:
    def __init__(self):
        self.actor = ActorWorker()

    @torch.no_grad()
    def prepare(self):
        subject = int(torch.randint(2, VOCAB, (1,)))
        prompts = torch.tensor([[BOS, subject]]).repeat(GROUP, 1)
        tokens = self.actor.policy.generate(prompts)
        answers = tokens[:, 2:]
        ended = answers.eq(EOS)
        response_mask = (ended.cumsum(-1) - ended.long()).eq(0).float()
        score = (answers.eq(subject).float() * response_mask).sum(-1) / response_mask.sum(-1)
        advantages = (score - score.mean()) / (score.std() + 1e-6)
        keep = ended.any(dim=-1).float()  # an answer that ran into the limit says nothing
        return {
            "tokens": tokens,
            "advantages": advantages,
            "final_mask": response_mask * keep.unsqueeze(-1),
            "old": self.actor.policy.log_probs(tokens)[:, 1:],
            "reference": self.actor.reference.log_probs(tokens)[:, 1:],
        }

    def run(self, steps):
        log = []
        for _ in range(steps):
            batch = self.prepare()
            log += [self.actor.train_step(batch) for _ in range(2)]
        return log


torch.manual_seed(1410)
print(Pipeline().run(60)[-1])
