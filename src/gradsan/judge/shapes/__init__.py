"""Which axis is which, and which of them meet by accident."""
