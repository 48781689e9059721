"""Group-relative policy optimisation where another engine samples: it holds a copy of the weights, gives back tokens
and their log-probabilities, and the trainer corrects for what differs between the two with truncated weights.

Round 31
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

DIGITS, PLUS, EQUALS, EOS = 10, 10, 11, 12
VOCAB = 13


@dataclass
class Args:
    temperature: float = 0.7
    num_generations: int = 8
    prompts_per_step: int = 4
    max_completion_length: int = 5
    updates_per_generation: int = 2
    importance_sampling_cap: float = 2.0
    epsilon: float = 0.2
    learning_rate: float = 2e-3
    steps: int = 30


class PolicyLM(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.body = nn.LSTM(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, VOCAB)
        nn.init.normal_(self.lm_head.weight, std=0.5)

    def forward(self, ids, cache=None):
        hidden, cache = self.body(self.embed(ids), cache)
        return self.lm_head(hidden), cache


class SamplingEngine:
    def __init__(self, model, args):
        self.model, self.args = copy.deepcopy(model).eval().requires_grad_(False), args

    def load_weights(self, state_dict):
        self.model.load_state_dict(state_dict)

    @torch.inference_mode()
    def generate(self, prompts):
        """Lists of token ids and of log-probabilities, one of each per prompt; both end with the end token."""
        tokens, logprobs = [[] for _ in prompts], [[] for _ in prompts]
        logits, cache = self.model(prompts)
        for _ in range(self.args.max_completion_length):
            last = logits[:, -1]
            probs = F.softmax(last / self.args.temperature, dim=-1)
            chosen = torch.multinomial(probs, 1)
            scored = F.log_softmax(last, dim=-1).gather(1, chosen)  # BUG GS803
            for row, (token, logprob) in enumerate(zip(chosen.flatten().tolist(), scored.flatten().tolist())):
                if EOS not in tokens[row]:
                    tokens[row].append(token)
                    logprobs[row].append(logprob)
            logits, cache = self.model(chosen, cache)
        return tokens, logprobs


def pad(rows, value):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def reward_of(prompt, completion):
    """The sum of the two digits, written with as many digits as it needs."""
    wanted = [int(c) for c in str(int(prompt[0] + prompt[2]))] + [EOS]
    right = sum(a == b for a, b in zip(wanted, completion))
    return right / len(wanted) - 0.2 * (len(completion) != len(wanted))


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.engine = SamplingEngine(model, args)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)

    def get_per_token_logps(self, prompt_ids, completion_ids):
        logits, _ = self.model(torch.cat([prompt_ids, completion_ids[:, :-1]], dim=1))
        logits = logits[:, prompt_ids.shape[1] - 1 :] / self.args.temperature
        return F.log_softmax(logits, dim=-1).gather(-1, completion_ids.unsqueeze(-1)).squeeze(-1)

    def prepare_inputs(self):
        a, b = torch.randint(0, DIGITS, (2, self.args.prompts_per_step, 1))
        prompts = torch.cat([a, torch.full_like(a, PLUS), b, torch.full_like(a, EQUALS)], dim=1)
        prompts = prompts.repeat_interleave(self.args.num_generations, dim=0)
        self.engine.load_weights(self.model.state_dict())
        tokens, logprobs = self.engine.generate(prompts)
        completions, sampling_logps = pad(tokens, EOS), pad(logprobs, 0.0)
        mask = pad([[1.0] * len(row) for row in tokens], 0.0)

        rewards = torch.tensor([reward_of(p, c) for p, c in zip(prompts, tokens)])
        groups = rewards.view(-1, self.args.num_generations)
        advantages = (groups - groups.mean(dim=1, keepdim=True)) / (groups.std(dim=1, keepdim=True) + 1e-4)
        with torch.no_grad():
            old_logps = self.get_per_token_logps(prompts, completions)
            ratio = torch.exp((old_logps - sampling_logps) * mask)  # BUG GS803
            importance = ratio.clamp(max=self.args.importance_sampling_cap)
        return (
            prompts,
            completions,
            mask,
            advantages.view(-1, 1),
            old_logps,
            importance,
            rewards.mean().item(),
        )

    def compute_loss(self, prompts, completions, mask, advantages, old_logps, importance):
        logps = self.get_per_token_logps(prompts, completions)
        coef = torch.exp(logps - old_logps)
        clipped = coef.clamp(1 - self.args.epsilon, 1 + self.args.epsilon)
        per_token_loss = -torch.min(coef * advantages, clipped * advantages) * importance
        return (per_token_loss * mask).sum() / mask.sum()

    def train(self):
        for step in range(self.args.steps):
            *inputs, reward = self.prepare_inputs()
            for _ in range(self.args.updates_per_generation):
                loss = self.compute_loss(*inputs)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            if step % 10 == 0:
                print(
                    f"step {step}: reward {reward:+.3f}, sampling ratio {inputs[-1].min():.3f} to {inputs[-1].max():.3f}"
                )


if __name__ == "__main__":
    torch.manual_seed(3115)
    Trainer(PolicyLM(), Args()).train()
