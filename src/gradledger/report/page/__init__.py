"""One HTML file that shows a run: findings, ledger timeline, curves; it needs no network and no server."""
