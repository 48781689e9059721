"""The one-step errors mind the end of a life, the running sum of the generalised advantage does not: it goes on into
the life before.
Repaired here.

Round 22
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

gamma, tau, num_local_steps, num_processes = 0.95, 0.95, 24, 3


class Jumper:
    """Jump over a pit that comes nearer; not jumping in time costs the life."""

    def reset(self):
        self.distance, self.score = float(torch.randint(3, 8, ())), 0
        return self.state()

    def state(self):
        return torch.tensor([self.distance / 8, float(self.distance <= 1), self.score / 10])

    def step(self, jump):
        self.distance -= 1
        if self.distance <= 0:
            if not jump:
                return self.state(), -2.0, True
            self.distance, self.score = float(torch.randint(3, 8, ())), self.score + 1
            return self.state(), 1.0, False
        return self.state(), -0.3 if jump else 0.1, False


class PPO(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 32)
        self.actor_linear, self.critic_linear = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.linear(x))
        return self.actor_linear(x), self.critic_linear(x)


torch.manual_seed(2218)
envs = [Jumper() for _ in range(num_processes)]
model = PPO()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
curr_states = torch.stack([env.reset() for env in envs])
for episode in range(12):
    old_log_policies, actions, values, states, rewards, dones = [], [], [], [], [], []
    for _ in range(num_local_steps):
        states.append(curr_states)
        with torch.no_grad():
            logits, value = model(curr_states)
        values.append(value.squeeze(1))
        old_m = Categorical(logits=logits)
        action = old_m.sample()
        actions.append(action)
        old_log_policies.append(old_m.log_prob(action))
        outcomes = [env.step(bool(a)) for env, a in zip(envs, action)]
        rewards.append(torch.tensor([reward for _, reward, _ in outcomes]))
        dones.append(torch.tensor([float(done) for _, _, done in outcomes]))
        curr_states = torch.stack(
            [env.reset() if done else state for env, (state, _, done) in zip(envs, outcomes)]
        )
    with torch.no_grad():
        next_value = model(curr_states)[1].squeeze(1)
    old_log_policies, actions, states = torch.cat(old_log_policies), torch.cat(actions), torch.cat(states)
    gae, R = 0, []
    for value, reward, done in list(zip(values, rewards, dones))[::-1]:
        gae = gae * gamma * tau * (1 - done)
        gae = gae + reward + gamma * next_value * (1 - done) - value
        next_value = value
        R.append(gae + value)
    R = torch.cat(R[::-1])
    advantages = R - torch.cat(values)
    for _ in range(4):
        logits, value = model(states)
        new_m = Categorical(logits=logits)
        ratio = torch.exp(new_m.log_prob(actions) - old_log_policies)
        actor_loss = -torch.mean(torch.min(ratio * advantages, torch.clamp(ratio, 0.8, 1.2) * advantages))
        critic_loss = nn.functional.smooth_l1_loss(value.squeeze(1), R)
        total_loss = actor_loss + critic_loss - 0.01 * new_m.entropy().mean()
        optimizer.zero_grad()
        total_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(f"episode {episode} total loss {total_loss:.3f}")
