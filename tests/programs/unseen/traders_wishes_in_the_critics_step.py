"""DDPG for trading a single share: both gradients are taken before either step, so the critic's step also
raises the values of what the trader would like to do. After JoshuaWu1997/PyTorch-DDPG-Stock-Trading#2.

Round 36
Class: the line
"""

import numpy as np
import torch
import torch.nn as nn

WINDOW, COST = 8, 0.001


class Market:
    """The log-price returns to a slow mean; a day's reward is what the position of that day has earned."""

    def __init__(self, seed, days=120):
        self.rng, self.days = np.random.default_rng(seed), days

    def reset(self):
        noise = self.rng.normal(0, 0.02, self.days + WINDOW + 1)
        log_price = np.zeros(self.days + WINDOW + 1)
        for d in range(1, len(log_price)):
            log_price[d] = 0.85 * log_price[d - 1] + noise[d]
        self.returns = np.diff(log_price)
        self.day, self.position = WINDOW, 0.0
        return self.observe()

    def observe(self):
        window = self.returns[self.day - WINDOW : self.day] * 30
        return np.append(window, self.position).astype(np.float32)

    def step(self, target_position):
        cost = COST * abs(target_position - self.position)
        self.position = target_position
        reward = 100 * (self.position * self.returns[self.day] - cost)
        self.day += 1
        return self.observe(), reward, self.day >= len(self.returns)


class ActorNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(WINDOW + 1, 48), nn.ReLU(), nn.Linear(48, 1), nn.Tanh())

    def forward(self, state):
        return self.fc(state)


class CriticNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.state_fc = nn.Linear(WINDOW + 1, 48)
        self.action_fc = nn.Linear(1, 48)
        self.out = nn.Sequential(nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, state, action):
        return self.out(self.state_fc(state) + self.action_fc(action))


class DDPG:
    def __init__(self, seed, gamma=0.9, tau=0.01, batch_size=48):
        self.rng = np.random.default_rng(seed)
        self.gamma, self.tau, self.batch_size = gamma, tau, batch_size
        self.actor, self.target_actor = ActorNetwork(), ActorNetwork()
        self.critic, self.target_critic = CriticNetwork(), CriticNetwork()
        self.target_actor.load_state_dict(self.actor.state_dict())
        self.target_critic.load_state_dict(self.critic.state_dict())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)
        self.buffer = []

    def predict(self, state):
        with torch.no_grad():
            action = self.actor(torch.from_numpy(state)[None])[0].numpy()
        return np.clip(action + self.rng.normal(0, 0.3, 1), -1, 1).astype(np.float32)

    def train_on_batch(self):
        index = self.rng.integers(len(self.buffer), size=self.batch_size)
        columns = zip(*(self.buffer[i] for i in index))
        state, action, reward, next_state = (torch.from_numpy(np.stack(c)) for c in columns)
        with torch.no_grad():
            # the market goes on after the last day of a record, hence no terminal states
            next_value = self.target_critic(next_state, self.target_actor(next_state))
            y = reward + self.gamma * next_value

        critic_loss = nn.functional.mse_loss(self.critic(state, action), y)
        actor_loss = -self.critic(state, self.actor(state)).mean()  # BUG GS304
        self.critic_optimizer.zero_grad()
        self.actor_optimizer.zero_grad()
        critic_loss.backward()
        actor_loss.backward()  # BUG GS304
        self.critic_optimizer.step()  # BUG GS304
        self.actor_optimizer.step()

        self.soft_update(self.actor, self.target_actor)
        self.soft_update(self.critic, self.target_critic)
        return critic_loss.item(), actor_loss.item()

    def soft_update(self, net, target_net):
        with torch.no_grad():
            for p, target_p in zip(net.parameters(), target_net.parameters()):
                target_p.lerp_(p, self.tau)

    def train(self, env, episodes):
        for episode in range(episodes):
            state, over, earned = env.reset(), False, 0.0
            while not over:
                action = self.predict(state)
                next_state, reward, over = env.step(float(action[0]))
                self.buffer.append((state, action, np.array([reward], dtype=np.float32), next_state))
                state, earned = next_state, earned + reward
                if len(self.buffer) > 100 and len(self.buffer) % 2 == 0:
                    losses = self.train_on_batch()
            print(f"episode {episode}: earned {earned:.2f}")
        return losses


torch.manual_seed(3616)
np.random.seed(3616)
agent = DDPG(3616)
print("critic {:.3f}, actor {:.3f}".format(*agent.train(Market(3616), episodes=3)))
