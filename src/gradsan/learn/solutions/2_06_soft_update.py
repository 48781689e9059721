import torch
from torch import nn


def soft_update(target: nn.Module, online: nn.Module, tau: float) -> None:
    """Move every parameter of `target` a fraction `tau` of the way towards `online`."""
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.mul_(1 - tau).add_(tau * fast)


if __name__ == "__main__":
    target, online = nn.Linear(2, 1), nn.Linear(2, 1)
    soft_update(target, online, 0.005)
    print("done:", target.weight)
