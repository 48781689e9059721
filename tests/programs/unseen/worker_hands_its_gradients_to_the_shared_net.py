"""Advantage actor-critic on CartPole in the way of A3C: workers with a copy of the network play a few steps each,
and the gradients of their copies move the shared network.

Round 31
Class: the line
"""

import gymnasium as gym
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

GAMMA, N_STEPS, WORKERS, ROUNDS = 0.99, 20, 3, 40


class ActorCriticNet(nn.Module):
    def __init__(self, state_size=4, action_size=2, hidden=64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(state_size, hidden), nn.Tanh(), nn.Linear(hidden, action_size))
        self.critic = nn.Sequential(nn.Linear(state_size, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, state):
        return Categorical(logits=self.actor(state)), self.critic(state).squeeze(-1)


class Worker:
    def __init__(self, number, shared_net, optimizer):
        self.env = gym.make("CartPole-v1")
        self.shared_net, self.optimizer = shared_net, optimizer
        self.local_net = ActorCriticNet()
        self.memory = []
        self.state, _ = self.env.reset(seed=3104 + number)
        self.score, self.scores = 0.0, []

    def play(self):
        """Fill the memory with up to N_STEPS of one episode; return the value of what comes after them."""
        self.memory.clear()
        for _ in range(N_STEPS):
            dist, value = self.local_net(torch.as_tensor(self.state))
            action = dist.sample()
            self.state, reward, terminated, truncated, _ = self.env.step(action.item())
            self.memory.append((reward, dist.log_prob(action), value))
            self.score += reward
            if terminated or truncated:
                break
        with torch.no_grad():
            _, last_value = self.local_net(torch.as_tensor(self.state))
        if terminated or truncated:
            self.state, _ = self.env.reset()
            self.scores.append(self.score)
            self.score = 0.0
        return 0.0 if terminated else last_value.item()

    def learn(self, last_value):
        rewards = [t[0] for t in self.memory]
        log_probs = torch.tensor([t[1] for t in self.memory], dtype=torch.float)  # BUG GS202
        values = torch.stack([t[2] for t in self.memory])
        returns, running = [], last_value
        for reward in reversed(rewards):
            running = reward + GAMMA * running
            returns.insert(0, running)
        returns = torch.tensor(returns)

        advantages = returns - values.detach()
        actor_loss = -(log_probs * advantages).mean()
        critic_loss = F.smooth_l1_loss(values, returns)
        loss = actor_loss + 0.5 * critic_loss

        self.local_net.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.local_net.parameters(), 5.0)
        for local, shared in zip(self.local_net.parameters(), self.shared_net.parameters()):
            shared.grad = None if local.grad is None else local.grad.clone()
        self.optimizer.step()
        return loss.item()

    def run(self):
        self.local_net.load_state_dict(self.shared_net.state_dict())
        return self.learn(self.play())


def main():
    torch.manual_seed(3104)
    shared_net = ActorCriticNet()
    optimizer = torch.optim.Adam(shared_net.parameters(), lr=2e-3)
    workers = [Worker(number, shared_net, optimizer) for number in range(WORKERS)]
    for turn in range(ROUNDS):
        losses = [worker.run() for worker in workers]
        if turn % 10 == 0:
            print(f"round {turn}: losses {', '.join(f'{loss:.2f}' for loss in losses)}")
    scores = [score for worker in workers for score in worker.scores]
    print(f"{len(scores)} episodes, mean score {sum(scores) / len(scores):.1f}")
    for worker in workers:
        worker.env.close()


if __name__ == "__main__":
    main()
