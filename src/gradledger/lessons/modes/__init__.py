"""The ways to learn, one file each."""
