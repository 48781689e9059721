"""An actor and a critic that learn at every step: the target holds the reward of the step before."""

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(0)
env = gym.make("Pendulum-v1")
actor, critic = (
    nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)),
    nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)),
)
opt_a, opt_c = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 1e-3)
s, _ = env.reset(seed=0)
reward = 0.0
for t in range(300):
    x = torch.as_tensor(s).unsqueeze(0)
    dist = torch.distributions.Normal(actor(x), 0.5)
    a = dist.sample()
    earlier = reward
    s2, reward, term, trunc, _ = env.step(a[0].numpy())
    with torch.no_grad():
        target = earlier + 0.95 * critic(torch.as_tensor(s2).unsqueeze(0))  # BUG GS806
    value = critic(x)
    loss_c = (value - target).pow(2).mean()
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_a = -(dist.log_prob(a) * (target - value).detach()).mean()
    opt_a.zero_grad()
    loss_a.backward()
    opt_a.step()
    s = env.reset()[0] if term or trunc else s2
