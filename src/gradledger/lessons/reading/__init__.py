"""The course in a terminal: text, figures, exhibits and questions."""
