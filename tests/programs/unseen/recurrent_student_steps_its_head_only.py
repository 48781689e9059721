"""A recurrent student learns from a teacher that sees more. Its memory was added to the module later; the optimizer
is still given the parameters of the student's layers only, and the memory stays as it was born.

Round 18
Class: the line
"""

import torch
import torch.nn as nn


class Memory(nn.Module):
    def __init__(self, input_size, hidden_size=24):
        super().__init__()
        self.rnn = nn.GRU(input_size, hidden_size)
        self.hidden = None

    def forward(self, x):
        out, self.hidden = self.rnn(x.unsqueeze(0), self.hidden)
        return out.squeeze(0)

    def detach(self):
        if self.hidden is not None:
            self.hidden = self.hidden.detach()

    def reset(self, dones):
        if self.hidden is not None:
            self.hidden = self.hidden * (1 - dones.float())[None, :, None]


class StudentTeacher(nn.Module):
    is_recurrent = True

    def __init__(self, student_obs, teacher_obs, actions, hidden=48):
        super().__init__()
        self.memory_s = Memory(student_obs)
        self.student = nn.Sequential(nn.Linear(24, hidden), nn.ELU(), nn.Linear(hidden, actions))
        self.teacher = nn.Sequential(nn.Linear(teacher_obs, hidden), nn.ELU(), nn.Linear(hidden, actions))
        self.teacher.requires_grad_(False)

    def act_inference(self, obs):
        return self.student(self.memory_s(obs))

    def evaluate(self, teacher_obs):
        with torch.no_grad():
            return self.teacher(teacher_obs)


class Distillation:
    def __init__(self, policy, gradient_length=8, learning_rate=2e-3, max_grad_norm=1.0):
        self.policy = policy
        self.optimizer = torch.optim.Adam(self.policy.student.parameters(), lr=learning_rate)  # BUG GS205
        self.gradient_length, self.max_grad_norm = gradient_length, max_grad_norm
        self.loss_fn = nn.functional.mse_loss

    def update(self, env, num_steps):
        loss, mean_loss = 0.0, 0.0
        obs, teacher_obs = env.observe()
        for count in range(1, num_steps + 1):
            actions = self.policy.act_inference(obs)
            behaviour_loss = self.loss_fn(actions, self.policy.evaluate(teacher_obs))
            loss = loss + behaviour_loss
            mean_loss += behaviour_loss.item() / num_steps
            obs, teacher_obs, dones = env.step(actions.detach())
            self.policy.memory_s.reset(dones)
            if count % self.gradient_length == 0:
                self.policy.zero_grad()
                (loss / self.gradient_length).backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.optimizer.step()
                self.policy.memory_s.detach()
                loss = 0.0
        return mean_loss


class Quadrupeds:
    """The teacher sees positions and speeds, the student positions only."""

    def __init__(self, num_envs=20):
        self.num_envs = num_envs
        self.position, self.speed = torch.randn(num_envs, 3), torch.zeros(num_envs, 3)

    def observe(self):
        return self.position, torch.cat([self.position, self.speed], -1)

    def step(self, actions):
        self.speed = 0.7 * self.speed + 0.3 * actions.clamp(-1, 1) + 0.1 * torch.randn_like(self.speed)
        self.position = self.position + 0.3 * self.speed
        dones = self.position.abs().amax(-1) > 2.5
        self.position = torch.where(dones[:, None], torch.randn_like(self.position), self.position)
        self.speed = torch.where(dones[:, None], torch.zeros_like(self.speed), self.speed)
        return *self.observe(), dones


def main(iterations=10, num_steps_per_env=40):
    torch.manual_seed(1823)
    env = Quadrupeds()
    alg = Distillation(StudentTeacher(student_obs=3, teacher_obs=6, actions=3))
    for it in range(iterations):
        print(it, alg.update(env, num_steps_per_env))


main()
