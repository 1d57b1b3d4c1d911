"""Myth: If I forget zero_grad(), PyTorch will raise an error or at least warn."""
