"""GRPO with a sampler of its own: sampler and trainer score the answers at the same temperature.

Round 28
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 2819
args = {
    "vocab_size": 18,
    "d_model": 32,
    "prompt_len": 4,
    "response_len": 6,
    "n_prompts": 4,
    "n_samples": 6,
    "temperature": 0.7,
    "cliprange": 0.2,
    "lr": 2e-3,
    "updates": 18,
}


class CausalLM(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.rnn = nn.LSTM(d_model, d_model, batch_first=True)
        self.norm = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, vocab_size)

    def forward(self, ids):
        h, _ = self.rnn(self.tok(ids))
        return self.out(self.norm(h))


class Sampler:
    """Draws answers and keeps the log-probability of every word as it was drawn."""

    def __init__(self, model, temperature, response_len):
        self.model, self.temperature, self.response_len = model, temperature, response_len

    @torch.no_grad()
    def __call__(self, prompts):
        ids, logprobs = prompts, []
        for _ in range(self.response_len):
            scaled = self.model(ids)[:, -1] / self.temperature
            logp = F.log_softmax(scaled, dim=-1)
            token = torch.multinomial(logp.exp(), 1)
            logprobs.append(logp.gather(1, token))
            ids = torch.cat([ids, token], dim=1)
        return ids, torch.cat(logprobs, dim=1)


def score(model, ids, prompt_len, temperature):
    logits = model(ids[:, :-1])[:, prompt_len - 1 :]
    logp = F.log_softmax(logits / temperature, dim=-1)
    return logp.gather(2, ids[:, prompt_len:].unsqueeze(2)).squeeze(2)


def reward(ids, prompt_len):
    """Every word that stands next to an equal word costs, every rise pays."""
    response = ids[:, prompt_len:]
    rises = (response[:, 1:] > response[:, :-1]).float().mean(1)
    repeats = (response[:, 1:] == response[:, :-1]).float().mean(1)
    return rises - repeats


def main(a):
    torch.manual_seed(SEED)
    policy = CausalLM(a["vocab_size"], a["d_model"])
    sampler = Sampler(policy, a["temperature"], a["response_len"])
    optim = torch.optim.Adam(policy.parameters(), lr=a["lr"])
    for update in range(a["updates"]):
        prompts = torch.randint(0, a["vocab_size"], (a["n_prompts"], a["prompt_len"]))
        ids, behaviour = sampler(prompts.repeat_interleave(a["n_samples"], dim=0))
        rewards = reward(ids, a["prompt_len"])
        group = rewards.view(-1, a["n_samples"])
        advantage = (group - group.mean(1, keepdim=True)) / (group.std(1, keepdim=True) + 1e-4)
        advantage = advantage.flatten().unsqueeze(1)
        for _ in range(3):
            logp = score(policy, ids, a["prompt_len"], a["temperature"])
            ratio = torch.exp(logp - behaviour)
            clipped = torch.clamp(ratio, 1 - a["cliprange"], 1 + a["cliprange"])
            loss = torch.max(-advantage * ratio, -advantage * clipped).mean()
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optim.step()
        if update % 6 == 0:
            print(f"update {update}: reward {rewards.mean():.3f} loss {loss.item():.4f}")


main(args)
