"""What the reader has done so far, and the file that keeps it."""
