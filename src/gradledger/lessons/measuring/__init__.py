"""Memory and time, measured on the reader's machine."""
