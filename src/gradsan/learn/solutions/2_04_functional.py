import torch


def discounted(rewards: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    """The discounted return from each step of one episode to its end."""
    running, backwards = torch.zeros(()), []
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        backwards.append(running)
    return torch.stack(backwards[::-1])


def gamma_gradient(rewards: torch.Tensor, gamma: float) -> float:
    """How the mean return changes with γ. This function is right."""
    g = torch.tensor(gamma, requires_grad=True)
    discounted(rewards, g).mean().backward()
    return g.grad.item()


if __name__ == "__main__":
    print("slope of the mean return:", gamma_gradient(torch.tensor([1.0, 2.0, 2.0]), 0.5))
