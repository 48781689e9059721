"""Which line of the user's source to name."""
