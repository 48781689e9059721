"""The pytest plugin (see docs/api.md)."""
