# 3.04  Sampling has no slope
#
# An action is drawn; the reward depends on the draw. No gradient can flow
# through the choice itself: "a bit more of action 2" is not a thing. What *does*
# change smoothly is how likely the action was. The score-function trick of
# REINFORCE uses just that:
#
#     ∇ E[reward]  =  E[ reward · ∇ log π(action) ]
#
# So the loss is -(log π(action) · reward). Its value means nothing; its gradient
# is the policy gradient. It is called a surrogate.
#
# Your task: replace the loss by the surrogate.

import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, reward_of) -> None:
    """Draw one action per state and make the rewarding ones more likely (mean over the states)."""
    dist = Categorical(logits=policy(states))
    actions = dist.sample()
    rewards = reward_of(actions)
    loss = -(actions * rewards).mean().requires_grad_()  # TODO: nothing flows through `actions`
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
