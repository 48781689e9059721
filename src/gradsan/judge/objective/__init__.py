"""What a loss makes larger, and what it makes smaller."""
