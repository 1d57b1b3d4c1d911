"""Repairs as data: for a finding and the program's text, the edits that would put it right."""
