"""Many processes: following what the script starts, one trace for each, and merging them into one report."""
