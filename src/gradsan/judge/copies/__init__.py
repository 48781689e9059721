"""Networks that stand for others: targets, references, acting copies."""
