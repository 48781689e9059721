"""Actor-critic training of a small language model with four epochs over each batch of answers. The old log-
probs are made once, with the answers, before the actor is stepped.

Round 32
Class: llm-rl
"""

import numpy as np
import torch
import torch.nn as nn

hp = {
    "vocab": 14,
    "hidden": 40,
    "prompt_len": 3,
    "gen_len": 6,
    "rollouts": 32,
    "minibatch": 16,
    "epochs": 4,
    "iters": 9,
    "clip": 0.2,
    "vf_clip": 0.3,
    "vf_coef": 0.25,
    "lam": 0.95,
    "lr": 1.5e-3,
}


class ActorCriticLM(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.actor_head = nn.Linear(hidden, vocab)
        self.critic_head = nn.Linear(hidden, 1)

    def forward(self, ids):
        h, _ = self.gru(self.emb(ids))
        return self.actor_head(h), self.critic_head(h).squeeze(-1)


def evaluate(model, ids, prompt_len):
    """Log-probability of each answer word, and the value of the place from which it was written."""
    logits, values = model(ids[:, :-1])
    logp = torch.log_softmax(logits[:, prompt_len - 1 :], dim=-1)
    return logp.gather(2, ids[:, prompt_len:].unsqueeze(2)).squeeze(2), values[:, prompt_len - 1 :]


def gae(rewards, values, lam, gamma=1.0):
    advantages, last = torch.zeros_like(rewards), torch.zeros(rewards.shape[0])
    for t in reversed(range(rewards.shape[1])):
        nxt = values[:, t + 1] if t + 1 < rewards.shape[1] else torch.zeros_like(last)
        last = rewards[:, t] + gamma * nxt - values[:, t] + gamma * lam * last
        advantages[:, t] = last
    return advantages, advantages + values


class PPO:
    def __init__(self, hp):
        self.hp = hp
        self.model = ActorCriticLM(hp["vocab"], hp["hidden"])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=hp["lr"], eps=1e-5)
        self.rng = np.random.default_rng(32)

    @torch.no_grad()
    def collect(self):
        hp = self.hp
        ids = torch.randint(hp["vocab"], (hp["rollouts"], hp["prompt_len"]))
        for _ in range(hp["gen_len"]):
            logits, _ = self.model(ids)
            word = torch.distributions.Categorical(logits=logits[:, -1]).sample()
            ids = torch.cat([ids, word[:, None]], 1)
        answer = ids[:, hp["prompt_len"] :]
        rewards = torch.zeros(answer.shape)
        rewards[:, -1] = (answer[:, 1:] > answer[:, :-1]).float().sum(1)
        old_logp, values = evaluate(self.model, ids, hp["prompt_len"])
        advantages, returns = gae(rewards, values, hp["lam"])
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return ids, old_logp, values, advantages, returns, rewards.sum(1).mean()

    def learn(self):
        hp = self.hp
        ids, old_logp, old_values, advantages, returns, score = self.collect()
        for _ in range(hp["epochs"]):
            order = torch.from_numpy(self.rng.permutation(hp["rollouts"]))
            for index in order.split(hp["minibatch"]):
                logp, value = evaluate(self.model, ids[index], hp["prompt_len"])
                adv, ret, before = advantages[index], returns[index], old_values[index]
                ratio = torch.exp(logp - old_logp[index])
                pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - hp["clip"], 1 + hp["clip"])).mean()
                near = before + (value - before).clamp(-hp["vf_clip"], hp["vf_clip"])
                vf_loss = torch.max((value - ret) ** 2, (near - ret) ** 2).mean()
                self.opt.zero_grad()
                (pg_loss + hp["vf_coef"] * vf_loss).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
                self.opt.step()
        return score.item(), vf_loss.item()


torch.manual_seed(3204)
agent = PPO(hp)
for i in range(hp["iters"]):
    score, vf_loss = agent.learn()
    print(f"[{i}] score={score:.3f} vf_loss={vf_loss:.3f}")
