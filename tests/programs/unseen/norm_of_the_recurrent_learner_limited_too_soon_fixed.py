"""A recurrent Q-learner limits the norm of its gradients between backward and the step. See cross32768/Dreamer_PyTorch#2
and simchowitzlabpublic/nano-world-model#22.

Round 25
Class: magnitude
"""

import copy
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SEED, LENGTH, HIDDEN, GAMMA, CLIP = 2522, 8, 32, 0.95, 0.5
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Recall:
    """The first observation shows a cue; in the last step the action must name it."""

    def reset(self):
        self.cue, self.t = random.randrange(3), 0
        return self.observe()

    def observe(self):
        obs = np.zeros(5, dtype=np.float32)
        if self.t == 0:
            obs[self.cue] = 1.0
        obs[3], obs[4] = self.t / LENGTH, np.random.randn() * 0.1
        return obs

    def step(self, action):
        self.t += 1
        done = self.t == LENGTH
        reward = (5.0 if action == self.cue else -5.0) if done else 0.0
        return self.observe(), reward, done


class DRQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(5, HIDDEN)
        self.lstm = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.value, self.advantage = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, 3)

    def forward(self, obs, state=None):
        x, state = self.lstm(F.relu(self.embed(obs)), state)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(-1, keepdim=True), state


class Learner:
    def __init__(self):
        self.net = DRQN()
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.episodes, self.updates = [], 0

    def play(self, env, epsilon):
        obs, state, done, steps = env.reset(), None, False, []
        while not done:
            with torch.no_grad():
                q, state = self.net(torch.from_numpy(obs)[None, None], state)
            action = random.randrange(3) if random.random() < epsilon else int(q.argmax())
            next_obs, reward, done = env.step(action)
            steps.append((obs, action, np.float32(reward), np.float32(done)))
            obs = next_obs
        observations = np.stack([s[0] for s in steps] + [obs])
        actions, rewards, dones = (np.array(x) for x in list(zip(*steps))[1:])
        self.episodes.append((observations, actions, rewards, dones))

    def update(self, batch_size=16):
        batch = random.sample(self.episodes, batch_size)
        obs, actions, rewards, dones = (torch.from_numpy(np.stack(x)) for x in zip(*batch))
        q = self.net(obs)[0]
        chosen = q[:, :-1].gather(2, actions.unsqueeze(2)).squeeze(2)
        with torch.no_grad():
            best = q[:, 1:].argmax(2, keepdim=True)
            next_q = self.target(obs)[0][:, 1:].gather(2, best).squeeze(2)
            target = rewards + GAMMA * (1 - dones) * next_q
        loss = F.mse_loss(chosen, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        self.optimizer.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.net.state_dict())
        return loss.item()


def main():
    env, learner = Recall(), Learner()
    for _ in range(40):
        learner.play(env, epsilon=1.0)
    for _ in range(60):
        learner.play(env, epsilon=0.3)
        learner.update()


if __name__ == "__main__":
    main()
