# 2.08  A target network of its own
#
# A target network gives the learner something that holds still while the online
# network moves. That works only if it has memory of its own. `target = online`,
# or assigning `.data`, makes both networks share their numbers: every step of
# the optimizer moves the target as well, and learning chases its own tail.
#
# `copy.deepcopy(net)` copies a module with all its parameters;
# `target.load_state_dict(online.state_dict())` copies numbers into a module
# that exists already.
#
# Your task: make `make_target` return a copy, equal now and independent later.

import copy

import torch
from torch import nn


def make_target(online: nn.Module) -> nn.Module:
    """A network with the same numbers as `online` and memory of its own."""
    target = copy.deepcopy(online)
    for theirs, ours in zip(target.parameters(), online.parameters()):
        theirs.data = ours.data  # TODO: this undoes the copy
    return target


def update(online: nn.Module, target: nn.Module, optimizer, batch, gamma: float) -> None:
    """One Q-learning step. This function is right."""
    states, actions, rewards, next_states = batch
    q = online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = rewards + gamma * target(next_states).max(dim=1).values
    loss = (q - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
