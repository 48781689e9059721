"""The module marks its target encoder and target head as not trainable with an attribute that nothing reads; they are
collected for the optimizer with all the rest, and the loss trains both sides of its own equation.

Round 15
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(1511)
FEATURES, ACTIONS = 8, 3


class Catalog:
    def build_encoder(self):
        return nn.Sequential(nn.Linear(FEATURES, 40), nn.ReLU())

    def build_head(self, outputs):
        return nn.Sequential(nn.Linear(40, 24), nn.ReLU(), nn.Linear(24, outputs))


class DuelingModule(nn.Module):
    """Encoder with a dueling head, and a target for both."""

    def __init__(self, catalog):
        super().__init__()
        self.encoder, self.target_encoder = catalog.build_encoder(), catalog.build_encoder()
        self.head, self.target_head = catalog.build_head(1 + ACTIONS), catalog.build_head(1 + ACTIONS)
        self.target_encoder.load_state_dict(self.encoder.state_dict())
        self.target_head.load_state_dict(self.head.state_dict())
        # We do not want to train the target networks.
        self.target_encoder.trainable = False  # BUG GS302 GS301
        self.target_head.trainable = False  # BUG GS302 GS301

    @staticmethod
    def combine(out):
        value, advantage = out[:, :1], out[:, 1:]
        return value + advantage - advantage.mean(1, keepdim=True)

    def forward_train(self, obs):
        return self.combine(self.head(self.encoder(obs)))

    def forward_target(self, obs):
        return self.combine(self.target_head(self.target_encoder(obs)))  # BUG GS302 GS301

    def target_pairs(self):
        return (self.target_encoder, self.encoder), (self.target_head, self.head)


class Learner:
    def __init__(self, module, gamma=0.95, tau=0.01):
        self.module, self.gamma, self.tau = module, gamma, tau
        self.params = [p for p in module.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(self.params, lr=1e-3)  # BUG GS302

    def compute_loss(self, batch):
        with torch.no_grad():
            best = self.module.forward_train(batch["after"]).argmax(1, keepdim=True)
        taken = self.module.forward_train(batch["obs"]).gather(1, batch["action"]).squeeze(1)
        following = self.module.forward_target(batch["after"]).gather(1, best).squeeze(1)  # BUG GS302 GS301
        target = batch["reward"] + self.gamma * (1 - batch["terminated"]) * following  # BUG GS301
        return nn.functional.huber_loss(taken, target)

    def update(self, batch):
        loss = self.compute_loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimizer.step()
        self.sync()
        return loss.item()

    @torch.no_grad()
    def sync(self):
        for target, online in self.module.target_pairs():
            for slow, fast in zip(target.parameters(), online.parameters()):
                slow.lerp_(fast, self.tau)


def episodes(count):
    """Batches of a task in which an action pushes one feature up; the sum of the features pays."""
    for _ in range(count):
        obs, action = torch.randn(36, FEATURES), torch.randint(ACTIONS, (36, 1))
        push = nn.functional.one_hot(action.squeeze(1), FEATURES).float()
        after = 0.9 * obs + 0.2 * push
        yield {
            "obs": obs,
            "action": action,
            "reward": after[:, :ACTIONS].sum(1) * 0.1,
            "after": after,
            "terminated": (torch.rand(36) < 0.05).float(),
        }


learner = Learner(DuelingModule(Catalog()))
for number, batch in enumerate(episodes(70)):
    loss = learner.update(batch)
    if number % 20 == 0:
        print(number, loss)
