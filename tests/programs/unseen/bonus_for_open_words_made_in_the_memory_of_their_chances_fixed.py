"""Group-relative training with a bonus for the entropy of the words: chances and logarithms are multiplied into a new
tensor.

Round 30
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(3027)


class Policy(nn.Module):
    def __init__(self, vocab=16, width=40):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids, state=None):
        hidden, state = self.rnn(self.wte(ids), state)
        return self.head(hidden), state

    @torch.no_grad()
    def generate(self, prompts, length):
        logits, state = self(prompts)
        answer = []
        for _ in range(length):
            token = torch.multinomial(logits[:, -1].softmax(-1), 1)
            answer.append(token)
            logits, state = self(token, state)
        return torch.cat(answer, dim=1)


class GRPOTrainer:
    def __init__(self, policy, reward_fn, group=6, prompts=6, length=7, entropy_coef=0.01, lr=2e-3):
        self.policy, self.reward_fn = policy, reward_fn
        self.group, self.prompts, self.length, self.entropy_coef = group, prompts, length, entropy_coef
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)

    def rollout(self):
        prompts = torch.randint(0, 16, (self.prompts, 4)).repeat_interleave(self.group, dim=0)
        answers = self.policy.generate(prompts, self.length)
        rewards = self.reward_fn(prompts, answers)
        grouped = rewards.view(self.prompts, self.group)
        advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        return {
            "prompts": prompts,
            "answers": answers,
            "advantages": advantages.flatten(),
            "rewards": rewards,
        }

    def logps_and_entropy(self, prompts, answers):
        logits, _ = self.policy(torch.cat([prompts, answers[:, :-1]], dim=1))
        all_logps = logits[:, prompts.shape[1] - 1 :].log_softmax(dim=-1)
        logps = all_logps.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
        probs = all_logps.exp()
        entropy = -(probs * all_logps).sum(dim=-1)
        return logps, entropy

    def compute_loss(self, batch, old_logps):
        logps, entropy = self.logps_and_entropy(batch["prompts"], batch["answers"])
        ratio = torch.exp(logps - old_logps)
        advantages = batch["advantages"].unsqueeze(1)
        per_token = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.28) * advantages)
        return per_token.mean() - self.entropy_coef * entropy.mean()

    def step(self, iterations=2):
        batch = self.rollout()
        with torch.no_grad():
            old_logps, _ = self.logps_and_entropy(batch["prompts"], batch["answers"])
        for _ in range(iterations):
            loss = self.compute_loss(batch, old_logps)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        return batch["rewards"].mean().item()


def stays_close(prompts, answers):
    """Every word should lie near the last word of the prompt."""
    return -(answers - prompts[:, -1:]).abs().float().mean(dim=1)


trainer = GRPOTrainer(Policy(), stays_close)
for iteration in range(25):
    reward = trainer.step()
    if iteration % 8 == 0:
        print(f"iteration {iteration}: reward {reward:.3f}")
