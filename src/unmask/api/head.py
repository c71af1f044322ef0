"""HEAD: the headers of what GET would answer."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Hands HEAD requests on as GET and drops the body, which load balancers rely on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_headers(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        # The server keeps the request's own scope and with it knows that no body follows.
        await self._app({**scope, "method": "GET"}, receive, send_headers)
