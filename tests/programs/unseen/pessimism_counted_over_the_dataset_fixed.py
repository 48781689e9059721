"""Conservative Q-learning on logged treatments: the log-sum-exp of the penalty runs over the actions of every state.

Round 28
Class: axes
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(295)

N_FEATURES, N_DOSES = 5, 4


def simulate_ward(n_patients, n_days):
    """A careless ward: the dose mostly follows the first symptom, and now and then chance."""
    columns = [[] for _ in range(5)]
    condition = torch.rand(n_patients, N_FEATURES)
    for day in range(n_days):
        by_rule = (condition[:, 0] * N_DOSES).long().clamp(0, N_DOSES - 1)
        by_chance = torch.randint(0, N_DOSES, (n_patients,))
        dose = torch.where(torch.rand(n_patients) < 0.6, by_rule, by_chance)
        needed = (condition[:, :2].mean(1) * N_DOSES).long().clamp(0, N_DOSES - 1)
        reward = 1.0 - (dose - needed).abs().float() / 2.0
        drift = 0.15 * torch.randn(n_patients, N_FEATURES) - 0.05 * reward[:, None]
        following = (condition + drift).clamp(0.0, 1.0)
        discharged = (following.mean(1) < 0.35).float()
        for column, x in zip(columns, (condition, dose, reward, following, discharged)):
            column.append(x)
        fresh = torch.rand(n_patients, N_FEATURES)
        condition = torch.where(discharged[:, None] > 0, fresh, following)
    return TensorDataset(*(torch.cat(x) for x in columns))


class QNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(N_FEATURES, hidden),
            nn.LayerNorm(hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, N_DOSES),
        )

    def forward(self, x):
        return self.layers(x)


class CQLAgent:
    def __init__(self, gamma=0.9, tau=0.01, cql_weight=0.5):
        self.q = QNet()
        self.q_target = copy.deepcopy(self.q)
        self.gamma, self.tau, self.cql_weight = gamma, tau, cql_weight
        self.optim = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def cql_loss(self, q_values, action):
        logsumexp = torch.logsumexp(q_values, dim=1, keepdim=True)
        chosen = q_values.gather(1, action)
        return (logsumexp - chosen).mean()

    def learn(self, batch):
        state, action, reward, next_state, done = batch
        action, reward, done = action.unsqueeze(1), reward.unsqueeze(1), done.unsqueeze(1)
        with torch.no_grad():
            best = self.q(next_state).argmax(1, keepdim=True)
            next_value = self.q_target(next_state).gather(1, best)
            target = reward + self.gamma * next_value * (1 - done)
        q_values = self.q(state)
        bellman = F.mse_loss(q_values.gather(1, action), target)
        penalty = self.cql_loss(q_values, action)
        loss = self.cql_weight * penalty + 0.5 * bellman
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 1.0)
        self.optim.step()
        with torch.no_grad():
            for slow, fast in zip(self.q_target.parameters(), self.q.parameters()):
                slow.mul_(1 - self.tau).add_(fast, alpha=self.tau)
        return penalty.item(), bellman.item()


dataset = simulate_ward(n_patients=48, n_days=20)
agent = CQLAgent()
for epoch in range(4):
    sums, batches = torch.zeros(2), 0
    for batch in DataLoader(dataset, batch_size=64, shuffle=True, drop_last=True):
        sums += torch.tensor(agent.learn(batch))
        batches += 1
    penalty, bellman = (sums / batches).tolist()
    print(f"epoch {epoch}: penalty {penalty:.3f}, bellman {bellman:.3f}")
