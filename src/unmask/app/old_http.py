"""Answers to HTTP/1.0, which knows no chunks: what has no length ends with the connection."""

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


def leave_out_chunks(cycle: RequestResponseCycle) -> None:
    """Make an answer that has not begun go out without framing, unless it has a length.

    uvicorn takes any request for one of HTTP/1.1 here, and an old client would
    read the sizes of chunks as part of the answer.
    """
    send = cycle.send
    is_open_ended = False

    async def send_plain(message: ASGISendEvent) -> None:
        nonlocal is_open_ended
        if message["type"] == "http.response.start":
            is_open_ended = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
            if is_open_ended:
                cycle.chunked_encoding = False
        elif message["type"] == "http.response.body" and is_open_ended:
            # It counts down to the end of the length that was promised; here every piece is all that was.
            cycle.expected_content_length = len(message.get("body", b""))
        await send(message)

    cycle.send = send_plain  # type: ignore[method-assign] # the cycle is made by uvicorn, from no class of ours
