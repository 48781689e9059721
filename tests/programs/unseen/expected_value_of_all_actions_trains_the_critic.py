"""An all-action policy gradient: probabilities times live values, in one loss with the critic's own.

Round 9
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(912)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
        self.q = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))


net = ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(60):
    obs, action = torch.randn(48, 6), torch.randint(4, (48, 1))
    reward = (action.squeeze(1) == obs[:, :4].argmax(1)).float()
    q = net.q(obs)
    critic = (q.gather(1, action).squeeze(1) - reward).pow(2).mean()
    probs = net.pi(obs).softmax(-1)
    advantage = q - (probs.detach() * q).sum(-1, keepdim=True)  # BUG GS303 GS304
    policy = -(probs * advantage).sum(-1).mean()  # BUG GS303 GS304
    optimizer.zero_grad()
    (policy + 0.5 * critic).backward()
    optimizer.step()
