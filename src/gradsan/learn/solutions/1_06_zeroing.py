import torch


def descend(f, start: float, steps: int, lr: float) -> float:
    """Walk downhill on `f` from `start`: `steps` steps of plain gradient descent."""
    x = torch.tensor(start, requires_grad=True)
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        x.grad = None
    return x.item()


if __name__ == "__main__":
    print("lowest point of (x - 3)², should be near 3:", descend(lambda x: (x - 3) ** 2, 0.0, 50, 0.1))
