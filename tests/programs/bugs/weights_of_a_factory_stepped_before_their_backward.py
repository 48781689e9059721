"""Weights made by factories are stepped while another loss still needs them."""

import torch

torch.manual_seed(0)
hidden = torch.randn(4, 8, requires_grad=True)
policy = torch.zeros(8, 3, requires_grad=True)
value = torch.full((8, 1), 0.1, requires_grad=True)
optimizer = torch.optim.SGD([hidden, policy, value], lr=1e-2)
for update in range(12):
    obs, action, gain = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16, 1)
    features = torch.tanh(obs @ hidden)
    actor_loss = -(torch.log_softmax(features @ policy, -1).gather(1, action) * gain).mean()
    critic_loss = (features @ value - gain).pow(2).mean()
    optimizer.zero_grad()
    actor_loss.backward(retain_graph=True)
    optimizer.step()  # BUG GS102
    optimizer.zero_grad()
    critic_loss.backward()
    optimizer.step()
