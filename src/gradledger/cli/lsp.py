"""`gradledger lsp`: findings and repairs in editors, by the Language Server Protocol."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout

NAME = "lsp"
HELP = "serve editors: findings while you write, and quick fixes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--tcp", metavar="HOST:PORT", help="wait for one editor at this address, not on standard input"
    )


def run(args: argparse.Namespace) -> int:
    """Serve one editor."""
    from gradledger.cli.usage import UsageError

    address = None if args.tcp is None else _address(args.tcp)
    try:
        from gradledger.integrations.lsp.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError('needs pygls: pip install "gradledger[lsp]"') from error
    if address is None:
        # The stream is the protocol's alone: it is closed at the end, and nobody may print there.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output, redirect_stdout(sys.stderr):
            return serve(sys.stdin.buffer, output)
    import socket

    try:
        listener = socket.create_server(address)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen at {args.tcp}: {reason}") from error
    with listener:
        print(
            f"gradledger lsp: listening at {address[0]}:{listener.getsockname()[1]}",
            file=sys.stderr,
            flush=True,
        )
        connection, _ = listener.accept()
    with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
        return serve(reader, writer)


def _address(text: str) -> tuple[str, int]:
    from gradledger.cli.usage import UsageError

    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        raise UsageError(f"--tcp {text}: must be HOST:PORT, such as 127.0.0.1:2087")
    return host, int(port)
