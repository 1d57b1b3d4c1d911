"""How an API request is read and answered: JSON in, JSON out, and a run ends when nobody waits for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gradledger.lessons.playground.setup import SetupError
from gradledger.lessons.playground.workshop import BusyError, JobError

T = TypeVar("T")
Answering = Callable[[Request, "dict[str, Any]"], Awaitable[object]]

GONE = 499
"""The status of an answer that nobody waits for."""


class WrongRequestError(Exception):
    """What is wrong with a request, in words."""


class _Gone(Exception):
    """The browser has gone away."""


def endpoint(answer: Answering) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that takes a JSON object; what it cannot do is a status and a reason."""

    async def answered(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request, await _object(request)))
        except (SetupError, WrongRequestError) as error:
            return _refused(400, error)
        except BusyError as error:
            return _refused(429, error)
        except JobError as error:
            return _refused(503, error)
        except _Gone:
            return Response(status_code=GONE)

    return answered


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work; if the browser goes away before it is done, cancel it."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise _Gone
    finally:
        for task in (doing, leaving):
            task.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


def word(data: dict[str, Any], key: str) -> str:
    """A text of the request, which must be there."""
    value = data.get(key)
    if not isinstance(value, str) or len(value) > 200:
        raise WrongRequestError(f'the request lacks the text "{key}"')
    return value


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _object(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise WrongRequestError("a request here is JSON")
    try:
        data = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise WrongRequestError("the request is not JSON") from None
    if not isinstance(data, dict):
        raise WrongRequestError("the request is not a JSON object")
    return data


def _refused(status: int, error: Exception) -> Response:
    return JSONResponse({"reason": str(error)}, status)
