"""The state of a gated memory goes on live from rollout to rollout; only the end of an episode, after four rollouts,
clears it."""

import torch
from torch import nn

torch.manual_seed(0)
write, read = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*write.parameters(), *read.parameters()], lr=1e-2)


class Memory:
    def __init__(self):
        self.state = torch.zeros(8, 8)

    def observe(self, obs):
        self.state = 0.5 * self.state + 0.5 * torch.tanh(write(obs))
        return self.state


memory = Memory()
for rollout in range(60):
    if rollout % 4 == 0:
        memory.state = torch.zeros(8, 8)
    memory.state = memory.state.detach()
    log_probs = []
    for _ in range(3):
        scores = torch.log_softmax(read(memory.observe(torch.randn(8, 4)).clone()), -1)
        log_probs.append(scores.gather(1, torch.randint(2, (8, 1))).squeeze(1))
    loss = -(torch.stack(log_probs) * torch.randn(3, 8)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
