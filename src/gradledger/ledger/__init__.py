"""The core: events, accounts, windows, the journal and its form on disk; standard library only."""
