"""Myth: It does not matter where zero_grad() stands, as long as it is in the loop."""
