"""What is said at the end: findings, their words, and what silences them."""
