"""What keeps a gradient from arriving."""
