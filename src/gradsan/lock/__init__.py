"""Which loss trains which network, and how: written down, and compared with what a later run does."""
