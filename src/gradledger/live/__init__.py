"""A recording that grows, followed and shown while the run goes on."""
