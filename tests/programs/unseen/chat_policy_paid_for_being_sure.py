"""The entropy of the actor's words is computed with its right sign and then added to the loss, so the update of the
actor makes every word as certain as it can.

Round 24
Class: llm-rl
"""

from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn

Memory = namedtuple("Memory", "states actions values rewards log_probs")


@dataclass
class ConfigTrainer:
    seed: int = 2403
    num_episodes: int = 24
    examples: int = 20
    epochs: int = 2
    actor_lr: float = 3e-3
    critic_lr: float = 5e-3
    eps_clip: float = 0.2
    beta_s: float = 0.02


class ActorModel(nn.Module):
    def __init__(self, vocab=9, dim=24):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(vocab, dim), nn.Flatten(), nn.Linear(3 * dim, 40), nn.Tanh())
        self.head = nn.Linear(40, vocab)

    def forward(self, window):
        return self.head(self.body(window))


class CriticModel(nn.Module):
    def __init__(self, vocab=9, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Embedding(vocab, dim), nn.Flatten(), nn.Linear(3 * dim, 32), nn.Tanh())
        self.value = nn.Linear(32, 1)

    def forward(self, window):
        return self.value(self.net(window)).squeeze(-1)


class RLTrainer:
    def __init__(self, config):
        torch.manual_seed(config.seed)
        self.config = config
        self.actor, self.critic = ActorModel(), CriticModel()
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=config.actor_lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=config.critic_lr)

    @torch.no_grad()
    def generate(self, length=5):
        """One memory for each word; the reward is that of the whole answer."""
        window = torch.randint(9, (self.config.examples, 3))
        asked = window[:, -1]
        states, actions, log_probs, words = [], [], [], 0.0
        for _ in range(length):
            logits = self.actor(window)
            action = torch.multinomial(torch.softmax(logits, dim=-1), 1).squeeze(1)
            log_prob = torch.log_softmax(logits, dim=-1).gather(1, action[:, None]).squeeze(1)
            states.append(window)
            actions.append(action)
            log_probs.append(log_prob)
            words = words + ((action - asked) % 9 < 3).float()
            window = torch.cat([window[:, 1:], action[:, None]], dim=1)
        states = torch.cat(states)
        rewards = (words / length).repeat(length)
        return Memory(states, torch.cat(actions), self.critic(states), rewards, torch.cat(log_probs))

    def learn(self, memory):
        advantages = memory.rewards - memory.values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(self.config.epochs):
            log_softmax = torch.log_softmax(self.actor(memory.states), dim=-1)
            log_probs = log_softmax.gather(1, memory.actions[:, None]).squeeze(1)
            entropies = -(log_softmax.exp() * log_softmax).sum(dim=-1)
            ratios = (log_probs - memory.log_probs).exp()
            surr1 = advantages * ratios
            surr2 = advantages * ratios.clamp(1 - self.config.eps_clip, 1 + self.config.eps_clip)
            policy_loss = -torch.min(surr1, surr2) + self.config.beta_s * entropies  # BUG GS802
            policy_loss = policy_loss.mean()  # BUG GS802
            self.actor_optimizer.zero_grad()
            policy_loss.backward()
            nn.utils.clip_grad_norm_(self.actor.parameters(), 1.0)
            self.actor_optimizer.step()

            value_loss = nn.functional.mse_loss(self.critic(memory.states), memory.rewards)
            self.critic_optimizer.zero_grad()
            value_loss.backward()
            self.critic_optimizer.step()
        return entropies.mean().item()

    def train(self):
        for episode in range(self.config.num_episodes):
            memory = self.generate()
            entropy = self.learn(memory)
        print(f"reward {memory.rewards.mean():.3f}, entropy {entropy:.3f} after {episode + 1} episodes")


RLTrainer(ConfigTrainer()).train()
