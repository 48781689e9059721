"""What the sampler wrote behind the first end of an answer is replaced by more ends, while the mask looks for padding:
every answer counts as long as the longest, and the policy is trained on the ends behind its end.

Round 24
Class: llm-rl
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2402)
PAD, EOS, VOCAB = 0, 1, 12
PROMPTS, GENERATIONS, MAX_NEW = 4, 6, 9


class TinyLM(nn.Module):
    def __init__(self, d=28):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, d)
        self.block = nn.GRU(d, d, batch_first=True)
        self.head = nn.Linear(d, VOCAB)

    def forward(self, ids):
        return self.head(self.block(self.wte(ids))[0])


model = TinyLM()
ref_model = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)


@torch.no_grad()
def generate(prompts):
    ids = prompts
    for _ in range(MAX_NEW):
        probs = F.softmax(model(ids)[:, -1], dim=-1)
        probs[:, PAD] = 0.0  # the sampler never says padding
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
    return ids[:, prompts.size(1) :]


def erase_after_first_eos(completion):
    is_eos = completion == EOS
    behind = is_eos.int().cumsum(dim=1) - is_eos.int() > 0
    return completion.masked_fill(behind, EOS)  # BUG GS605


def create_mask(completion):
    return (completion != PAD).float()  # BUG GS605


def log_probs_of(net, prompts, completion):
    ids = torch.cat([prompts, completion], dim=1)
    logits = net(ids)[:, prompts.size(1) - 1 : -1].clone()
    logits[..., PAD] = -1e4
    return torch.gather(logits.log_softmax(-1), 2, completion.unsqueeze(-1)).squeeze(-1)


def score(prompts, completion):
    """Even words are liked where the prompt began with an even one, odd words otherwise; every answer has an end."""
    liked = (completion % 2 == prompts[:, :1] % 2) & (completion > EOS)
    length = (completion > EOS).sum(1).clamp(min=1)
    return liked.sum(1) / length + 0.3 * (completion == EOS).any(1)


def grpo_update(beta=0.02, epsilon=0.2):
    prompts = torch.randint(2, VOCAB, (PROMPTS, 3)).repeat_interleave(GENERATIONS, dim=0)
    completion = erase_after_first_eos(generate(prompts))
    mask = create_mask(completion)  # BUG GS605
    rewards = score(prompts, completion).view(PROMPTS, GENERATIONS)
    advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)
    with torch.no_grad():
        ref_logps = log_probs_of(ref_model, prompts, completion)
        old_logps = log_probs_of(model, prompts, completion)
    for _ in range(2):
        logps = log_probs_of(model, prompts, completion)
        kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
        ratio = torch.exp(logps - old_logps)
        gain = torch.min(ratio * advantages, ratio.clamp(1 - epsilon, 1 + epsilon) * advantages)
        loss = ((beta * kl - gain) * mask).sum() / mask.sum()  # BUG GS605
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return rewards.mean().item(), mask.sum(1).mean().item()


for step in range(30):
    reward, length = grpo_update()
    if step % 10 == 9:
        print(f"step {step + 1}: reward {reward:.3f}, length {length:.1f}")
