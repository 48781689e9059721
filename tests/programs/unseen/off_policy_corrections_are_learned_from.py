"""An actor that lags behind its learner plays catch, and the learner corrects for the lag with V-trace. The
importance ratios go into the corrections with their graph, so the value targets and the advantages both
push on the policy.

Round 32
Class: weights
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, COLS = 6, 5
UNROLL, UPDATES, LAG = 48, 60, 4
GAMMA, ENTROPY_COST, BASELINE_COST = 0.97, 0.01, 0.5


class Catch:
    """A ball falls, a paddle waits on the last row; the game is over when the ball lands."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.row, self.col, self.paddle = 0, self.rng.integers(COLS), COLS // 2
        return self.board()

    def board(self):
        board = np.zeros((ROWS, COLS), dtype=np.float32)
        board[self.row, self.col] = 1.0
        board[-1, self.paddle] += 0.5
        return torch.from_numpy(board.ravel())

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + action - 1, 0, COLS - 1))
        self.row += 1
        done = self.row == ROWS - 1
        reward = (1.0 if self.paddle == self.col else -1.0) if done else 0.0
        return self.board(), reward, done


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(ROWS * COLS, 64), nn.Tanh())
        self.policy = nn.Linear(64, 3)
        self.baseline = nn.Linear(64, 1)

    def forward(self, x):
        x = self.body(x)
        return self.policy(x), self.baseline(x).squeeze(-1)


def action_log_probs(logits, actions):
    return F.log_softmax(logits, dim=-1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def from_importance_weights(log_rhos, discounts, rewards, values, bootstrap_value):
    rhos = torch.exp(log_rhos)
    clipped_rhos = torch.clamp(rhos, max=1.0)
    next_values = torch.cat([values[1:], bootstrap_value.unsqueeze(0)])
    deltas = clipped_rhos * (rewards + discounts * next_values - values)
    acc, corrections = torch.zeros(()), []
    for t in reversed(range(len(deltas))):
        acc = deltas[t] + discounts[t] * clipped_rhos[t] * acc
        corrections.append(acc)
    vs = torch.stack(corrections[::-1]) + values  # BUG GS301 GS303
    next_vs = torch.cat([vs[1:], bootstrap_value.unsqueeze(0)])
    pg_advantages = clipped_rhos * (rewards + discounts * next_vs - values)  # BUG GS303 GS301
    return vs, pg_advantages


def learn(net, optimizer, batch):
    obs, actions, rewards, dones, behaviour_log_probs, last_obs = batch
    logits, values = net(obs)
    with torch.no_grad():
        bootstrap_value = net(last_obs)[1]
    log_probs = action_log_probs(logits, actions)
    vs, pg_advantages = from_importance_weights(
        log_rhos=log_probs - behaviour_log_probs,  # BUG GS301 GS303
        discounts=GAMMA * (1.0 - dones),
        rewards=rewards,
        values=values.detach(),
        bootstrap_value=bootstrap_value,
    )
    pg_loss = -(log_probs * pg_advantages).mean()  # BUG GS303
    baseline_loss = (vs - values).pow(2).mean()  # BUG GS301
    entropy = -(F.softmax(logits, -1) * F.log_softmax(logits, -1)).sum(-1).mean()
    loss = pg_loss + BASELINE_COST * baseline_loss - ENTROPY_COST * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()


def main():
    torch.manual_seed(7)
    learner, actor, env = Net(), Net(), Catch(7)
    optimizer = torch.optim.RMSprop(learner.parameters(), lr=2e-3)
    obs, results = env.reset(), []
    for update in range(UPDATES):
        if update % LAG == 0:
            actor.load_state_dict(learner.state_dict())
        rows = []
        for _ in range(UNROLL):
            with torch.no_grad():
                logits, _ = actor(obs)
            action = torch.distributions.Categorical(logits=logits).sample()
            next_obs, reward, done = env.step(int(action))
            rows.append((obs, action, reward, float(done), action_log_probs(logits, action)))
            if done:
                results.append(reward)
            obs = env.reset() if done else next_obs
        states, actions, rewards, dones, log_probs = zip(*rows)
        batch = (
            torch.stack(states),
            torch.stack(actions),
            torch.tensor(rewards),
            torch.tensor(dones),
            torch.stack(log_probs),
            next_obs,
        )
        learn(learner, optimizer, batch)
    print(f"caught {np.mean(np.array(results[-100:]) > 0):.0%} of the last balls")


if __name__ == "__main__":
    main()
