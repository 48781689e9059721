"""Returns, advantages and targets next to what the environment gave."""
