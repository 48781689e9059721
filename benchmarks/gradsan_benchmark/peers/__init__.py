"""Other tools on the same cases: each with its own best settings, which are written down."""
