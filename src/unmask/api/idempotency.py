"""The ``Idempotency-Key`` of a request: the client's name for what it wants done once."""

from hashlib import blake2b

from starlette.datastructures import Headers

from unmask.errors import InvalidRequestError

HEADER = "Idempotency-Key"
LONGEST_KEY = 255
_DIGEST_BYTES = 16


def idempotency_key(headers: Headers) -> str | None:
    """Return the key that a request carries, if it does.

    Raises:
        InvalidRequestError: it is none, or there are two.
    """
    sent = headers.getlist(HEADER)
    if not sent:
        return None
    key = sent[0]
    if len(sent) > 1 or not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        allowed = f"one text of 1 to {LONGEST_KEY} printable ASCII characters"
        raise InvalidRequestError(HEADER, ", ".join(sent), allowed, "Send a UUID, the same one with every repetition.")
    return key


def fingerprint(path: str, body: bytes) -> str:
    """Return a digest of what a request asks for: BLAKE2b over its path and its body."""
    return blake2b(path.encode() + b"\0" + body, digest_size=_DIGEST_BYTES, person=b"unmask-request").hexdigest()
