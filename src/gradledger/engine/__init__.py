"""The accumulator: updates that are exactly the large batch's, and no other order of calls possible."""
