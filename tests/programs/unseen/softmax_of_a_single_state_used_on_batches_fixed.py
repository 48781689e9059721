"""A policy gradient from a textbook's listing: the network ends in a log-softmax along its first axis. For the state
that it acts on that axis holds the actions; for the batch of an episode it holds the steps.
Repaired here.

Round 18
Class: axes
"""

import numpy as np
import torch

torch.manual_seed(1809)
np.random.seed(1809)
l1, l2, l3 = 4, 50, 2
learning_rate = 0.005

model = torch.nn.Sequential(
    torch.nn.Linear(l1, l2),
    torch.nn.LeakyReLU(),
    torch.nn.Linear(l2, l3),
    torch.nn.LogSoftmax(dim=-1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)


def new_boat():
    """Position and heading across a river, the current, and where the pier is."""
    return np.array([0.0, 0.0, np.random.uniform(-0.1, 0.1), np.random.uniform(-1, 1)])


def row(boat, action):
    position, heading, current, pier = boat
    heading = np.clip(heading + (0.2 if action else -0.2), -1, 1)
    position = position + 0.3 * heading + current
    return np.array([position, heading, current, pier]), 1.0 - abs(position - pier), abs(position) > 2


def discount_rewards(rewards, gamma=0.99):
    lenr = len(rewards)
    returns = torch.zeros(lenr)
    running = 0.0
    for i in reversed(range(lenr)):
        running = rewards[i] + gamma * running
        returns[i] = running
    return (returns - returns.mean()) / (returns.std() + 1e-6)


MAX_DUR = 25
MAX_EPISODES = 70
score = []

for episode in range(MAX_EPISODES):
    curr_state = new_boat()
    transitions = []
    for t in range(MAX_DUR):
        with torch.no_grad():
            act_logp = model(torch.from_numpy(curr_state).float())
        action = torch.multinomial(act_logp.exp(), 1).item()
        prev_state = curr_state
        curr_state, reward, done = row(curr_state, action)
        transitions.append((prev_state, action, reward))
        if done and t > 1:
            break

    ep_len = len(transitions)
    score.append(ep_len)
    disc_returns = discount_rewards([r for (s, a, r) in transitions])
    state_batch = torch.Tensor(np.array([s for (s, a, r) in transitions]))
    action_batch = torch.tensor([a for (s, a, r) in transitions])

    pred_batch = model(state_batch)
    logp_batch = pred_batch.gather(dim=1, index=action_batch.view(-1, 1)).squeeze(1)
    loss = -1 * torch.sum(disc_returns * logp_batch)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print("average duration", np.mean(score))
