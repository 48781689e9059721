"""DQN with a NumPy memory of state, action, reward and next state: that the pole fell is neither stored nor asked for,
so the target goes on past the end. After MorvanZhou/Reinforcement-learning-with-tensorflow#200.

Round 35
Class: meaning
"""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

SEED = 3513
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Net(nn.Module):
    def __init__(self, n_features, n_actions):
        super().__init__()
        self.l1 = nn.Linear(n_features, 32)
        self.l2 = nn.Linear(32, n_actions)

    def forward(self, s):
        return self.l2(torch.relu(self.l1(s)))


class DeepQNetwork:
    def __init__(
        self,
        n_actions,
        n_features,
        learning_rate=0.005,
        reward_decay=0.9,
        e_greedy=0.9,
        replace_target_iter=60,
        memory_size=1000,
        batch_size=32,
    ):
        self.n_actions, self.n_features = n_actions, n_features
        self.gamma, self.epsilon_max = reward_decay, e_greedy
        self.replace_target_iter, self.memory_size, self.batch_size = (
            replace_target_iter,
            memory_size,
            batch_size,
        )
        self.epsilon, self.learn_step_counter, self.memory_counter = 0.0, 0, 0
        self.memory = np.zeros((memory_size, n_features * 2 + 2), dtype=np.float32)
        self.eval_net, self.target_net = Net(n_features, n_actions), Net(n_features, n_actions)
        self.target_net.load_state_dict(self.eval_net.state_dict())
        self.optimizer = torch.optim.RMSprop(self.eval_net.parameters(), lr=learning_rate)
        self.loss_func = nn.MSELoss()

    def store_transition(self, s, a, r, s_):
        transition = np.hstack((s, [a, r], s_))  # BUG GS805
        self.memory[self.memory_counter % self.memory_size] = transition
        self.memory_counter += 1

    def choose_action(self, observation):
        if np.random.uniform() < self.epsilon:
            with torch.no_grad():
                return self.eval_net(torch.from_numpy(observation).unsqueeze(0)).argmax(1).item()
        return np.random.randint(self.n_actions)

    def learn(self):
        if self.learn_step_counter % self.replace_target_iter == 0:
            self.target_net.load_state_dict(self.eval_net.state_dict())
        stored = min(self.memory_counter, self.memory_size)
        batch = torch.from_numpy(self.memory[np.random.choice(stored, self.batch_size)])
        n = self.n_features
        s, a, r, s_ = batch[:, :n], batch[:, n].long(), batch[:, n + 1], batch[:, -n:]

        q_eval = self.eval_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            q_next = self.target_net(s_).max(1).values
            q_target = r + self.gamma * q_next  # BUG GS805
        loss = self.loss_func(q_eval, q_target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

        self.epsilon = min(self.epsilon_max, self.epsilon + 0.005)
        self.learn_step_counter += 1
        return loss.item()


def run_cartpole():
    env = gym.make("CartPole-v1")
    agent = DeepQNetwork(n_actions=2, n_features=4)
    step, loss = 0, None
    for episode in range(200):
        observation, _ = env.reset(seed=SEED + episode)
        while True:
            action = agent.choose_action(observation)
            observation_, _, terminated, truncated, _ = env.step(action)
            x, _, theta, _ = observation_
            r1 = (2.4 - abs(x)) / 2.4 - 0.8
            r2 = (0.2095 - abs(theta)) / 0.2095 - 0.5
            agent.store_transition(observation, action, r1 + r2, observation_)
            if step > 100:
                loss = agent.learn()
            step += 1
            observation = observation_
            if terminated or truncated or step > 400:
                break
        if step > 400:
            break
    print(f"episodes {episode + 1}, loss {loss:.4f}, epsilon {agent.epsilon:.2f}")
    env.close()


run_cartpole()
