"""Leave-one-out policy gradient behind a service with two calls, one that adds up gradients and one that
steps. The first call also clears the gradients, so that of every batch only its last micro-batch is
learned.

Round 32
Class: llm-rl
"""

import copy
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("rloo")

VOCAB, EOS, PROMPT_LEN, MAX_NEW = 18, 0, 4, 7


class CausalLM(nn.Module):
    def __init__(self, dim=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def token_logps(model, ids, temperature):
    logits = model(ids[:, :-1])[:, PROMPT_LEN - 1 :] / temperature
    return -F.cross_entropy(logits.transpose(1, 2), ids[:, PROMPT_LEN:], reduction="none")


class TrainService:
    """The half of the program that holds the weights; it is driven by calls from the controller."""

    def __init__(self, lr, temperature, kl_coef, max_grad_norm=1.0):
        self.temperature, self.kl_coef, self.max_grad_norm = temperature, kl_coef, max_grad_norm
        self.model = CausalLM()
        self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    @torch.no_grad()
    def generate(self, prompts):
        ids, alive, mask = prompts, torch.ones(len(prompts), 1, dtype=torch.bool), []
        for _ in range(MAX_NEW):
            probs = F.softmax(self.model(ids)[:, -1] / self.temperature, dim=-1)
            word = torch.multinomial(probs, 1)
            mask.append(alive)
            ids = torch.cat([ids, word.masked_fill(~alive, EOS)], dim=1)
            alive = alive & (word != EOS)
        return ids, torch.cat(mask, dim=1).float()

    @torch.no_grad()
    def kl_penalty(self, ids, mask):
        gap = token_logps(self.model, ids, self.temperature) - token_logps(
            self.reference, ids, self.temperature
        )
        return self.kl_coef * (gap * mask).sum(1)

    def forward_backward(self, ids, mask, advantages, total):
        """One micro-batch; `total` is the number of answers of the whole batch."""
        self.optimizer.zero_grad()  # BUG GS405
        logps = (token_logps(self.model, ids, self.temperature) * mask).sum(1)
        loss = -(advantages * logps).sum() / total
        loss.backward()
        return loss.item()

    def optim_step(self):
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.optimizer.step()
        return norm.item()


class Controller:
    def __init__(self, service, prompts_per_batch=6, k=4, micro_batch=8):
        self.service, self.k, self.micro_batch = service, k, micro_batch
        self.prompts_per_batch = prompts_per_batch

    @staticmethod
    def reward(ids, mask):
        """Answers that end early and name the prompt's greatest word."""
        answers = ids[:, PROMPT_LEN:].masked_fill(mask == 0, -1)
        named = (answers == ids[:, :PROMPT_LEN].max(1, keepdim=True).values).any(1)
        return named.float() + 1 - mask.mean(1)

    def leave_one_out(self, rewards):
        group = rewards.view(-1, self.k)
        others = (group.sum(1, keepdim=True) - group) / (self.k - 1)
        return (group - others).flatten()

    def iteration(self):
        prompts = torch.randint(1, VOCAB, (self.prompts_per_batch, PROMPT_LEN))
        ids, mask = self.service.generate(prompts.repeat_interleave(self.k, 0))
        scores = self.reward(ids, mask)
        advantages = self.leave_one_out(scores - self.service.kl_penalty(ids, mask))
        loss = 0.0
        for rows in torch.arange(len(ids)).split(self.micro_batch):
            loss += self.service.forward_backward(ids[rows], mask[rows], advantages[rows], len(ids))
        return scores.mean().item(), loss, self.service.optim_step()


def main():
    torch.manual_seed(3209)
    controller = Controller(TrainService(lr=3e-3, temperature=0.9, kl_coef=0.02))
    for i in range(40):
        score, loss, norm = controller.iteration()
        if i % 8 == 0:
            log.info("iteration %d score %.3f loss %+.3f grad norm %.3f", i, score, loss, norm)


main()
