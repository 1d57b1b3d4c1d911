"""The lessons, one folder each."""
