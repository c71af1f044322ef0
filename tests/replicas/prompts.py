"""Prompts and requests of which a test names only what it is about."""

from typing import Any

from unmask.backend import Request
from unmask.replicas.prompt import Prompt
from unmask.types import Message, Role

PAGE = 32


def make_prompt(*pages: str, tokens: int | None = None, session: str = "", home: str = "h") -> Prompt:
    """Return a prompt of named pages; each name stands for everything up to there."""
    return Prompt(
        pages=tuple(page.encode() for page in pages),
        page_tokens=PAGE,
        tokens=PAGE * len(pages) + 1 if tokens is None else tokens,
        session=session.encode(),
        home=(session or home).encode(),
    )


def make_request(*texts: str, **changes: Any) -> Request:  # noqa: ANN401 - any field of the request
    """Return a chat of these turns, the user's and answers in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(Message(role=roles[place % 2], content=text) for place, text in enumerate(texts))
    return Request(**({"model": "tiny", "messages": messages} | changes))
