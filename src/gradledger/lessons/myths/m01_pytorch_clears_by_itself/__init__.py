"""Myth: PyTorch clears the old gradients by itself when backward() is called again."""
