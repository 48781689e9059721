"""Where gradient flows that must not."""
