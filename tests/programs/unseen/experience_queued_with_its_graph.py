"""Actor and learner talk through a queue of the multiprocessing library. The actor's priorities come from its own
value network, and go into the queue as they are: what still has a graph cannot cross to another process.

Round 17
Class: forward errors
"""

import copy

import torch
import torch.multiprocessing as mp
from torch import nn

torch.manual_seed(1712)
OBS, ACTIONS, COPIES, DISCOUNT = 4, 3, 8, 0.97


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 40), nn.ReLU())
        self.value, self.advantage = nn.Linear(40, 1), nn.Linear(40, ACTIONS)

    def forward(self, obs):
        features = self.body(obs)
        advantage = self.advantage(features)
        return self.value(features) + advantage - advantage.mean(-1, keepdim=True)


def td_errors(network, slow, step):
    taken = network(step["obs"]).gather(1, step["action"].unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        ahead = slow(step["after"]).max(1).values
    return step["reward"] + DISCOUNT * (1 - step["ended"]) * ahead - taken


class Actor:
    """Plays copies of the environment with a network of its own, and says how surprising each step was."""

    def __init__(self, network, queue):
        self.network, self.queue = copy.deepcopy(network), queue
        self.obs = torch.randn(COPIES, OBS)

    @torch.no_grad()
    def play(self, epsilon=0.2):
        greedy = self.network(self.obs).argmax(1)
        action = torch.where(torch.rand(COPIES) < epsilon, torch.randint(ACTIONS, (COPIES,)), greedy)
        push = action.float() - 1
        after = 0.9 * self.obs + 0.2 * torch.randn(COPIES, OBS)
        after[:, 0] += 0.5 * push
        ended = (after[:, 0].abs() > 2).float()
        step = {"obs": self.obs, "action": action, "after": after, "ended": ended}
        step["reward"] = -after[:, 0].abs() - 5 * ended
        self.obs = torch.where(ended.bool().unsqueeze(1), torch.randn(COPIES, OBS), after)
        return step

    def send(self):
        step = self.play()
        step["priority"] = td_errors(self.network, self.network, step).abs()  # BUG GS105
        self.queue.put(step)  # BUG GS105


class Learner:
    def __init__(self, queue):
        self.network, self.queue, self.memory = Dueling(), queue, []
        self.slow = copy.deepcopy(self.network).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)

    def receive(self):
        received = self.queue.get()
        self.memory.append({key: value.clone() for key, value in received.items()})
        self.memory = self.memory[-64:]

    def sample(self):
        joined = {key: torch.cat([step[key] for step in self.memory]) for key in self.memory[0]}
        rows = torch.multinomial(joined.pop("priority") + 1e-3, 16, replacement=True)
        return {key: value[rows] for key, value in joined.items()}

    def learn(self, number):
        loss = td_errors(self.network, self.slow, self.sample()).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.optimizer.step()
        if number % 10 == 0:
            self.slow.load_state_dict(self.network.state_dict())
        return loss.item()


channel = mp.SimpleQueue()  # one process plays both parts here
learner = Learner(channel)
actor = Actor(learner.network, channel)
for number in range(60):
    actor.send()
    learner.receive()
    learner.learn(number)
    if number % 5 == 0:
        actor.network.load_state_dict(learner.network.state_dict())
