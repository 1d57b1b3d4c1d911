"""Front end 2: source text -> events, by executing the training loop in a small model."""
