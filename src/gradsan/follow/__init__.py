"""Those who follow a run while it goes on. Each takes events as they are recorded, and changes nothing."""
