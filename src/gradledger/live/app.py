"""The live page as an app for the loopback server: the page, its data, and word of what is new."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradledger.live.feed import Feed
from gradledger.report.page.build import live_page
from gradledger.serving.event_stream import STILL_HERE, EventStream, message

QUIET = 10.0
"""Seconds after which a stream without news shows that it is still there."""


def live_app(feed: Feed) -> Starlette:
    """The app; it only reads, and knows nothing but the feed."""

    async def page(_: Request) -> Response:
        news = await feed.latest()
        body, policy = live_page(news.parts)
        headers = {"content-security-policy": f"{policy}; frame-ancestors 'none'"}
        return Response(body, media_type="text/html", headers=headers)

    async def data(_: Request) -> Response:
        return Response((await feed.latest()).data(), media_type="application/json")

    async def events(_: Request) -> Response:
        return EventStream(_told(feed))

    return Starlette(routes=[Route("/", page), Route("/data", data), Route("/events", events)])


async def _told(feed: Feed) -> AsyncIterator[bytes]:
    revision = -1
    feed.listening(1)
    try:
        while True:
            news = await feed.after(revision, QUIET)
            if news is None:
                yield STILL_HERE
                continue
            revision = news.revision
            word = {"revision": revision, "state": news.state, "quiet": round(feed.quiet, 1)}
            yield message(word, name="news", number=revision)
    finally:
        feed.listening(-1)
