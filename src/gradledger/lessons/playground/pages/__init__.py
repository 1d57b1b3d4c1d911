"""The pages of the course and the playground, each put together as HTML text."""
