"""What was seen, as plain data: events, the trace file, the gradient ledger, the provenance graph."""
