"""How gradients are put together across processes; one file per way."""
