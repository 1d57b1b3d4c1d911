"""The course and a playground of training loops as local web pages."""
