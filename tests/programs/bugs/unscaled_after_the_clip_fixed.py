"""Two optimizers with one scaler, mixed precision: the policy's gradients are unscaled before their clip, the reward
model's after it. (After returnn issue 1590, where nothing was unscaled.)"""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(12, 16), nn.Flatten(), nn.Linear(64, 12))
scorer = nn.Sequential(nn.Embedding(12, 16), nn.Flatten(), nn.Linear(64, 1))
policy_opt = torch.optim.AdamW(policy.parameters(), lr=1e-3)
scorer_opt = torch.optim.AdamW(scorer.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)
for update in range(12):
    prompts, answers = torch.randint(12, (8, 4)), torch.randint(12, (8,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = scorer(prompts).squeeze(-1)
        logits = policy(prompts)
    score_loss = (scores.float() - answers / 12).pow(2).mean()
    log_prob = logits.float().log_softmax(-1).gather(1, answers[:, None]).squeeze(1)
    loss = -(scores.detach().float() * log_prob).mean()
    policy_opt.zero_grad()
    scorer_opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.scale(score_loss).backward()
    scaler.unscale_(policy_opt)
    scaler.unscale_(scorer_opt)
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    nn.utils.clip_grad_norm_(scorer.parameters(), 1.0)
    scaler.step(policy_opt)
    scaler.step(scorer_opt)
    scaler.update()
