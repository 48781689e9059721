"""A recurrent actor-critic is updated every few steps and starts afresh only when the pole has fallen; where it still
stands, the LSTM's state goes into the next stretch with its graph. The second update raises "backward through the graph
a second time". The lines of ikostrikov/pytorch-a3c#76 and dgriff777/rl_a3c_pytorch#19 without their detach.

Round 25
Class: stays alive
"""

import gymnasium as gym
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Args:
    seed, lr, gamma, gae_lambda = 2517, 1e-3, 0.99, 0.95
    entropy_coef, value_loss_coef, max_grad_norm = 0.01, 0.5, 40.0
    num_steps, updates = 10, 60


class ActorCritic(nn.Module):
    """Sees where the cart and the pole are, not how fast they move."""

    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.encoder = nn.Linear(num_inputs, 32)
        self.lstm = nn.LSTMCell(32, 32)
        self.critic_linear = nn.Linear(32, 1)
        self.actor_linear = nn.Linear(32, num_actions)

    def forward(self, inputs, state):
        x = F.elu(self.encoder(inputs))
        hx, cx = self.lstm(x, state)
        return self.critic_linear(hx).squeeze(), self.actor_linear(hx), (hx, cx)


def to_tensor(observation):
    return torch.from_numpy(observation[[0, 2]]).unsqueeze(0)


def train(args):
    torch.manual_seed(args.seed)
    env = gym.make("CartPole-v1")
    model = ActorCritic(2, env.action_space.n)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    observation, _ = env.reset(seed=args.seed)
    state, done = to_tensor(observation), True
    hx = cx = None

    for _ in range(args.updates):
        if done:
            hx, cx = torch.zeros(1, 32), torch.zeros(1, 32)
        else:
            hx, cx = hx.clone(), cx.clone()  # BUG GS402 GS305
        values, log_probs, rewards, entropies = [], [], [], []
        for _ in range(args.num_steps):
            value, logit, (hx, cx) = model(state, (hx, cx))  # BUG GS402 GS305
            prob, log_prob = F.softmax(logit, dim=-1), F.log_softmax(logit, dim=-1)
            entropies.append(-(log_prob * prob).sum())
            action = prob.multinomial(num_samples=1).detach()
            log_probs.append(log_prob.gather(1, action).squeeze())
            values.append(value)
            observation, reward, terminated, truncated, _ = env.step(action.item())
            rewards.append(reward)
            state, done = to_tensor(observation), terminated or truncated
            if done:
                break

        with torch.no_grad():
            R = torch.zeros(()) if terminated else model(state, (hx, cx))[0]
        if done:
            observation, _ = env.reset()
            state = to_tensor(observation)

        policy_loss, value_loss, gae, next_value = 0.0, 0.0, 0.0, R
        for i in reversed(range(len(rewards))):
            R = args.gamma * R + rewards[i]
            value_loss = value_loss + 0.5 * (R - values[i]).pow(2)
            delta = rewards[i] + args.gamma * next_value - values[i].detach()
            gae = gae * args.gamma * args.gae_lambda + delta
            next_value = values[i].detach()
            policy_loss = policy_loss - log_probs[i] * gae - args.entropy_coef * entropies[i]

        optimizer.zero_grad()
        (policy_loss + args.value_loss_coef * value_loss).backward()  # BUG GS402 GS305
        nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        optimizer.step()


if __name__ == "__main__":
    train(Args)
