"""Ray's workers are watched like any other process of a script, and the seeds of `gradsan train` run on a cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradsan.rl import ray_seeds
from gradsan.rl.algorithms import preset
from gradsan.rl.runs import Run
from gradsan.rl.seeds import SeedJob
from harness import marked_lines
from sandbox import Sandbox

PATIENCE = 900
JOB = """
import os, ray

def own():
    os.environ["OWN_HOOK"] = "ran"

ray.init(num_cpus=2, include_dashboard=False, runtime_env=RUNTIME_ENV)

@ray.remote
class Learner:
    def train(self):
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            (net(torch.ones(8, 3)) - 1.0).pow(2).mean().backward()
            opt.step()  # BUG
        return os.environ.get("OWN_HOOK")

@ray.remote
def improve():
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        opt.zero_grad()
        net(torch.ones(8, 3)).mean().backward()
        opt.step()
    return 4

print(ray.get(Learner.remote().train.remote()), ray.get(improve.remote()))
"""
# The second takes PYTHONPATH away from the workers, so that nothing but the hook can have reached them.
ENVIRONMENTS = {
    "none": "None",
    "a hook of the script": '{"worker_process_setup_hook": own, "env_vars": {"PYTHONPATH": ""}}',
}
RLLIB = """
import json
import ray
from ray.rllib.algorithms.ppo import PPOConfig

if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=2)
        .learners(num_learners=1)
        .training(train_batch_size=400, minibatch_size=100, num_epochs=2)
        .debugging(seed=3)
    )
    algo = config.build_algo()
    print(json.dumps([algo.train()["env_runners"]["episode_return_mean"] for _ in range(4)]))
    algo.stop()
    ray.shutdown()
"""


ATTEMPTS, TOO_SLOW = (
    5,
    "timed out during startup",
)  # Ray gives itself 30 seconds to start, also on a busy machine


Command = Callable[..., subprocess.CompletedProcess[str]]


def with_ray(command: Command, *arguments: str) -> subprocess.CompletedProcess[str]:
    for _ in range(ATTEMPTS):
        seen = command(*arguments, timeout=PATIENCE)
        if TOO_SLOW not in seen.stderr:
            break
    return seen


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_actors_and_tasks_are_watched_beside_a_hook_of_the_script(sandbox: Sandbox, environment: str) -> None:
    sandbox.write("job.py", JOB.replace("RUNTIME_ENV", ENVIRONMENTS[environment]))
    seen = with_ray(
        sandbox.gradsan, "run", "--quiet", "--format", "json", "--output", "report.json", "job.py"
    )
    hook_ran = environment != "none"
    assert seen.stdout.splitlines()[-1] == f"{'ran' if hook_ran else None} 4", seen.stderr
    report = json.loads(sandbox.read("report.json"))
    assert [(f["rule"], f["culprit"]["line"]) for f in report["findings"]] == [
        ("GS401", *marked_lines(sandbox.read("job.py")))
    ]
    assert sorted(p["iterations"] for p in report["processes"] if p["iterations"]) == [4, 5]
    assert not report["faults"]
    assert seen.returncode == 1


def test_without_ray_in_the_script_its_variables_are_as_they_were(sandbox: Sandbox) -> None:
    sandbox.env["RAY_RUNTIME_ENV_HOOK"] = "mine.hook"
    seen = sandbox.gradsan("run", "-c", "import os; print(os.environ['GRADSAN_RAY_RUNTIME_ENV_HOOK'])")
    assert (seen.returncode, seen.stdout) == (0, "mine.hook\n")


def test_rllib_ppo_is_clean_and_has_the_same_returns(sandbox: Sandbox) -> None:
    sandbox.write("ppo.py", RLLIB)
    bare = with_ray(sandbox.python, "ppo.py")
    seen = with_ray(
        sandbox.gradsan, "run", "--quiet", "--format", "json", "--output", "report.json", "ppo.py"
    )
    assert seen.returncode == 0, seen.stderr
    returns = json.loads(bare.stdout.splitlines()[-1])
    assert len(returns) == 4
    assert json.loads(seen.stdout.splitlines()[-1]) == returns
    report = json.loads(sandbox.read("report.json"))
    assert not report["findings"]
    assert not report["faults"]
    assert max(p["iterations"] for p in report["processes"]) >= 4 * 2 * 4  # the learner's


OPTIONS = (
    "--env",
    "CartPole-v1",
    "--steps",
    "600",
    "--num-envs",
    "2",
    "--eval-every",
    "0",
    "--eval-episodes",
    "1",
)


def weights(folder: Path) -> list[torch.Tensor]:
    agent = Run(folder).saved()[1]["agent"]
    return [value for part in agent.values() if isinstance(part, dict) for value in tensors(part)]


def tensors(part: dict[str, Any]) -> list[torch.Tensor]:
    return [value for _, value in sorted(part.items()) if isinstance(value, torch.Tensor)]


def test_seeds_on_ray_have_their_folders_and_learn_what_they_learn_alone(sandbox: Sandbox) -> None:
    seen = with_ray(sandbox.gradsan, "train", "a2c", *OPTIONS, "--seeds", "4,6", "--ray")
    assert seen.returncode == 0, seen.stderr
    assert "seed 4: " in seen.stderr
    assert "│ a2c  │ 2 " in seen.stdout
    alone = sandbox.gradsan("train", "a2c", *OPTIONS, "--seed", "6", "--out", "alone", timeout=PATIENCE)
    assert alone.returncode == 0
    found, wanted = (weights(sandbox.path / name) for name in ("runs/a2c-CartPole-v1-seed6", "alone"))
    assert wanted
    assert all(map(torch.equal, found, wanted))
    assert not list((sandbox.path / "runs").glob(".ray*"))


def test_a_task_that_does_not_see_the_folder_sends_what_is_in_it(tmp_path: Path) -> None:
    config = preset("a2c", "CartPole-v1", steps=100, num_envs=2, hidden=(8,), eval_every=0, eval_episodes=1)
    job = SeedJob(config, tmp_path / "far" / "a2c-CartPole-v1-seed1")

    class Nobody:
        def remote(self, *_: Any) -> None:
            return None

    board = type("Board", (), {"tell": Nobody()})()
    outcome, files = ray_seeds._train(job, board, str(tmp_path / "no-token"), str(tmp_path))
    assert outcome.finished
    assert outcome.job == job
    assert not job.folder.exists()
    assert files is not None
    ray_seeds.unpack(files, job.folder)
    assert Run(job.folder).saved()[0] == config


def test_no_ray_at_an_address_is_one_sentence(sandbox: Sandbox) -> None:
    where = ("--ray", "--address", "127.0.0.1:1")
    seen = sandbox.gradsan("train", "a2c", *OPTIONS, "--seeds", "2", *where, timeout=PATIENCE)
    assert seen.returncode == 1
    assert "There is no Ray at 127.0.0.1:1" in seen.stderr
    assert "Traceback" not in seen.stderr
