# 2.01  In-place writes
#
# To walk back through an operation, autograd often needs a value from the walk
# forward: the slope of softmax is computed from softmax's own output. PyTorch
# saves such values by reference, not by copy. If you overwrite one before
# backward(), the saved value is gone. PyTorch notices and raises, but at
# backward(), far away from the line that did it. gradsan names that line.
#
# In-place writes are: `x[...] = …`, `x += …`, and methods that end in `_`.
#
# Masking the actions that are not available is where this strikes most often.
#
# Your task: mask the probabilities without overwriting what softmax saved.

import torch
from torch import nn


def masked_policy(logits: torch.Tensor, available: torch.Tensor) -> torch.Tensor:
    """Probabilities that are zero where `available` is False and sum to one elsewhere."""
    probs = torch.softmax(logits, dim=-1)
    probs[~available] = 0.0  # TODO: this overwrites softmax's output
    return probs / probs.sum(dim=-1, keepdim=True)


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, available, actions) -> None:
    """Make the chosen (available) actions more likely. This function is right."""
    probs = masked_policy(net(states), available)
    chosen = probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = -torch.log(chosen).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    print(masked_policy(torch.tensor([[1.0, 1.0, 5.0]]), torch.tensor([[True, True, False]])))
