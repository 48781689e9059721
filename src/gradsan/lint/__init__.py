"""What can be known about training code without running it: mistakes that a single function or expression shows."""
