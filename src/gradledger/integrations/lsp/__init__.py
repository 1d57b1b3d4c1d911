"""The language server: findings and repairs while the text is being written."""
