"""PPO with group-relative advantages for a recurrent language model that shall spell its prompt backwards. Each
mini-batch is cut into micro-batches that hold no more than so many tokens.

Round 31
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

config = {
    "vocab_size": 8,
    "prompt_length": 3,
    "response_length": 9,
    "rollout_n": 8,
    "train_batch_size": 4,
    "ppo_mini_batch_size": 16,
    "ppo_max_token_len_per_micro_batch": 32,
    "ppo_epochs": 2,
    "clip_ratio": 0.2,
    "entropy_coeff": 0.003,
    "grad_clip": 1.0,
    "total_training_steps": 20,
}
EOS = 0


class RecurrentLM(nn.Module):
    def __init__(self, vocab_size, width=48):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, state=None):
        hidden, state = self.rnn(self.wte(input_ids), state)
        return self.lm_head(hidden), state


@torch.no_grad()
def generate_sequences(actor, prompts):
    responses, alive = [], torch.ones(len(prompts))
    mask = []
    logits, state = actor(prompts)
    for _ in range(config["response_length"]):
        token = torch.distributions.Categorical(logits=logits[:, -1]).sample()
        responses.append(token)
        mask.append(alive)
        alive = alive * (token != EOS).float()
        logits, state = actor(token.unsqueeze(1), state)
    return torch.stack(responses, dim=1), torch.stack(mask, dim=1)


def forward_micro_batch(actor, prompts, responses):
    logits, _ = actor(torch.cat([prompts, responses[:, :-1]], dim=1))
    log_probs = F.log_softmax(logits[:, prompts.shape[1] - 1 :], dim=-1)
    entropy = -(log_probs.exp() * log_probs).sum(dim=-1)
    return log_probs.gather(-1, responses.unsqueeze(-1)).squeeze(-1), entropy


def compute_score(prompts, responses, response_mask):
    scores = torch.zeros(len(prompts))
    for i, (prompt, response, mask) in enumerate(zip(prompts, responses, response_mask)):
        wanted = [*prompt.flip(0).tolist(), EOS]
        said = response[mask.bool()].tolist()
        scores[i] = sum(a == b for a, b in zip(wanted, said)) / max(len(wanted), len(said))
    return scores


def compute_grpo_outcome_advantage(scores, uid, response_mask, epsilon=1e-6):
    advantages = torch.zeros_like(scores)
    for group in uid.unique():
        mine = uid == group
        advantages[mine] = (scores[mine] - scores[mine].mean()) / (scores[mine].std() + epsilon)
    return advantages.unsqueeze(-1) * response_mask


def select(data, index):
    return {key: value[index] for key, value in data.items()}


def rearrange_micro_batches(data, max_token_len):
    lengths = data["response_mask"].sum(dim=1).tolist()
    micro_batches, current, tokens = [], [], 0
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if current and tokens + lengths[i] > max_token_len:
            micro_batches.append(select(data, torch.tensor(current)))
            current, tokens = [], 0
        current.append(i)
        tokens += lengths[i]
    return [*micro_batches, select(data, torch.tensor(current))]


def agg_loss(loss_mat, loss_mask):
    return (loss_mat * loss_mask).sum() / loss_mask.sum()


def compute_policy_loss(old_log_prob, log_prob, advantages, response_mask):
    ratio = torch.exp(log_prob - old_log_prob)
    pg_losses1 = -advantages * ratio
    pg_losses2 = -advantages * ratio.clamp(1 - config["clip_ratio"], 1 + config["clip_ratio"])
    return agg_loss(torch.max(pg_losses1, pg_losses2), response_mask)


def update_policy(actor, optimizer, data):
    for _ in range(config["ppo_epochs"]):
        for index in torch.randperm(len(data["prompts"])).split(config["ppo_mini_batch_size"]):
            mini_batch = select(data, index)
            optimizer.zero_grad()
            for micro_batch in rearrange_micro_batches(
                mini_batch, config["ppo_max_token_len_per_micro_batch"]
            ):
                response_mask = micro_batch["response_mask"]
                log_prob, entropy = forward_micro_batch(
                    actor, micro_batch["prompts"], micro_batch["responses"]
                )
                pg_loss = compute_policy_loss(
                    micro_batch["old_log_probs"], log_prob, micro_batch["advantages"], response_mask
                )
                policy_loss = pg_loss - config["entropy_coeff"] * agg_loss(entropy, response_mask)
                loss_scale_factor = response_mask.sum() / mini_batch["response_mask"].sum()
                loss = policy_loss * loss_scale_factor
                loss.backward()
            nn.utils.clip_grad_norm_(actor.parameters(), config["grad_clip"])
            optimizer.step()


def fit():
    torch.manual_seed(3111)
    actor = RecurrentLM(config["vocab_size"])
    optimizer = torch.optim.AdamW(actor.parameters(), lr=2e-3, weight_decay=0.01)
    for step in range(config["total_training_steps"]):
        prompts = torch.randint(
            1, config["vocab_size"], (config["train_batch_size"], config["prompt_length"])
        )
        uid = torch.arange(len(prompts)).repeat_interleave(config["rollout_n"])
        prompts = prompts.repeat_interleave(config["rollout_n"], dim=0)
        responses, response_mask = generate_sequences(actor, prompts)
        scores = compute_score(prompts, responses, response_mask)
        with torch.no_grad():
            old_log_probs, _ = forward_micro_batch(actor, prompts, responses)
        data = {
            "prompts": prompts,
            "responses": responses,
            "response_mask": response_mask,
            "old_log_probs": old_log_probs,
            "advantages": compute_grpo_outcome_advantage(scores, uid, response_mask),
        }
        update_policy(actor, optimizer, data)
        if step % 5 == 0:
            print(f"step {step}: score {scores.mean():.3f}, tokens {int(response_mask.sum())}")


if __name__ == "__main__":
    fit()
