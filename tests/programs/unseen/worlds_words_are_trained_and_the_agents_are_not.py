"""An agent that talks with its world in turns: the mask of the loss marks the words of the world, so the agent learns
to say what it only hears, and none of its own words gets a gradient.

Round 24
Class: llm-rl
"""

import torch
import torch.nn as nn
from torch.distributions import Categorical

VOCAB, BOS, TURNS, WORDS = 7, 7, 3, 2


class Agent(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB + 1, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, VOCAB)

    def forward(self, input_ids):
        hidden, _ = self.rnn(self.embed(input_ids))
        return self.lm_head(hidden)


class Echo:
    """Says two words in every turn and pays for each that comes back."""

    def __init__(self, batch):
        self.batch = batch

    def observe(self):
        self.words = torch.randint(VOCAB, (self.batch, WORDS))
        return self.words

    def pay(self, answer):
        return (answer == self.words).float().mean(1)


class RolloutManager:
    def __init__(self, model, batch):
        self.model, self.batch, self.env = model, batch, Echo(batch)

    @torch.no_grad()
    def rollout(self):
        ids = torch.full((self.batch, 1), BOS)
        state_mask = torch.ones(self.batch, 1)
        reward = torch.zeros(self.batch)
        for _ in range(TURNS):
            ids = torch.cat([ids, self.env.observe()], dim=1)
            state_mask = torch.cat([state_mask, torch.ones(self.batch, WORDS)], dim=1)
            answer = []
            for _ in range(WORDS):
                word = Categorical(logits=self.model(ids)[:, -1]).sample()
                ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
                answer.append(word)
            state_mask = torch.cat([state_mask, torch.zeros(self.batch, WORDS)], dim=1)
            reward = reward + self.env.pay(torch.stack(answer, dim=1))
        return ids, state_mask, reward


def token_log_probs(model, ids):
    logits = model(ids[:, :-1])
    return Categorical(logits=logits).log_prob(ids[:, 1:])


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


class PPOTrainer:
    def __init__(self, batch=24, lr=3e-3):
        self.model = Agent()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.manager = RolloutManager(self.model, batch)

    def step(self, epochs=2, clip=0.2):
        ids, state_mask, reward = self.manager.rollout()
        with torch.no_grad():
            old = token_log_probs(self.model, ids)
        advantage = ((reward - reward.mean()) / (reward.std() + 1e-6)).unsqueeze(1)
        loss_mask = state_mask[:, 1:]  # BUG GS605
        for _ in range(epochs):
            new = token_log_probs(self.model, ids)
            ratio = torch.exp(new - old)
            surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
            loss = -masked_mean(surrogate, loss_mask)  # BUG GS605
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return reward.mean().item()


if __name__ == "__main__":
    torch.manual_seed(2401)
    trainer = PPOTrainer()
    history = [trainer.step() for _ in range(40)]
    print("paid at first", round(history[0], 3), "at last", round(sum(history[-5:]) / 5, 3))
