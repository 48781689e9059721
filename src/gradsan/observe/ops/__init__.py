"""One operation on tensors: what ran, where, and small facts about its numbers."""
