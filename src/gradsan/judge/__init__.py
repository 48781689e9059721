"""Rules read the recorded events and yield findings. Nothing here imports torch."""
