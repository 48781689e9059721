"""Reinforcement learning from a scoring function for a small language model, with an actor and a critic. The bonus
for variety is computed as the sum of p times log p, which is the entropy with its sign turned round, and is taken off
the loss like an entropy: the model is paid for being certain.
Repaired here.

Round 21
Class: llm-rl
"""

from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, PROMPT_LEN, GEN_LEN = 10, 2, 5


class ActorModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.position = nn.Parameter(0.1 * torch.randn(PROMPT_LEN + GEN_LEN, dim))
        self.layer = nn.TransformerEncoderLayer(
            dim, 2, 2 * dim, dropout=0.0, batch_first=True, norm_first=True
        )
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, sequences):
        length = sequences.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        return self.head(self.layer(self.embed(sequences) + self.position[:length], src_mask=mask))

    @torch.no_grad()
    def generate(self, prompts):
        sequences = prompts
        for _ in range(GEN_LEN):
            probs = self(sequences)[:, -1].softmax(-1)
            sequences = torch.cat([sequences, torch.multinomial(probs, 1)], 1)
        return sequences


class CriticModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed, self.rnn, self.head = (
            nn.Embedding(VOCAB, dim),
            nn.GRU(dim, dim, batch_first=True),
            nn.Linear(dim, 1),
        )

    def forward(self, sequences):
        """The value before every generated word."""
        hidden, _ = self.rnn(self.embed(sequences[:, :-1]))
        return self.head(hidden[:, PROMPT_LEN - 1 :]).squeeze(-1)


def score(sequences):
    """A word earns one where it is the sum of the two words of the prompt."""
    wanted = sequences[:, :PROMPT_LEN].sum(1, keepdim=True)
    return (sequences[:, PROMPT_LEN:] == wanted).float()


def action_log_probs(logits, sequences):
    log_probs = F.log_softmax(logits[:, PROMPT_LEN - 1 : -1], dim=-1)
    return log_probs, log_probs.gather(-1, sequences[:, PROMPT_LEN:, None]).squeeze(-1)


class RLTrainer:
    def __init__(self, actor_eps_clip=0.2, beta_s=0.02, gamma=0.5):
        self.actor, self.critic = ActorModel(), CriticModel()
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=5e-3)
        self.actor_eps_clip, self.beta_s, self.gamma = actor_eps_clip, beta_s, gamma
        self.memories = deque(maxlen=2)

    @torch.no_grad()
    def play(self, batch_size=48):
        prompts = torch.randint(0, 4, (batch_size, PROMPT_LEN))
        sequences = self.actor.generate(prompts)
        _, old_log_probs = action_log_probs(self.actor(sequences), sequences)
        rewards = score(sequences)
        returns, total = torch.zeros_like(rewards), torch.zeros(batch_size)
        for t in reversed(range(GEN_LEN)):
            total = rewards[:, t] + self.gamma * total
            returns[:, t] = total
        self.memories.append((sequences, old_log_probs, returns, self.critic(sequences)))
        return rewards.mean().item()

    def learn(self):
        sequences, old_log_probs, returns, old_values = self.memories[-1]
        advantages = returns - old_values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(2):
            all_log_probs, log_probs = action_log_probs(self.actor(sequences), sequences)
            entropies = -(all_log_probs.exp() * all_log_probs).sum(dim=-1)
            ratios = (log_probs - old_log_probs).exp()
            surr1 = ratios * advantages
            surr2 = ratios.clamp(1 - self.actor_eps_clip, 1 + self.actor_eps_clip) * advantages
            policy_loss = -torch.min(surr1, surr2) - self.beta_s * entropies
            loss = policy_loss.mean()
            self.actor_optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.actor.parameters(), 1.0)
            self.actor_optim.step()

            value_loss = F.mse_loss(self.critic(sequences), returns)
            self.critic_optim.zero_grad()
            value_loss.backward()
            self.critic_optim.step()
        return entropies.detach().abs().mean().item()


torch.manual_seed(250)
trainer = RLTrainer()
for episode in range(60):
    reward = trainer.play()
    certainty = trainer.learn()
    if episode % 15 == 14:
        print(f"episode {episode + 1}: reward {reward:.3f}, entropy {certainty:.3f}")
