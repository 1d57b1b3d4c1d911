"""A recording told again as plain data: the stages of a step, the layers, the epochs."""
