"""PPO: the rollout is collected with gradients on, so the old log-probs and values are trained again in every epoch."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.actor, self.critic = nn.Linear(16, 2), nn.Linear(16, 1)

    def evaluate(self, obs, action=None):
        hidden = self.body(obs)
        policy = torch.distributions.Categorical(logits=self.actor(hidden))
        action = policy.sample() if action is None else action
        return action, policy.log_prob(action), policy.entropy(), self.critic(hidden).squeeze(-1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(6):
    obs, actions, log_probs, values, rewards = [], [], [], [], []
    for step in range(16):
        obs.append(torch.randn(4))
        action, log_prob, _, value = agent.evaluate(obs[-1])  # BUG GS102 GS209
        actions.append(action)
        log_probs.append(log_prob)  # BUG GS102
        values.append(value)
        rewards.append(torch.randn(()))
    old_log_prob, action, obs = torch.stack(log_probs), torch.stack(actions), torch.stack(obs)  # BUG GS102
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    advantage = returns - torch.stack(values).detach()
    for epoch in range(3):
        _, log_prob, entropy, value = agent.evaluate(obs, action)
        ratio = (log_prob - old_log_prob).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = policy_loss + 0.5 * (value - returns).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
