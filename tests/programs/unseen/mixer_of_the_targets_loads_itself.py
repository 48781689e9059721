"""Two agents whose values are mixed by the state: every tenth update the targets take over the weights. The agents'
do, and the mixer's copy is loaded from its own state dict, so the mixed target stays that of the first day.

Round 16
Class: late and rare
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1601)
AGENTS, ACTIONS, OBS, STATE, WIDTH = 2, 4, 5, 7, 8


class AgentNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS + AGENTS, 32), nn.ReLU(), nn.Linear(32, ACTIONS))

    def forward(self, obs):
        """obs [B, AGENTS, OBS] → values [B, AGENTS, ACTIONS]; every agent is told its number."""
        number = torch.eye(AGENTS).expand(obs.shape[0], AGENTS, AGENTS)
        return self.body(torch.cat([obs, number], -1))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight_in = nn.Linear(STATE, AGENTS * WIDTH)
        self.bias_in = nn.Linear(STATE, WIDTH)
        self.weight_out = nn.Linear(STATE, WIDTH)
        self.bias_out = nn.Sequential(nn.Linear(STATE, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, values, state):
        weight_in = self.weight_in(state).abs().view(-1, AGENTS, WIDTH)
        hidden = F.elu(torch.bmm(values.unsqueeze(1), weight_in).squeeze(1) + self.bias_in(state))
        return (hidden * self.weight_out(state).abs()).sum(-1) + self.bias_out(state).squeeze(-1)


class Learner:
    def __init__(self, period=10, gamma=0.9):
        self.agents, self.mixer = AgentNetwork(), Mixer()
        self.target_agents = copy.deepcopy(self.agents).requires_grad_(False)
        self.target_mixer = copy.deepcopy(self.mixer).requires_grad_(False)
        self.params = [*self.agents.parameters(), *self.mixer.parameters()]
        self.optimizer = torch.optim.RMSprop(self.params, lr=1e-3, alpha=0.99)
        self.period, self.gamma, self.updates = period, gamma, 0

    def train(self, batch):
        chosen = self.agents(batch["obs"]).gather(2, batch["action"].unsqueeze(-1)).squeeze(-1)
        total = self.mixer(chosen, batch["state"])
        with torch.no_grad():
            best = self.target_agents(batch["after"]).amax(-1)
            ahead = self.target_mixer(best, batch["state_after"])  # BUG GS307
            target = batch["reward"] + self.gamma * (1 - batch["done"]) * ahead
        loss = F.mse_loss(total, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.period == 0:
            self.update_targets()
        return loss.item()

    def update_targets(self):
        self.target_agents.load_state_dict(self.agents.state_dict())
        self.target_mixer.load_state_dict(self.target_mixer.state_dict())  # BUG GS809 GS307


def sample(size=24):
    obs, after = torch.randn(size, AGENTS, OBS), torch.randn(size, AGENTS, OBS)
    action = torch.randint(ACTIONS, (size, AGENTS))
    together = (action[:, 0] == action[:, 1]).float()
    state = torch.cat([obs[:, 0], obs[:, 1, :2]], -1)
    state_after = torch.cat([after[:, 0], after[:, 1, :2]], -1)
    reward = together + 0.5 * (action[:, 0] == (obs[:, 0, 0] > 0).long()).float()
    done = (torch.rand(size) < 0.1).float()
    names = ("obs", "after", "action", "state", "state_after", "reward", "done")
    return dict(zip(names, (obs, after, action, state, state_after, reward, done)))


learner = Learner()
losses = [learner.train(sample()) for _ in range(90)]
print(f"first {losses[0]:.3f}, last {losses[-1]:.3f}")
