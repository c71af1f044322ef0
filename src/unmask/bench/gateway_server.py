"""One of the servers that the gateway bench asks: ``python -m unmask.bench.gateway_server ARM FOLDER``.

It runs in a process of its own, as servers do, and says on standard output where it listens.
"""

import asyncio
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from rich.console import Console

from unmask.app.serve import fast_loop, listen, serve, url_of
from unmask.backend import Request
from unmask.bench.instant_backend import InstantBackend
from unmask.config import Settings
from unmask.types import Message, Role

LEDGER_FILE = "ledger.db"
CHAT = "/v1/chat/completions"


class GatewayArm(StrEnum):
    """What is measured: a bare FastAPI application, our server, and our server with its ledger."""

    PASSTHROUGH = "passthrough"
    GATEWAY = "gateway"
    LEDGER = "gateway_ledger"


def passthrough() -> FastAPI:
    """Return what a pass-through does at least: read the body, ask the backend, write its answer; it checks nothing."""
    app = FastAPI()
    backend = InstantBackend()

    @app.post(CHAT)
    async def chat(body: dict[str, Any]) -> dict[str, Any]:
        messages = tuple(Message(role=Role(entry["role"]), content=entry["content"]) for entry in body["messages"])
        generation = await backend.generate(Request(model=body["model"], messages=messages))
        usage = generation.usage
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": generation.text},
                    "finish_reason": generation.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            },
        }

    return app


def settings_of(arm: GatewayArm, folder: Path) -> Settings:
    """Return the settings of an arm: the defaults, and a ledger of its own where it has one."""
    return Settings(port=0, database=str(folder / LEDGER_FILE) if arm is GatewayArm.LEDGER else None)


def main(arguments: list[str]) -> int:
    """Serve until a stop signal; returns how many requests were cut off."""
    arm, folder = GatewayArm(arguments[0]), Path(arguments[1])
    # Policies and records of whoever runs the bench are none of its business.
    os.environ["XDG_STATE_HOME"] = str(folder)
    settings = settings_of(arm, folder)
    if arm is not GatewayArm.PASSTHROUGH:
        return serve(settings, lambda _: InstantBackend(), Console(soft_wrap=True))
    with listen(settings) as listener:
        print(f"listens on {url_of(listener)}", flush=True)
        server = uvicorn.Server(uvicorn.Config(passthrough(), log_config=None, access_log=False))
        with asyncio.Runner(loop_factory=fast_loop()) as runner:
            runner.run(server.serve(sockets=[listener]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
