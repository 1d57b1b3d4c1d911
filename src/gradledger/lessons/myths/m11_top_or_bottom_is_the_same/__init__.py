"""Myth: zero_grad() at the top of the loop or at its bottom, after the step: the result is the same."""
