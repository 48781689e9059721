"""A learner takes its optimizers as options; the backward of the values is guarded by the policy's optimizer, and in
the warm-up, which hands in the values' optimizer alone, that one steps without any gradient.

Round 14
Class: late and rare
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

STATES, ACTIONS, BATCH, STEPS = 5, 4, 16, 8


def exists(value):
    return value is not None


class Environment(nn.Module):
    def reset(self, batch):
        self.state = torch.randn(batch, STATES)
        return self.state

    def step(self, actions):
        reward = self.state.gather(1, actions.unsqueeze(-1)).squeeze(-1)
        self.state = 0.6 * self.state + 0.6 * torch.randn_like(self.state)
        return self.state, reward


class Agent(nn.Module):
    def __init__(self, dim=32, clip=0.2, entropy_weight=0.01):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(STATES, dim), nn.SiLU())
        self.policy_head = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, ACTIONS))
        self.value_head = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1))
        self.clip, self.entropy_weight = clip, entropy_weight

    def policy_parameters(self):
        return [*self.policy_head.parameters()]

    def value_parameters(self):
        return [*self.value_head.parameters(), *self.encoder.parameters()]

    def forward(self, states):
        embed = self.encoder(states)
        return Categorical(logits=self.policy_head(embed.detach())), self.value_head(embed).squeeze(-1)

    @torch.no_grad()
    def interact(self, env, gamma=0.9, lam=0.9):
        state, rows = env.reset(BATCH), []
        for _ in range(STEPS):
            dist, value = self(state)
            action = dist.sample()
            following, reward = env.step(action)
            rows.append((state, action, dist.log_prob(action), value, reward))
            state = following
        states, actions, log_probs, values, rewards = map(torch.stack, zip(*rows, strict=True))
        after, running, advantages = self(state)[1], torch.zeros(BATCH), torch.zeros_like(values)
        for t in reversed(range(STEPS)):
            running = rewards[t] + gamma * after - values[t] + gamma * lam * running
            advantages[t], after = running, values[t]
        experience = (states, actions, log_probs, advantages, advantages + values)
        return [x.flatten(0, 1) for x in experience], rewards.mean().item()

    def losses(self, states, actions, old_log_probs, advantages, returns):
        dist, values = self(states)
        ratio = (dist.log_prob(actions) - old_log_probs).exp()
        normed = F.layer_norm(advantages, advantages.shape)
        surrogate = torch.min(ratio * normed, ratio.clamp(1 - self.clip, 1 + self.clip) * normed)
        policy_loss = -(surrogate + self.entropy_weight * dist.entropy()).mean()
        return policy_loss, F.mse_loss(values, returns)


def learn(agent, experience, policy_optim=None, value_optim=None, max_grad_norm=1.0, epochs=2):
    for _ in range(epochs):
        policy_loss, value_loss = agent.losses(*experience)

        if exists(policy_optim):
            policy_loss.backward()
            nn.utils.clip_grad_norm_(agent.policy_parameters(), max_grad_norm)
            policy_optim.step()
            policy_optim.zero_grad()

        if exists(policy_optim):  # BUG GS404
            value_loss.backward()

        if exists(value_optim):
            nn.utils.clip_grad_norm_(agent.value_parameters(), max_grad_norm)
            value_optim.step()  # BUG GS404
            value_optim.zero_grad()
    return policy_loss.item(), value_loss.item()


def main(warmup=12, rounds=20):
    torch.manual_seed(1408)
    env, agent = Environment(), Agent()
    policy_optim = torch.optim.AdamW(agent.policy_parameters(), lr=3e-3, weight_decay=0.0)
    value_optim = torch.optim.AdamW(agent.value_parameters(), lr=3e-3, weight_decay=0.0)
    for step in range(warmup + rounds):
        experience, reward = agent.interact(env)
        optims = {"value_optim": value_optim}
        if step >= warmup:
            optims["policy_optim"] = policy_optim
        losses = learn(agent, experience, **optims)
        if step % 8 == 0:
            print(step, round(reward, 3), *(round(loss, 3) for loss in losses))


main()
