"""Running the user's program as plain `python` would, while a watch looks on."""
