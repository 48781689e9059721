"""The trainer pairs every word of an answer with the logits that were computed after reading it, one place too late;
the log-probabilities that came with the rollout are of the right places.

Round 24
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2406)

VOCAB_SIZE = 14
CONTEXT = 4
ANSWER = 6
GROUP = 8


class CausalLM(nn.Module):
    def __init__(self, hidden_size=36):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB_SIZE, hidden_size)
        self.decoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.lm_head = nn.Linear(hidden_size, VOCAB_SIZE)

    def forward(self, input_ids):
        out, _ = self.decoder(self.embed_tokens(input_ids))
        return self.lm_head(out)


class RolloutEngine:
    """Generates word by word and keeps the log-probability of each word as it was drawn."""

    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def generate(self, prompt_ids):
        ids, logps = prompt_ids, []
        for _ in range(ANSWER):
            logits = self.model(ids)[:, -1, :]
            next_id = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
            logps.append(F.log_softmax(logits, dim=-1).gather(1, next_id))  # BUG GS803
            ids = torch.cat([ids, next_id], dim=1)
        return ids, torch.cat(logps, dim=1)  # BUG GS803


def reward_func(prompt_ids, answer_ids):
    """The answer should count upwards from the last word of the question."""
    wanted = (prompt_ids[:, -1:] + torch.arange(1, ANSWER + 1)) % VOCAB_SIZE
    return (answer_ids == wanted).float().mean(dim=1)


class GRPOTrainer:
    def __init__(self, model, learning_rate=5e-3, epsilon=0.2, num_iterations=2):
        self.model = model
        self.engine = RolloutEngine(model)
        self.epsilon, self.num_iterations = epsilon, num_iterations
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)

    def get_per_token_logps(self, input_ids):
        logits = self.model(input_ids)
        logits = logits[:, -ANSWER:, :]  # BUG GS803
        labels = input_ids[:, -ANSWER:]
        return F.log_softmax(logits, dim=-1).gather(2, labels.unsqueeze(-1)).squeeze(-1)  # BUG GS803

    def training_step(self, questions):
        prompt_ids = questions.repeat_interleave(GROUP, dim=0)
        input_ids, old_logps = self.engine.generate(prompt_ids)
        rewards = reward_func(prompt_ids, input_ids[:, CONTEXT:])
        grouped = rewards.view(-1, GROUP)
        advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        advantages = advantages.view(-1, 1)
        for _ in range(self.num_iterations):
            logps = self.get_per_token_logps(input_ids)  # BUG GS803
            coef_1 = torch.exp(logps - old_logps)  # BUG GS803
            coef_2 = torch.clamp(coef_1, 1 - self.epsilon, 1 + self.epsilon)
            loss = -torch.min(coef_1 * advantages, coef_2 * advantages).mean()
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return rewards.mean()


def main():
    trainer = GRPOTrainer(CausalLM())
    log = []
    for _ in range(40):
        questions = torch.randint(VOCAB_SIZE, (4, CONTEXT))
        log.append(trainer.training_step(questions).item())
    print("mean reward, first and last ten steps:", sum(log[:10]) / 10, sum(log[-10:]) / 10)


if __name__ == "__main__":
    main()
