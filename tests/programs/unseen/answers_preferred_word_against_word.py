"""Direct preference optimisation. The log-probability of an answer is kept as one column per word, and the
loss compares chosen and rejected answers place by place instead of as whole answers.

Round 32
Class: llm-rl
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3207)

PAD_ID, EOS_ID = 0, 1
CFG = {
    "vocab": 24,
    "dim": 32,
    "heads": 4,
    "max_len": 14,
    "beta": 0.2,
    "lr": 1e-3,
    "batch": 16,
    "sft": 20,
    "dpo": 30,
}


class SmallTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg["vocab"], cfg["dim"])
        self.pos = nn.Embedding(cfg["max_len"], cfg["dim"])
        layer = nn.TransformerEncoderLayer(
            cfg["dim"], cfg["heads"], 2 * cfg["dim"], dropout=0.0, batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(cfg["dim"], cfg["vocab"])

    def forward(self, ids):
        t = ids.size(1)
        causal = torch.ones(t, t, dtype=torch.bool).triu(1)
        return self.head(self.body(self.tok(ids) + self.pos.weight[:t], mask=causal))


def make_answer(prompt, good):
    """A good answer climbs from the prompt's first word; a bad one wanders. Both end with the end word."""
    length = int(torch.randint(3, 9, ()))
    if good:
        words = [(int(prompt[0]) - 2 + i) % (CFG["vocab"] - 2) + 2 for i in range(1, length + 1)]
    else:
        words = torch.randint(2, CFG["vocab"], (length,)).tolist()
    return [*words, EOS_ID]


def make_batch(size):
    """Rows of prompt and answer, padded on the right, chosen first; labels are -100 outside the answers."""
    prompts = torch.randint(2, CFG["vocab"], (size, 4))
    ids = torch.full((2 * size, CFG["max_len"]), PAD_ID)
    labels = torch.full_like(ids, -100)
    for row in range(2 * size):
        prompt = prompts[row % size]
        answer = torch.tensor(make_answer(prompt, good=row < size))
        ids[row, :4] = prompt
        ids[row, 4 : 4 + len(answer)] = answer
        labels[row, 4 : 4 + len(answer)] = answer
    return ids, labels


def get_batch_logps(logits, labels):
    labels = labels[:, 1:].clone()
    logits = logits[:, :-1]
    mask = labels != -100
    labels[~mask] = 0
    per_token = torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2)
    return per_token * mask  # BUG GS603


def dpo_loss(policy_logps, ref_logps, beta):
    policy_chosen, policy_rejected = policy_logps.chunk(2)
    ref_chosen, ref_rejected = ref_logps.chunk(2)
    chosen_rewards = beta * (policy_chosen - ref_chosen)  # BUG GS603
    rejected_rewards = beta * (policy_rejected - ref_rejected)  # BUG GS603
    loss = -F.logsigmoid(chosen_rewards - rejected_rewards).mean()  # BUG GS603
    return loss, (chosen_rewards - rejected_rewards).detach().mean()


def warm_up(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(CFG["sft"]):
        ids, labels = (rows.chunk(2)[0] for rows in make_batch(CFG["batch"]))
        logits = model(ids)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"supervised loss {loss.item():.3f}")


policy = SmallTransformer(CFG)
warm_up(policy)
reference = copy.deepcopy(policy).eval()
for parameter in reference.parameters():
    parameter.requires_grad_(False)

optimizer = torch.optim.RMSprop(policy.parameters(), lr=CFG["lr"])
for step in range(CFG["dpo"]):
    ids, labels = make_batch(CFG["batch"])
    policy_logps = get_batch_logps(policy(ids), labels)
    with torch.no_grad():
        ref_logps = get_batch_logps(reference(ids), labels)
    loss, margin = dpo_loss(policy_logps, ref_logps, CFG["beta"])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    optimizer.step()
    if step % 6 == 0:
        print(f"step {step}: loss {loss.item():.4f} margin {margin.item():.4f}")
