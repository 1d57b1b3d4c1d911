"""Makes `python -m gradledger` the same as the command `gradledger`."""

from __future__ import annotations

import sys

from gradledger.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
