"""A recording, read once as a stream, becomes plain data of bounded size that a page can draw."""
