"""The live page of a recording: a follower behind a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradledger.audit.answer import Answer
from gradledger.audit.select import final
from gradledger.cli.usage import UsageError
from gradledger.cli.wishes import Wishes
from gradledger.ledger.record import dataclass
from gradledger.report.style import working_directory
from gradledger.serving.errors import ServingError, require_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradledger.live.follower import Follower
    from gradledger.serving.server import LoopbackServer


@dataclass(frozen=True, slots=True)
class Served:
    """A page that is being served."""

    follower: Follower
    server: LoopbackServer

    @property
    def url(self) -> str:
        """Its address."""
        return self.server.url

    def wait(self) -> None:
        """Wait for Ctrl-C."""
        self.server.wait()


@contextmanager
def served(
    path: str, wanted: Wishes, port: int = 0, name: str | None = None, known: tuple[int, ...] | None = None
) -> Iterator[Served]:
    """Follow the recording and serve its page, until the context is left or Ctrl-C is pressed in it.

    As long as the file is the one that is known, it is that of an earlier run.
    """
    cwd = working_directory()

    def chosen(answer: Answer) -> Answer:
        from gradledger.cli.paging import with_notes
        from gradledger.cli.repairs import with_repairs

        left = final(answer, wanted.selection, cwd, wanted.baseline)
        return with_repairs(with_notes(left, path))

    try:
        require_extra()
        from gradledger.live.app import live_app
        from gradledger.live.follower import Follower
        from gradledger.serving.server import LoopbackServer

        follower = Follower(path, cwd, chosen, name, known)
        with follower, LoopbackServer(live_app(follower.feed), port=port) as server:
            yield Served(follower, server)
    except ServingError as error:
        raise UsageError(str(error)) from error
