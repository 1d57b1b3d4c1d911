"""gradledger inside other tools, one file each."""
