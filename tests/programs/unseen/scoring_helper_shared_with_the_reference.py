"""PPO on answers with a value network: the helper that scores the words was written for the reference and carries
torch.no_grad(), and the policy is scored with it as well, so that only the values learn.

Round 28
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(2825)

conf = {"vocab": 12, "hidden": 32, "ctx": 2, "new": 7, "batch": 32, "ppo_epochs": 2, "steps": 14}
conf |= {"beta": 0.05, "clip": 0.2, "lr": 2e-3, "value_lr": 4e-3}


class Recurrent(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.embed = nn.Embedding(conf["vocab"], conf["hidden"])
        self.lstm = nn.LSTM(conf["hidden"], conf["hidden"], batch_first=True)
        self.out = nn.Linear(conf["hidden"], n_out)

    def forward(self, tokens):
        return self.out(self.lstm(self.embed(tokens))[0])


@torch.no_grad()  # BUG GS202
def get_logprobs(model, tokens):
    logits = model(tokens[:, :-1])[:, conf["ctx"] - 1 :]  # BUG GS202
    dist = torch.distributions.Categorical(logits=logits)
    return dist.log_prob(tokens[:, conf["ctx"] :])


def get_values(model, tokens):
    return model(tokens[:, :-1])[:, conf["ctx"] - 1 :].squeeze(-1)


@torch.no_grad()
def sample(model):
    tokens = torch.randint(0, conf["vocab"], (conf["batch"], conf["ctx"]))
    for _ in range(conf["new"]):
        nxt = torch.distributions.Categorical(logits=model(tokens)[:, -1]).sample()
        tokens = torch.cat([tokens, nxt.unsqueeze(1)], dim=1)
    return tokens


def word_rewards(tokens):
    """Each word should differ from its predecessor by exactly one."""
    steps = tokens[:, conf["ctx"] :] - tokens[:, conf["ctx"] - 1 : -1]
    return (steps.abs() == 1).float()


actor = Recurrent(conf["vocab"])
critic = Recurrent(1)
reference = copy.deepcopy(actor).requires_grad_(False)
groups = [{"params": actor.parameters()}, {"params": critic.parameters(), "lr": conf["value_lr"]}]
optimizer = torch.optim.Adam(groups, lr=conf["lr"])

for step in range(conf["steps"]):
    tokens = sample(actor)
    with torch.no_grad():
        old = get_logprobs(actor, tokens)
        ref = get_logprobs(reference, tokens)
        values = get_values(critic, tokens)
    scores = word_rewards(tokens)
    rewards = scores - conf["beta"] * (old - ref)
    returns = rewards.flip(1).cumsum(1).flip(1)
    advantages = returns - values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    for _ in range(conf["ppo_epochs"]):
        logprobs = get_logprobs(actor, tokens)  # BUG GS202
        ratio = (logprobs - old).exp()
        limited = ratio.clamp(1 - conf["clip"], 1 + conf["clip"])
        actor_loss = -torch.min(ratio * advantages, limited * advantages).mean()
        critic_loss = (get_values(critic, tokens) - returns).pow(2).mean()
        loss = actor_loss + 0.5 * critic_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
        nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        optimizer.step()
    if step % 4 == 0:
        print(f"step {step}: neighbouring words {scores.mean():.3f}, critic loss {critic_loss.item():.3f}")
