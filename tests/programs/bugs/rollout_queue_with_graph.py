"""An actor thread sends its rollout through a multiprocessing queue with the graph still attached."""

import torch
import torch.multiprocessing as mp
from torch import nn

torch.manual_seed(0)
queue = mp.SimpleQueue()
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-2)


def rollout(length=6):
    obs = torch.randn(length, 4)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    return {"obs": obs, "action": action, "log_prob": dist.log_prob(action)}


for _ in range(5):
    queue.put(rollout())  # BUG GS105
    batch = queue.get()
    dist = torch.distributions.Categorical(logits=policy(batch["obs"]))
    ratio = (dist.log_prob(batch["action"]) - batch["log_prob"]).exp()
    loss = -(ratio * torch.randn(6)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
