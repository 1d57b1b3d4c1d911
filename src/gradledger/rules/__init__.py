"""The catalogue: one file per rule, and the small readings that several rules share."""
