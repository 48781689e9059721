"""What a report can draw: the flow of each loss, magnitudes over time, one iteration in order."""
