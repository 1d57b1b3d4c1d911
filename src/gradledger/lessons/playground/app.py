"""The routes: pages, the files they load, and the API they ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gradledger.lessons import catalogue
from gradledger.lessons.playground.answering import endpoint
from gradledger.lessons.playground.api import Api
from gradledger.lessons.playground.link import from_pairs
from gradledger.lessons.playground.loading import asset
from gradledger.lessons.playground.pages.frame import POLICY, Page, framed
from gradledger.lessons.playground.pages.glossary import glossary_page
from gradledger.lessons.playground.pages.lesson import lesson_page
from gradledger.lessons.playground.pages.myths import myths_page
from gradledger.lessons.playground.pages.overview import overview_page
from gradledger.lessons.playground.pages.playground import playground_page
from gradledger.lessons.playground.pages.quiz import quiz_page, quizzes_page
from gradledger.lessons.playground.presets import PRESETS
from gradledger.lessons.playground.setup import SetupError
from gradledger.lessons.playground.workshop import Workshop
from gradledger.lessons.progress.store import Store

Made = Callable[[Request, str], Page]


def app(store: Store, workshop: Workshop | None = None) -> Starlette:
    """The application; it starts its worker at once, so that the first run need not wait for it."""
    workshop = workshop or Workshop()
    api = Api(workshop, store)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        workshop.begin()
        yield
        await workshop.close()

    def read(_: Request, root: str) -> Page:
        return overview_page(store.read(), root)

    def lesson(request: Request, root: str) -> Page:
        found = catalogue.lesson(request.path_params["name"])
        place = store.read().places.get(found.id)
        return lesson_page(found, done=place is not None and place.done, root=root)

    def quiz(request: Request, root: str) -> Page:
        return quiz_page(catalogue.lesson(request.path_params["name"]), root)

    pages: dict[str, Made] = {
        "/learn": read,
        "/learn/lesson/{name}": lesson,
        "/myths": lambda _, root: myths_page(store.read(), root),
        "/quiz": lambda _, root: quizzes_page(store.read(), root),
        "/quiz/{name}": quiz,
        "/glossary": lambda _, root: glossary_page(root),
        "/playground": _playground,
    }
    routes = [Route(path, _shown(made)) for path, made in pages.items()]
    asked = {"run": api.run, "exhibit": api.exhibit, "quiz": api.quiz, "read": api.read}
    routes += [Route(f"/api/{name}", endpoint(made), methods=["POST"]) for name, made in asked.items()]
    routes += [Route("/assets/{name}", _asset), Route("/", _home)]
    return Starlette(routes=routes, lifespan=lifespan)


def _shown(made: Made) -> Callable[[Request], Response]:
    def shown(request: Request) -> Response:
        root: str = request.scope.get("root_path", "")
        try:
            page = made(request, root)
        except LookupError as error:
            return PlainTextResponse(f"{error}\n", 404)
        return HTMLResponse(framed(page, root), headers={"content-security-policy": POLICY})

    return shown


def _playground(request: Request, root: str) -> Page:
    setup, trouble = PRESETS[0].setup, ""
    if request.url.query:
        try:
            setup = from_pairs(request.query_params.multi_items())
        except SetupError as error:
            trouble = str(error)
    return playground_page(setup, trouble, root)


def _asset(request: Request) -> Response:
    try:
        content, kind = asset(request.path_params["name"])
    except LookupError:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(content, media_type=kind)


def _home(request: Request) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}/learn")
