"""A fused policy loss also returns the entropy, but its backward ignores what flows back into it: the
bonus has no effect.
Repaired here.

Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(263)


class PolicyTerms(torch.autograd.Function):
    """Log-probability of the action and entropy of the policy from its logits."""

    @staticmethod
    def forward(ctx, logits, action):
        log_probs = torch.log_softmax(logits, -1)
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        ctx.save_for_backward(log_probs, action, entropy)
        return log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1), entropy

    @staticmethod
    def backward(ctx, grad_log_prob, grad_entropy):
        log_probs, action, entropy = ctx.saved_tensors
        probs = log_probs.exp()
        one_hot = torch.zeros_like(probs).scatter(-1, action.unsqueeze(-1), 1.0)
        grad = grad_log_prob.unsqueeze(-1) * (one_hot - probs)
        grad = grad - grad_entropy.unsqueeze(-1) * probs * (log_probs + entropy.unsqueeze(-1))
        return grad, None


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    def update(self, obs):
        logits = self.policy(obs)
        action = torch.distributions.Categorical(logits=logits.detach()).sample()
        reward = (action == obs[:, :3].argmax(-1)).float()
        log_prob, entropy = PolicyTerms.apply(logits, action)
        loss = -(log_prob * (reward - reward.mean())).mean() - 0.1 * entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return entropy.mean().item()


agent = Agent()
for step in range(150):
    entropy = agent.update(torch.randn(32, 4))
print("entropy", entropy)
