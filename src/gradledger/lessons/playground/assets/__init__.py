"""The scripts, styles and templates of the pages."""
