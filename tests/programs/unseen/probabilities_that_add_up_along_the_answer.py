"""Leave-one-out policy gradient of answers: the log-softmax of the logits [answers, places, words] runs over the
places, so the words at one place do not compete with each other and the log-probs are none. After
ctallec/world-models#10 and pytorch/pytorch#27626 (log_softmax over dim 1 of a sequence's scores).

Round 26
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2611)

N_WORDS, HIDDEN, PROMPTS, SAMPLES, LENGTH = 15, 40, 5, 4, 8


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(N_WORDS, HIDDEN)
        self.memory = nn.GRU(HIDDEN, HIDDEN, batch_first=True)
        self.project = nn.Linear(HIDDEN, N_WORDS)

    def forward(self, words):
        return self.project(self.memory(self.embedding(words))[0])


@torch.no_grad()
def sample_answers(speaker, prompts):
    words = prompts.repeat_interleave(SAMPLES, dim=0)
    for _ in range(LENGTH):
        following = torch.multinomial(F.softmax(speaker(words)[:, -1], dim=-1), 1)
        words = torch.cat([words, following], dim=1)
    return words


def selective_log_softmax(logits, labels):
    log_probs = F.log_softmax(logits, dim=1)  # BUG GS604
    return torch.gather(log_probs, 2, labels.unsqueeze(2)).squeeze(2)


def reward(words):
    """Wants the prompt's last word at every second place."""
    answer = words[:, -LENGTH:]
    wanted = words[:, -LENGTH - 1 : -LENGTH]
    return (answer[:, ::2] == wanted).float().mean(1)


def leave_one_out(rewards):
    rewards = rewards.view(PROMPTS, SAMPLES)
    others = (rewards.sum(1, keepdim=True) - rewards) / (SAMPLES - 1)
    return (rewards - others).reshape(-1)


def rloo_loss(speaker, words):
    logits = speaker(words[:, :-1])[:, -LENGTH:]
    log_probs = selective_log_softmax(logits, words[:, -LENGTH:])
    rewards = reward(words)
    return -(leave_one_out(rewards) * log_probs.sum(1)).mean(), rewards.mean().item()


speaker = Speaker()
optimizer = torch.optim.Adam(speaker.parameters(), lr=5e-3)
history = []
for step in range(50):
    prompts = torch.randint(0, N_WORDS, (PROMPTS, 3))
    words = sample_answers(speaker, prompts)
    loss, mean_reward = rloo_loss(speaker, words)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(speaker.parameters(), 1.0)
    optimizer.step()
    history.append(mean_reward)
    if step % 10 == 9:
        print(f"{step + 1}: {sum(history[-10:]) / 10:.3f}")
