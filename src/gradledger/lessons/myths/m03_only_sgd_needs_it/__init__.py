"""Myth: Adam adapts its step, so only plain SGD needs zero_grad()."""
