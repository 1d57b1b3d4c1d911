"""Pages served to this machine alone: the live report and the playground."""
