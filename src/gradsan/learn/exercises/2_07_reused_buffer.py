# 2.07  Writes that PyTorch cannot see
#
# Many environments return the *same* array from every step and overwrite it:
# that is fast, and documented. A tensor made from it shares its memory, and the
# write goes past PyTorch's counter, as any write through NumPy or `.data` does.
# Nothing is raised. The first layer's gradient is then computed from the last
# observation, several times over, instead of from each one.
#
# gradsan compares the contents of what was saved and names the line.
#
# Your task: in `rollout_loss`, keep each observation as it was when you saw it.
# The environment stays as it is: it is not yours to change.

import torch
from torch import nn


class Environment:
    """A line world whose observation lives in one buffer, as in many simulators."""

    def __init__(self, size: int) -> None:
        self.buffer = torch.zeros(size)

    def step(self) -> tuple[torch.Tensor, float]:
        """The next observation (always the same tensor!) and the reward."""
        fresh = torch.randn(len(self.buffer))
        self.buffer.data.copy_(fresh)  # what a C or NumPy simulator does
        return self.buffer, float(fresh.sum())


def rollout_loss(net: nn.Module, env: Environment, steps: int) -> torch.Tensor:
    """The mean squared error between net(observation) and the reward over `steps` steps."""
    errors = []
    for _ in range(steps):
        observation, reward = env.step()  # TODO: the next step overwrites this observation
        errors.append(net(observation).squeeze() - reward)
    return torch.stack(errors).pow(2).mean()


def update(net: nn.Module, optimizer: torch.optim.Optimizer, env: Environment, steps: int) -> None:
    """One training step on the loss above. This function is right."""
    loss = rollout_loss(net, env, steps)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
