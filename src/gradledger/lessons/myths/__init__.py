"""The myths, one folder each."""
