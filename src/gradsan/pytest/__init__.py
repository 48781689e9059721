"""The pytest plugin and its options."""
