"""A broken script in the reader's hands, and the judgement of what became of it."""
