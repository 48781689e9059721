"""Hand-made TD learning with linear features takes the derivative of the errors before averaging them.

Class: forward errors
"""

import numpy as np
import torch

torch.manual_seed(4)
rng = np.random.default_rng(4)
STATES, GAMMA, LR = 7, 0.9, 0.3


def features(states):
    table = torch.eye(STATES)
    return table[torch.as_tensor(states)]


def random_walk(batch):
    states = rng.integers(1, STATES - 1, size=batch)
    moves = rng.choice([-1, 1], size=batch)
    after = states + moves
    reward = (after == STATES - 1).astype(np.float32)
    done = ((after == 0) | (after == STATES - 1)).astype(np.float32)
    return states, torch.from_numpy(reward), after, torch.from_numpy(done)


def td_gradient(weights):
    states, reward, after, done = random_walk(32)
    value = features(states) @ weights
    with torch.no_grad():
        target = reward + GAMMA * (1 - done) * (features(after) @ weights)
    errors = 0.5 * (value - target).pow(2)  # BUG GS403
    (gradient,) = torch.autograd.grad(errors, weights)  # BUG GS403
    return gradient


weights = torch.zeros(STATES, requires_grad=True)
for update in range(200):
    gradient = td_gradient(weights)
    with torch.no_grad():
        weights -= LR * gradient
print(weights.detach().numpy().round(2))
