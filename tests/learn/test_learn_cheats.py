"""Answers that look right, or make the complaint go away, and do not solve anything."""

from __future__ import annotations

import re

import pytest
from learn_answers import solution

from gradsan.learn.catalogue import course, find
from gradsan.learn.judge import judge


def swapped(name: str, old: str, new: str) -> str:
    """The solution of `name` with one piece replaced: as close to right as a cheat can get."""
    text = solution(find(name))
    assert text.count(old) == 1, (name, old)
    return text.replace(old, new)


HARD_CODED = {
    "requires_grad": ("torch.tensor(values,", "torch.tensor([1.0, 2.0],"),
    "slope": ("return x.grad.item()", "return 4.0"),
    "dot_product": ("return x.grad", "return torch.tensor([2.0, 4.0, 6.0])"),
    "two_variables": ("return a.grad.item(), b.grad.item()", "return 12.0, 4.0"),
    "accumulation": ("return x.grad.item()", "return 7.0"),
    "zeroing": ("return x.item()", "return 3.0"),
    "value_fitting": ("return w.detach()", "return torch.tensor([1.0, -2.0, 0.0])"),
    "sum_backward": ("return x.grad", "return torch.tensor([2.0, 4.0, 6.0])"),
    "gradient_argument": ("gradient=weights", "gradient=torch.tensor([1.0, 10.0, 1.0, 1.0])"),
    "slice_snapshot": ("return layer.weight[0].detach() - before", "return torch.tensor([0.1, 0.1, 0.1])"),
    "functional": ("return g.grad.item()", "return 2.667"),
}

FORMULA_WITHOUT_AUTOGRAD = {
    "dot_product": ("    y.backward()\n    return x.grad", "    return 2 * x.detach()"),
    "slope": ("    y.backward()\n    return x.grad.item()", "    return 2 * at"),
    "value_fitting": (
        "loss.backward()",
        "w.grad = 2 * features.T @ (values - returns).detach() / len(returns)",
    ),
}

DELETED = {
    "value_fitting": ("            w -= lr * w.grad\n", "            pass\n"),
    "optimizer": ("        optimizer.step()\n", ""),
    "in_place": ("    probs = probs * available\n", ""),
    "clone": ("    noisy += noise\n", ""),
    "views": ("    log_std = log_std.clamp(-5.0, 2.0)\n", ""),
    "soft_update": ("            slow.mul_(1 - tau).add_(tau * fast)", "            pass"),
    "detached_target": (" + gamma * value(next_states).squeeze(-1).detach()", ""),
    "item": ("    loss.backward()\n", ""),
    "sampling": (" * rewards", ""),
    "rsample": ("-critic(states, actions).mean() + ", ""),
    "clip_order": ("    nn.utils.clip_grad_norm_(net.parameters(), max_norm)\n", ""),
    "clip_effect": ("        parameter.grad.clamp_(-limit, limit)\n", "        pass\n"),
    "dqn": (" * (1 - ended)", ""),
    "reinforce": ("        self.optimizer.step()\n", ""),
    "actor_critic": (" + 0.5 * critic_loss", ""),
    "sac": ("        self.alpha_optimizer.step()\n", ""),
}

HALF_WAY = {
    "clone": ("features.clone()", "features.detach().clone()"),  # a copy, but the gradient stops
    "slice_snapshot": (".detach().clone()", ".clone()"),  # own memory, but still part of the graph
    "sum_backward": ("y.sum()", "y.mean()"),  # every slope divided by the batch
    "backward_twice": ("    w.grad = None\n", ""),  # the second gradient holds the first as well
    "soft_update": ("slow.mul_(1 - tau).add_(tau * fast)", "slow = (1 - tau) * slow + tau * fast"),
    "detached_target": ("value(states).squeeze(-1)", "value(states).squeeze(-1).detach().requires_grad_()"),
    "target_copy": ("return copy.deepcopy(online)", "return online"),
    "functional": ("gamma * running", "gamma.item() * running"),  # the numbers without the history
    "rsample": ("dist.rsample()", "mean"),  # differentiable because nothing is drawn
    "actor_critic": (
        " values = self.critic(states).squeeze(-1)",
        " values = self.critic(states).squeeze(-1).detach()",
    ),
    "clamped_error": ("nn.functional.huber_loss", "nn.functional.mse_loss"),
    "parameter": ("self.scale * (self", "(self"),
    "reused_buffer": (
        "observation.clone()",
        "torch.zeros_like(observation)",
    ),  # nothing to overwrite, nothing to see
    "no_grad": ("    with torch.no_grad():\n    ", ""),  # now the target is trained as well
    "log_prob_tensor": ("torch.stack(log_probs)", "torch.stack(log_probs).detach().requires_grad_()"),
}

CHEATS = [
    (kind, name, swapped(name, *change))
    for kind, changes in {
        "hard-coded": HARD_CODED,
        "formula": FORMULA_WITHOUT_AUTOGRAD,
        "deleted": DELETED,
        "half-way": HALF_WAY,
    }.items()
    for name, change in changes.items()
]


@pytest.mark.parametrize(("kind", "name", "text"), CHEATS, ids=lambda x: x if len(x) < 30 else "")
def test_a_trivial_answer_does_not_pass(kind: str, name: str, text: str, write) -> None:
    verdict = judge(find(name), write(name, text))
    assert verdict.problems, kind


def test_every_exercise_has_a_cheat_that_is_tried() -> None:
    assert {name for _, name, _ in CHEATS} == {exercise.name for exercise in course()}


FUNCTIONS = [(e, "fit") for e in ("value_fitting",)] + [
    (name, "update") for name in ("in_place", "detached_target", "sampling", "clip_order", "clamped_error")
]


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_an_early_return_does_not_pass(name: str, function: str, write) -> None:
    text, found = re.subn(rf"(def {function}\(.*\n    \"\"\".*\n)", r"\1    return\n", solution(find(name)))
    assert found == 1
    assert judge(find(name), write(name, text)).problems


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_a_renamed_function_does_not_pass_and_the_message_names_it(name: str, function: str, write) -> None:
    text = re.sub(rf"\b{function}\b", "other", solution(find(name)))
    (problem, *_) = judge(find(name), write(name, text)).problems
    assert f"`{function}` is no longer defined" in problem


COMMENTS = [
    "# gradsan: allow target-carries-gradient",
    "#gradsan:allow GS301",
    "+ len('# gradsan: allow GS301')",
]


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_silenced_rule_does_not_pass_even_beside_a_right_answer(comment: str, write) -> None:
    text = solution(find("detached_target")) + f"\nx = 1  {comment}\n"
    (problem,) = judge(find("detached_target"), write("detached_target", text)).problems
    assert "silences gradsan" in problem


@pytest.mark.parametrize("line", ["import gradsan", "from gradsan.learn import checks", "import sys, os"])
def test_an_import_that_could_fool_the_check_does_not_pass(line: str, write) -> None:
    text = f"{line}\n{solution(find('slope'))}"
    assert "needs torch only" in judge(find("slope"), write("slope", text)).problems[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "`slope` is no longer defined"),
        ("def slope(f, at:\n", "Python cannot read the file"),
        ("slope = 4.0", "has to stay something that can be called"),
        ("raise SystemExit(0)", "raised SystemExit"),
        ("def slope(f, at): return input()", "raised EOFError"),
        ("def slope(f, at): ...", "gave back None"),
        ("def slope(): return 4.0", "raised TypeError"),
    ],
)
def test_a_file_that_is_no_answer_gets_a_sentence(text: str, said: str, write) -> None:
    assert said in judge(find("slope"), write("slope", text)).problems[0]
