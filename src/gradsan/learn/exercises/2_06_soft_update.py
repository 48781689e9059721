# 2.06  Writing to a leaf
#
# A target network follows the online network slowly:
#
#     target  ←  (1 - τ) · target + τ · online
#
# Its parameters are leaves that require grad, and autograd refuses an in-place
# write to such a leaf: the old value would be lost, and with it the place where
# the gradient should arrive. An update is not part of the computation. Say so:
# under `torch.no_grad()` nothing is recorded, and the write is allowed.
#
# `p = (1 - tau) * p + …` would not help: it makes a new tensor, and the network
# keeps the old one. `.data` would hide the write from PyTorch's own checks.
#
# Your task: make the soft update work, in place.

import torch
from torch import nn


def soft_update(target: nn.Module, online: nn.Module, tau: float) -> None:
    """Move every parameter of `target` a fraction `tau` of the way towards `online`."""
    for slow, fast in zip(target.parameters(), online.parameters()):
        slow.mul_(1 - tau).add_(tau * fast)  # TODO: this is an update, not a computation


if __name__ == "__main__":
    target, online = nn.Linear(2, 1), nn.Linear(2, 1)
    soft_update(target, online, 0.005)
    print("done:", target.weight)
