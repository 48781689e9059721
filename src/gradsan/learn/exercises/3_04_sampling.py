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
# The small entropy bonus, which keeps the policy from settling too early, has a
# slope of its own. So backward() does not complain below, and the bonus is all
# that is ever learned.
#
# Your task: replace the first term of the loss by the surrogate.

import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, reward_of) -> None:
    """Draw one action per state and make the rewarding ones more likely (means over the states)."""
    dist = Categorical(logits=policy(states))
    actions = dist.sample()
    rewards = reward_of(actions)
    loss = -(actions * rewards).mean()  # TODO: nothing flows through `actions`
    loss = loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
