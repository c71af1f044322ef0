"""Vectors of a server of the user's, in place of those that come with the package."""

import argparse
import os
from typing import TYPE_CHECKING

from unmask.cli.exits import UsageError

if TYPE_CHECKING:
    # Grammars are built from this, and help has to be instant.
    from unmask.knowledge.embedding import Embedder


def add_embeddings(parser: "argparse._ActionsContainer") -> None:
    """Add what names such a server."""
    parser.add_argument(
        "--embeddings",
        metavar="MODEL@URL",
        help="compare texts by vectors of a server with /v1/embeddings (default: without any server)",
    )
    parser.add_argument("--embeddings-key-env", metavar="NAME", help="environment variable with its key")


def embedder_of(args: argparse.Namespace) -> "Embedder | None":
    """Return what options name; nothing where they name none.

    Raises:
        UsageError: it is no ``MODEL@URL``, or there is no such key.
    """
    name = args.embeddings_key_env
    if args.embeddings is None:
        if name is not None:
            raise UsageError("--embeddings-key-env goes with --embeddings: name the server too")
        return None
    model, _, url = args.embeddings.partition("@")
    if not model or not url.startswith(("http://", "https://")):
        raise UsageError(f"--embeddings is {args.embeddings!r}, allowed: MODEL@URL such as bge-m3@http://host:8000/v1")
    key = None if name is None else os.environ.get(name)
    if name is not None and not key:
        raise UsageError(f"there is no key in the environment variable {name}; set it, or name another")
    # Here, as it brings an HTTP client.
    from unmask.knowledge.endpoint_embedder import EndpointEmbedder

    return EndpointEmbedder(url, model, key=key)
