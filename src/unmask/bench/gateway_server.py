"""One of the servers that the gateway bench asks: ``python -m unmask.bench.gateway_server ARM FOLDER [UPSTREAM]``.

It runs in a process of its own, as servers do, and says on standard output where it listens.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from rich.console import Console

from unmask.app.serve import fast_loop, listen, serve, url_of
from unmask.backend import Backend
from unmask.bench.instant_backend import NAME, TEXT, USAGE, InstantBackend
from unmask.config import Settings
from unmask.remote.opening import open_remote

LEDGER_FILE = "ledger.db"
CHAT = "/v1/chat/completions"
_COUNTS = {
    "prompt_tokens": USAGE.prompt_tokens,
    "completion_tokens": USAGE.completion_tokens,
    "total_tokens": USAGE.prompt_tokens + USAGE.completion_tokens,
}


class GatewayArm(StrEnum):
    """What is measured.

    ``bare``: a FastAPI application that answers at once, and the upstream of the others. ``passthrough``: a bare
    FastAPI application that passes a request on to it with httpx. ``gateway``: our server in front of it, and
    ``gateway_ledger`` with its ledger. ``instant`` and ``instant_ledger``: our server over a backend in its own
    process that answers at once, so that all it takes is its own.
    """

    BARE = "bare"
    PASSTHROUGH = "passthrough"
    GATEWAY = "gateway"
    LEDGER = "gateway_ledger"
    INSTANT = "instant"
    INSTANT_LEDGER = "instant_ledger"

    @property
    def has_ledger(self) -> bool:
        """Whether it books what it answers."""
        return self in {GatewayArm.LEDGER, GatewayArm.INSTANT_LEDGER}

    @property
    def passes_on(self) -> bool:
        """Whether another server answers."""
        return self in {GatewayArm.PASSTHROUGH, GatewayArm.GATEWAY, GatewayArm.LEDGER}


def bare() -> FastAPI:
    """Return an application that reads the body and answers at once, whole or as a stream; it checks nothing."""
    app = FastAPI()

    @app.post(CHAT)
    async def chat(body: dict[str, Any]) -> Response:
        if body.get("stream"):
            return StreamingResponse(_streamed(body["model"]), media_type="text/event-stream")
        choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
        whole = _head("chat.completion", body["model"]) | {"choices": [choice], "usage": _COUNTS}
        return Response(orjson.dumps(whole), media_type="application/json")

    return app


async def _streamed(model: str) -> AsyncIterator[bytes]:
    head = _head("chat.completion.chunk", model)
    said = {"index": 0, "delta": {"role": "assistant", "content": TEXT}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "stop"}
    for part in (
        {"choices": [said], "usage": None},
        {"choices": [ended], "usage": None},
        {"choices": [], "usage": _COUNTS},
    ):
        yield b"data: " + orjson.dumps(head | part) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _head(kind: str, model: str) -> dict[str, object]:
    return {"id": "chatcmpl-0", "object": kind, "created": 0, "model": model}


def passthrough(upstream: str, transport: httpx.AsyncBaseTransport | None = None) -> FastAPI:
    """Return what a pass-through is at least: it sends the body to ``upstream`` and its answer back, as they are."""
    client = httpx.AsyncClient(base_url=upstream, transport=transport, limits=httpx.Limits(max_connections=None))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await client.aclose()

    app = FastAPI(lifespan=lifespan)

    @app.post(CHAT)
    async def chat(request: Request) -> Response:
        headers = {"content-type": "application/json"}
        answer = await client.post(CHAT, content=await request.body(), headers=headers)
        return Response(answer.content, answer.status_code, media_type=answer.headers["content-type"])

    return app


def settings_of(arm: GatewayArm, folder: Path) -> Settings:
    """Return the settings of an arm: the defaults, and a ledger of its own where it has one."""
    return Settings(port=0, database=str(folder / LEDGER_FILE) if arm.has_ledger else None)


def _backend(upstream: str | None, _: Settings) -> Backend:
    return InstantBackend() if upstream is None else open_remote(f"{upstream}/v1", NAME)


def main(arguments: list[str]) -> int:
    """Serve until a stop signal; returns how many requests were cut off."""
    arm, folder = GatewayArm(arguments[0]), Path(arguments[1])
    upstream = arguments[2] if arm.passes_on else None
    # Policies and records of whoever runs the bench are none of its business.
    os.environ["XDG_STATE_HOME"] = str(folder)
    settings = settings_of(arm, folder)
    if arm not in {GatewayArm.BARE, GatewayArm.PASSTHROUGH}:
        return serve(settings, partial(_backend, upstream), Console(soft_wrap=True))
    app = bare() if upstream is None else passthrough(upstream)
    with listen(settings) as listener:
        print(f"listens on {url_of(listener)}", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        with asyncio.Runner(loop_factory=fast_loop()) as runner:
            runner.run(server.serve(sockets=[listener]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
