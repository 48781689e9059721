"""Discrete implicit Q-learning: the helper that picks the value of the action in the data serves the value loss and the
policy without gradients, as it should, and the loss of the Q-network, too.

Round 24
Class: zero in part
"""

import copy

import numpy as np
import torch
import torch.nn as nn

STATES, ACTIONS = 6, 4


def make_dataset(size, seed):
    """Logged by a clumsy walker on a ring of rooms: one of them pays, one ends the walk."""
    rng = np.random.default_rng(seed)
    rooms, rows = np.eye(STATES, dtype=np.float32), []
    room = 0
    for _ in range(size):
        action = int(rng.integers(ACTIONS))
        following = (room + (1, -1, 2, 0)[action]) % STATES
        reward = 1.0 if following == 3 else -0.1
        terminal = following == 5
        rows.append((rooms[room], action, reward, rooms[following], float(terminal)))
        room = int(rng.integers(STATES - 1)) if terminal else following
    columns = [np.array(column) for column in zip(*rows)]
    return {
        "observation": torch.from_numpy(columns[0]),
        "action": torch.from_numpy(columns[1]),
        "reward": torch.tensor(columns[2], dtype=torch.float32),
        "next_observation": torch.from_numpy(columns[3]),
        "terminated": torch.tensor(columns[4], dtype=torch.float32),
    }


def network(outputs):
    return nn.Sequential(nn.Linear(STATES, 32), nn.ReLU(), nn.Linear(32, outputs))


class DiscreteIQLLoss(nn.Module):
    def __init__(self, actor, qvalue, value, gamma=0.95, temperature=3.0, expectile=0.7):
        super().__init__()
        self.actor_network, self.qvalue_network, self.value_network = actor, qvalue, value
        self.target_qvalue_network = copy.deepcopy(qvalue).requires_grad_(False)
        self.gamma, self.temperature, self.expectile = gamma, temperature, expectile

    @torch.no_grad()  # BUG GS202 GS201
    def state_action_value(self, net, batch):
        return net(batch["observation"]).gather(1, batch["action"].unsqueeze(1)).squeeze(1)  # BUG GS202 GS201

    def value_loss(self, batch):
        q = self.state_action_value(self.target_qvalue_network, batch)
        v = self.value_network(batch["observation"]).squeeze(1)
        difference = q - v
        weight = torch.where(difference > 0, self.expectile, 1 - self.expectile)
        return (weight * difference.pow(2)).mean()

    def qvalue_loss(self, batch):
        with torch.no_grad():
            following = self.value_network(batch["next_observation"]).squeeze(1)
            target = batch["reward"] + self.gamma * (1 - batch["terminated"]) * following
        q = self.state_action_value(self.qvalue_network, batch)  # BUG GS202 GS201
        return (q - target).pow(2).mean()

    def actor_loss(self, batch):
        with torch.no_grad():
            v = self.value_network(batch["observation"]).squeeze(1)
            advantage = self.state_action_value(self.target_qvalue_network, batch) - v
            weight = (self.temperature * advantage).exp().clamp(max=100.0)
        dist = torch.distributions.Categorical(logits=self.actor_network(batch["observation"]))
        return -(weight * dist.log_prob(batch["action"])).mean()

    def forward(self, batch):
        return {
            "loss_actor": self.actor_loss(batch),
            "loss_qvalue": self.qvalue_loss(batch),
            "loss_value": self.value_loss(batch),
        }


def main(updates=80, batch_size=64):
    torch.manual_seed(2419)
    data = make_dataset(1200, seed=19)
    loss_module = DiscreteIQLLoss(network(ACTIONS), network(ACTIONS), network(1))
    optimizers = [
        torch.optim.Adam(net.parameters(), lr=3e-3)
        for net in (loss_module.actor_network, loss_module.qvalue_network, loss_module.value_network)
    ]
    for _ in range(updates):
        index = torch.randint(len(data["action"]), (batch_size,))
        losses = loss_module({name: column[index] for name, column in data.items()})
        for optimizer in optimizers:
            optimizer.zero_grad()
        sum(losses.values()).backward()
        for optimizer in optimizers:
            optimizer.step()
        with torch.no_grad():
            slow, fast = loss_module.target_qvalue_network, loss_module.qvalue_network
            for target, source in zip(slow.parameters(), fast.parameters()):
                target.lerp_(source, 0.05)
    print({name: round(loss.item(), 4) for name, loss in losses.items()})
    print("best action of every room:", loss_module.actor_network(torch.eye(STATES)).argmax(1).tolist())


if __name__ == "__main__":
    main()
