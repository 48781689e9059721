"""Groups of answers from a small language model. The mask of an answer ends at its end token; an answer that was
stopped by its own budget of tokens has none, and the padding that fills it up to the length of the batch is trained
like words.
Repaired here.

Round 21
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, PAD, EOS, LONGEST, GROUP = 8, 0, 1, 8, 8


class TinyLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim)
        self.positions = nn.Embedding(2 + LONGEST, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        causal = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.blocks(x, mask=causal, is_causal=True))


@torch.no_grad()
def rollout(model, prompts, budgets):
    """Every request brings a budget of its own; what is shorter than the longest is padded on the right."""
    ids, lengths = prompts, torch.zeros(len(prompts), dtype=torch.long)
    active = torch.ones(len(prompts), dtype=torch.bool)
    for _ in range(LONGEST):
        token = torch.distributions.Categorical(logits=model(ids)[:, -1]).sample()
        token = torch.where(active, token, torch.full_like(token, PAD))
        lengths += active
        ids = torch.cat([ids, token[:, None]], dim=1)
        active = active & (token != EOS) & (lengths < budgets)
    return ids[:, prompts.shape[1] :], lengths


def get_response_mask(response, lengths, dtype=torch.float32):
    is_eos = response.eq(EOS).long()
    before_the_end = (is_eos.cumsum(1) - is_eos).eq(0)
    return (before_the_end & (torch.arange(response.shape[1]) < lengths[:, None])).to(dtype)


def score(prompts, responses, lengths):
    """The share of the budgeted words that are the word asked for."""
    words = torch.arange(LONGEST) < lengths[:, None]
    return ((responses == prompts[:, :1]) & words).sum(1) / LONGEST


def response_log_probs(model, prompts, responses):
    logits = model(torch.cat([prompts, responses], dim=1))[:, prompts.shape[1] - 1 : -1]
    return F.log_softmax(logits, -1).gather(-1, responses[..., None]).squeeze(-1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def grpo_advantage(scores):
    grouped = scores.view(-1, GROUP)
    centred = grouped - grouped.mean(1, keepdim=True)
    return (centred / (grouped.std(1, keepdim=True) + 1e-6)).flatten()


def update(model, optimizer, prompts, responses, mask, advantages):
    with torch.no_grad():
        old = response_log_probs(model, prompts, responses)
    for _ in range(2):
        ratio = (response_log_probs(model, prompts, responses) - old).exp()
        gain = torch.min(ratio * advantages[:, None], ratio.clamp(0.8, 1.2) * advantages[:, None])
        loss = -masked_mean(gain, mask)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def main():
    torch.manual_seed(7)
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(50):
        asked = torch.randint(2, VOCAB, (6, 1))
        budgets = torch.randint(3, LONGEST + 1, (6,))
        prompts = torch.cat([asked, torch.full_like(asked, 2)], dim=1).repeat_interleave(GROUP, 0)
        responses, lengths = rollout(model, prompts, budgets.repeat_interleave(GROUP))
        mask = get_response_mask(responses, lengths)
        scores = score(prompts, responses, lengths)
        update(model, optimizer, prompts, responses, mask, grpo_advantage(scores))
        if step % 10 == 9:
            print(f"step {step + 1}: score {scores.mean():.3f}, tokens {lengths.float().mean():.2f}")


main()
